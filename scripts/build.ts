import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { INPUTS } from './build-plugins.ts';
import { ENTRIES, writeDeclarations } from './declarations.ts';
import { bundledPackages, licenceTexts } from './licences.ts';
import { writePackageTexts } from './package-texts.ts';
import { run } from './run.ts';
import { billOfMaterials } from './sbom.ts';

/**
 * Builds what the package ships: in `dist` the bundles, declarations, the OpenAPI document, the schema of contracts, and
 * the licences and the SBOM of bundled packages; beside it the texts for agents, the manual pages, and a folder for each
 * entry point.
 */
rmSync('dist', { recursive: true, force: true });
run('tsup', '--silent');

const document = JSON.stringify(JSON.parse(readFileSync('src/spec/generated/openapi.json', 'utf8')));
writeFileSync('dist/openapi.json', document);
// The module parses the document when a property is read for the first time.
const getters = Object.keys(JSON.parse(document)).map((key) => `get '${key}'() { return parsed()['${key}']; }`);
const parsed = `let value;\nconst parsed = () => (value ??= JSON.parse('${document.replaceAll(/[\\']/g, '\\$&')}'));`;
writeFileSync('dist/openapi-json.js', `${parsed}\nexport default { ${getters.join(', ')} };\n`);
const contractSchema: unknown = JSON.parse(readFileSync('src/spec/generated/contract.schema.json', 'utf8'));
writeFileSync('dist/contract.schema.json', JSON.stringify(contractSchema));
await writeDeclarations('dist');
for (const name of ENTRIES) writeOldForms(name);

const lists = readdirSync('dist').filter((name) => INPUTS.test(name));
const inputs: string[] = lists.flatMap((list) => JSON.parse(readFileSync(`dist/${list}`, 'utf8')));
if (inputs.length === 0) throw new Error('The build has listed no bundled file. Fix scripts/build-plugins.ts.');
const bundled = bundledPackages(inputs);
const { name, version, license } = JSON.parse(readFileSync('package.json', 'utf8'));
writeFileSync('dist/THIRD-PARTY-LICENSES.txt', licenceTexts(bundled));
writeFileSync(
  'dist/sbom.cdx.json',
  `${JSON.stringify(billOfMaterials({ name, version, licence: license }, bundled), null, 2)}\n`,
);
for (const list of lists) rmSync(`dist/${list}`);
writePackageTexts();

/** Writes what CommonJS and resolvers without `exports` need to find an entry point: its code is the same module. */
function writeOldForms(name: string): void {
  writeFileSync(`dist/${name}.cjs`, `module.exports = require('./${name}.js');\n`);
  // With `module: node16`, TypeScript refuses to load an ES module with `require` (TS1479), but Node 22.12 can.
  writeFileSync(`dist/${name}.d.cts`, `// @ts-ignore\nexport * from './${name}.js';\n`);
  if (name === 'index') return;
  const browser = name === 'sandbox' ? { browser: '../dist/sandbox-browser.js' } : {};
  mkdirSync(name, { recursive: true });
  const fields = { main: `../dist/${name}.js`, types: `../dist/${name}.d.ts`, ...browser };
  writeFileSync(`${name}/package.json`, JSON.stringify(fields));
}
