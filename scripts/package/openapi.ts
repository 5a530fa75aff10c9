import { cp, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'esbuild';
import { AudienceClient } from '../../src/index.ts';
import { createSandbox } from '../../src/sandbox/index.ts';
import { run } from './commands.ts';
import { mockSteps } from './openapi-mock.ts';
import { type Projects, ROOT } from './project.ts';
import type { Step } from './report.ts';
import { OPENAPI_TOOLS } from './versions.ts';

const PROGRAMS = 'scripts/package/generated-clients';
const ENV = { REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true', NO_COLOR: '1' };

/** A generator of clients. */
interface Generator {
  readonly name: keyof typeof OPENAPI_TOOLS;
  /** Name of its executable. */
  readonly bin: string;
  /** Program that uses what it generates. */
  readonly program: string;
  /** Other files to compile. */
  readonly types?: readonly string[];
  /** Arguments of its executable, once or more. */
  readonly runs: readonly (readonly string[])[];
}

/** Path of the document in a project that the package is installed in. */
const DOCUMENT = 'node_modules/audience-activation/dist/openapi.json';

/**
 * The two generators that TypeScript projects use most, and two kinds: one writes types alone, for a small client at run
 * time, the other a function for each operation.
 */
const GENERATORS: readonly Generator[] = [
  {
    name: 'openapi-typescript',
    bin: 'openapi-typescript',
    program: 'openapi-fetch',
    types: ['types.ts'],
    runs: [
      [DOCUMENT, '-o', 'generated/schema.d.ts'],
      // Arrays of the package are readonly.
      [DOCUMENT, '--immutable', '-o', 'generated/immutable.d.ts'],
    ],
  },
  {
    name: '@hey-api/openapi-ts',
    bin: 'openapi-ts',
    program: 'hey-api',
    runs: [['-i', DOCUMENT, '-o', 'generated/hey-api', '-c', '@hey-api/client-fetch']],
  },
];

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
    name: `Scalar ${OPENAPI_TOOLS['@scalar/openapi-parser']}, Seriousme ${OPENAPI_TOOLS['@seriousme/openapi-schema-validator']}: the OpenAPI document is valid`,
    async work() {
      const { cwd } = await open(projects);
      await copyPrograms(cwd);
      await run(process.execPath, [join(cwd, 'validators.ts'), join(cwd, DOCUMENT)], { cwd });
    },
  },
  ...GENERATORS.map((generator) => ({
    name: `${generator.name} ${OPENAPI_TOOLS[generator.name]}: its client compiles, ten calls, and the events of a webhook`,
    work: () => useClient(projects, generator),
  })),
  ...mockSteps(async () => {
    const { cwd, bin } = await open(projects);
    return { cwd, prism: bin('prism'), document: join(cwd, DOCUMENT) };
  }),
];

async function open({ withOpenApiTools }: Projects) {
  const cwd = await withOpenApiTools();
  return { cwd, bin: (name: string): string => join(cwd, 'node_modules/.bin', name) };
}

const copies = new Map<string, Promise<void>>();

/** Copies the programs once: a second copy would replace files that a compiler is reading. */
function copyPrograms(cwd: string): Promise<void> {
  const copy = copies.get(cwd) ?? cp(join(ROOT, PROGRAMS), cwd, { recursive: true });
  copies.set(cwd, copy);
  return copy;
}

/** Generates a client, compiles the program that uses it, and runs it with a sandbox. */
async function useClient(projects: Projects, { bin, program, types = [], runs }: Generator): Promise<void> {
  const { cwd, bin: pathOf } = await open(projects);
  const credentials = { email: 'ada@example.com', password: 'correct horse' };
  const events: unknown[] = [];
  await using sandbox = createSandbox({ clock: 'manual', deliver: (request) => receive(request, events) });
  const account = sandbox.accounts.create(credentials);
  const { url } = await sandbox.listen();
  await sendEvents(sandbox, url, account.token('api'));
  await mkdir(join(cwd, 'generated'), { recursive: true });
  for (const list of runs) await run(pathOf(bin), list, { cwd, env: ENV });
  await copyPrograms(cwd);
  await compile(cwd, pathOf('tsc'), [`${program}.ts`, ...types]);
  const outfile = join(cwd, 'out', `${program}.mjs`);
  await build({
    entryPoints: [join(cwd, `${program}.ts`)],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    tsconfigRaw: '{}',
    logLevel: 'silent',
  });
  const values = [url, credentials.email, credentials.password, JSON.stringify(events)];
  const { stdout } = await run(process.execPath, [outfile, ...values], { cwd });
  if (!stdout.endsWith('\ndone\n')) throw new Error(`It wrote: ${stdout}`);
}

/** Has the sandbox send the events of an audience, and a test. */
async function sendEvents(sandbox: ReturnType<typeof createSandbox>, baseUrl: string, token: string): Promise<void> {
  const { id } = sandbox.webhooks.create({ url: 'https://example.com/webhooks' });
  await using client = new AudienceClient({ baseUrl, token });
  await client.audiences.create({ name: 'Visitors' });
  sandbox.webhooks.test(id);
  await sandbox.advance(3_600_000);
}

async function receive(request: Request, events: unknown[]): Promise<Response> {
  events.push(await request.json());
  return new Response();
}

async function compile(cwd: string, compiler: string, files: readonly string[]): Promise<void> {
  const options = {
    module: 'esnext',
    moduleResolution: 'bundler',
    target: 'es2023',
    lib: ['es2023', 'dom', 'dom.iterable'],
  };
  const strict = { strict: true, skipLibCheck: true, noEmit: true, allowImportingTsExtensions: true, types: ['node'] };
  const name = `tsconfig.${files[0]}.json`;
  const typeRoots = [join(ROOT, 'node_modules', '@types')];
  await writeFile(join(cwd, name), JSON.stringify({ compilerOptions: { ...options, ...strict, typeRoots }, files }));
  await run(compiler, ['-p', name], { cwd });
}
