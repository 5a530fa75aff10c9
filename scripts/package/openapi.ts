import { cp, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'esbuild';
import { createSandbox } from '../../src/sandbox/index.ts';
import { run } from './commands.ts';
import { type Projects, ROOT } from './project.ts';
import type { Step } from './report.ts';
import { OPENAPI_TOOLS } from './versions.ts';

const PROGRAMS = 'scripts/package/generated-clients';
const ENV = { REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true', NO_COLOR: '1' };

/** Steps that check the OpenAPI document by other tools, and use the clients that they generate from it. */
export const openApiSteps = (projects: Projects): Step[] => [
  {
    name: `Redocly ${OPENAPI_TOOLS['@redocly/cli']}: the OpenAPI document, by its strict rules`,
    async work() {
      const { cwd, bin } = await open(projects);
      await run(bin('redocly'), ['lint', '--extends', 'recommended-strict', '--format', 'json', DOCUMENT], {
        cwd,
        env: ENV,
      });
    },
  },
  {
    name: `Spectral ${OPENAPI_TOOLS['@stoplight/spectral-cli']}: the OpenAPI document, without a hint`,
    async work() {
      const { cwd, bin } = await open(projects);
      await writeFile(join(cwd, 'rules.yaml'), 'extends: ["spectral:oas"]\n');
      await run(bin('spectral'), ['lint', '-r', 'rules.yaml', '--fail-severity=hint', DOCUMENT], { cwd, env: ENV });
    },
  },
  {
    name: `openapi-typescript ${OPENAPI_TOOLS['openapi-typescript']}: its types are those of the package, and ten calls`,
    async work() {
      const { cwd, bin } = await open(projects);
      await run(bin('openapi-typescript'), [DOCUMENT, '-o', 'generated/schema.d.ts'], { cwd, env: ENV });
      // Arrays of the package are readonly.
      const immutable = [DOCUMENT, '--immutable', '-o', 'generated/immutable.d.ts'];
      await run(bin('openapi-typescript'), immutable, { cwd, env: ENV });
      await copyPrograms(cwd);
      await compile(cwd, bin('tsc'), ['types.ts', 'openapi-fetch.ts']);
      await call(cwd, 'openapi-fetch');
    },
  },
  {
    name: `@hey-api/openapi-ts ${OPENAPI_TOOLS['@hey-api/openapi-ts']}: its client compiles, and ten calls`,
    async work() {
      const { cwd, bin } = await open(projects);
      await run(bin('openapi-ts'), ['-i', DOCUMENT, '-o', 'generated/hey-api', '-c', '@hey-api/client-fetch'], {
        cwd,
        env: ENV,
      });
      await copyPrograms(cwd);
      await compile(cwd, bin('tsc'), ['hey-api.ts']);
      await call(cwd, 'hey-api');
    },
  },
];

/** Path of the document in a project that the package is installed in. */
const DOCUMENT = 'node_modules/audience-activation/dist/openapi.json';

async function open({ withOpenApiTools }: Projects) {
  const cwd = await withOpenApiTools();
  return { cwd, bin: (name: string): string => join(cwd, 'node_modules/.bin', name) };
}

const copyPrograms = (cwd: string): Promise<void> => cp(join(ROOT, PROGRAMS), cwd, { recursive: true });

async function compile(cwd: string, compiler: string, files: readonly string[]): Promise<void> {
  const options = { module: 'esnext', moduleResolution: 'bundler', target: 'es2023', lib: ['es2023', 'dom'] };
  const strict = { strict: true, skipLibCheck: true, noEmit: true, allowImportingTsExtensions: true, types: ['node'] };
  const name = `tsconfig.${files[0]}.json`;
  const typeRoots = [join(ROOT, 'node_modules', '@types')];
  await writeFile(join(cwd, name), JSON.stringify({ compilerOptions: { ...options, ...strict, typeRoots }, files }));
  await run(compiler, ['-p', name], { cwd });
}

/** Runs a program with a sandbox. */
async function call(cwd: string, name: string): Promise<void> {
  await mkdir(join(cwd, 'out'), { recursive: true });
  const outfile = join(cwd, 'out', `${name}.mjs`);
  await build({
    entryPoints: [join(cwd, `${name}.ts`)],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    tsconfigRaw: '{}',
    logLevel: 'silent',
  });
  await using sandbox = createSandbox();
  const credentials = { email: 'ada@example.com', password: 'correct horse' };
  const token = sandbox.accounts.create(credentials).token('api');
  const { url } = await sandbox.listen();
  const args = name === 'hey-api' ? [credentials.email, credentials.password] : [token];
  const { stdout } = await run(process.execPath, [outfile, url, ...args], { cwd });
  if (!stdout.endsWith('done\n')) throw new Error(`It wrote: ${stdout}`);
}
