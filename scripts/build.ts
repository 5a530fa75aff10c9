import { spawnSync } from 'node:child_process';
import { copyFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { INPUTS } from './build-plugins.ts';
import { writeDeclarations } from './declarations.ts';
import { thirdPartyLicences } from './licences.ts';

/** Builds `dist`: bundles, declarations, the OpenAPI document, and the licences of bundled packages. */
rmSync('dist', { recursive: true, force: true });
const { status } = spawnSync('tsup', ['--silent'], { stdio: 'inherit' });
if (status !== 0) process.exit(status ?? 1);

await writeDeclarations('dist');
copyFileSync('src/spec/openapi.json', 'dist/openapi.json');

const lists = readdirSync('dist').filter((name) => INPUTS.test(name));
const inputs: string[] = lists.flatMap((name) => JSON.parse(readFileSync(`dist/${name}`, 'utf8')));
if (inputs.length === 0) throw new Error('The build has listed no bundled file. Fix scripts/build-plugins.ts.');
writeFileSync('dist/THIRD-PARTY-LICENSES.txt', thirdPartyLicences(inputs));
for (const name of lists) rmSync(`dist/${name}`);
