import { spawnSync } from 'node:child_process';
import { copyFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { INPUTS } from './build-plugins.ts';
import { thirdPartyLicences } from './licences.ts';

/** Builds `dist`: bundles, declarations, and the licences of bundled packages. */
rmSync('dist', { recursive: true, force: true });
const { status } = spawnSync('tsup', ['--silent'], { stdio: 'inherit' });
if (status !== 0) process.exit(status ?? 1);

copyFileSync('src/spec/openapi.json', 'dist/openapi.json');

// msw is optional: where it is not installed, the type of its handlers is `any`, and the compiler reports no error.
const path = 'dist/sandbox.d.ts';
const types = readFileSync(path, 'utf8');
const mswImport = /^import \{ RequestHandler \} from 'msw';$/m;
if (!mswImport.test(types)) throw new Error(`${path} imports no type of msw any more. Fix scripts/build.ts.`);
writeFileSync(path, types.replace(mswImport, '// @ts-ignore -- msw is optional\n$&'));

const lists = readdirSync('dist').filter((name) => INPUTS.test(name));
const inputs: string[] = lists.flatMap((name) => JSON.parse(readFileSync(`dist/${name}`, 'utf8')));
if (inputs.length === 0) throw new Error('The build has listed no bundled file. Fix scripts/build-plugins.ts.');
writeFileSync('dist/THIRD-PARTY-LICENSES.txt', thirdPartyLicences(inputs));
for (const name of lists) rmSync(`dist/${name}`);

// Declare what the types need: older `lib`s lack the symbols of `await using`, and TypeScript 6 no longer includes the
// types of Node automatically.
const REFERENCES = [
  { reference: '<reference lib="esnext.disposable" />', needed: /async(?:Dispose|Disposable)/i },
  { reference: '<reference types="node" />', needed: /from 'node:/ },
];
for (const name of readdirSync('dist').filter((file) => file.endsWith('.d.ts'))) {
  const text = readFileSync(`dist/${name}`, 'utf8');
  const lines = REFERENCES.flatMap(({ reference, needed }) => (needed.test(text) ? [`/// ${reference}\n`] : []));
  if (lines.length > 0) writeFileSync(`dist/${name}`, lines.join('') + text);
}

// Mark types as such: the bundled declarations export every class as a value, even one that the sources export as a
// type.
for (const entry of ['index', 'mcp', 'node', 'oauth', 'otel', 'redis', 'sandbox', 'webhooks']) {
  const values = Object.keys(await import(pathToFileURL(`dist/${entry}.js`).href));
  const withModifier = (name: string): string => (values.includes(name.replace(/^.* as /, '')) ? name : `type ${name}`);
  const declared = readFileSync(`dist/${entry}.d.ts`, 'utf8');
  const exact = declared.replaceAll(
    /^export \{ (.+) \}/gm,
    (_, names: string) => `export { ${names.split(', ').map(withModifier).join(', ')} }`,
  );
  writeFileSync(`dist/${entry}.d.ts`, exact);
}
