import { spawn, spawnSync } from 'node:child_process';
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'esbuild';
import { end, expectOutput, lineWith, run } from './commands.ts';
import { type Projects, ROOT, type Step, writeProgram } from './project.ts';
import { BUN, DENO, JEST, NODES, nodeAlias, PEERS, WORKERD } from './versions.ts';

const SMOKE = "import { smoke } from './smoke.ts';";
const RUN = `${SMOKE} console.log(await smoke(JSON.parse(process.argv[2])));`;
const RUN_NODE = `${SMOKE} import { smokeNode } from './smoke-node.ts';
const main = async () => console.log(await smoke(JSON.parse(process.argv[2])), await smokeNode());
main().catch((error) => { console.error(error); process.exit(1); });`;
const RUN_WORKER = `${SMOKE} export default { fetch: async (request) => new Response(
  await smoke(await request.json()).catch((error) => String(error.stack ?? error))) };`;

/** The entry points of the package that need no other package. */
export const ENTRIES = ['.', './mcp', './node', './oauth', './redis', './sandbox', './webhooks'] as const;

/** Returns the module specifier of an entry point. */
export const specifier = (entry: string): string => `audience-activation${entry.slice(1)}`;

/** The peer of `audience-activation/otel`, which the program of all runtimes uses, too. */
export const TELEMETRY = { '@opentelemetry/api': PEERS.lowest['@opentelemetry/api'] };

/** Programs by runtime: path among the tools, arguments before the file, the program, its format and what it prints. */
const RUNTIMES = [
  ...NODES.flatMap((version) =>
    (['esm', 'cjs'] as const).map((format) => ({
      name: `Node ${version}, ${format === 'esm' ? 'import' : 'require'}`,
      path: `${nodeAlias(version)}/bin/node`,
      args: [],
      file: `smoke-${version}.${format === 'esm' ? 'mjs' : 'cjs'}`,
      code: RUN_NODE,
      format,
      prints: `done ${version}`,
    })),
  ),
  { name: `Bun ${BUN}`, path: 'bun/bin/bun.exe', args: ['run'], file: 'bun.mjs' },
  {
    name: `Deno ${DENO}, with no permission but the network`,
    path: 'deno/bin.cjs',
    args: ['run', '--no-prompt', '--no-remote', '--node-modules-dir=manual', '--allow-net=127.0.0.1'],
    file: 'deno.mjs',
  },
].map((row) => ({ code: RUN, format: 'esm' as const, prints: 'done', ...row }));

/** Steps that run the program, and what else a runtime shows of the package. */
export const runtimeSteps = (projects: Projects): Step[] => [
  ...RUNTIMES.map(({ name, path, args, file, code, format, prints }) => ({
    name,
    async work() {
      const cwd = await projects.project('app', TELEMETRY);
      await writeProgram(cwd, file, code, format);
      const env = { DENO_NO_UPDATE_CHECK: '1', DENO_DIR: join(cwd, 'deno'), NO_COLOR: '1' };
      const values = [...args, file, JSON.stringify(projects.service())];
      expectOutput(prints, await run(cwd, await projects.tool(path), values, env));
    },
  })),
  ...[[], ['nodejs_compat']].map((flags) => ({
    name: `workerd ${WORKERD}, ${flags.length === 0 ? 'with nothing of Node' : flags.join()}`,
    work: () => runWorker(projects, flags),
  })),
  ...JEST_FORMS.map(({ node, file, change }) => ({
    name: `Jest ${JEST}, Node ${node}: ${file}, the test of ${GUIDE}`,
    work: () => runJest(projects, node, file, change),
  })),
  ...[...ENTRIES, './otel'].map((entry) => ({
    name: `${specifier(entry)}: importing it sends nothing, prints nothing, leaves no timer and no global`,
    async work() {
      const cwd = await (entry === './otel' ? projects.project('app', TELEMETRY) : projects.project('bare'));
      const file = await writeProgram(cwd, `on-import${entry.replace(/\W/g, '')}.mjs`, "import './on-import.ts';");
      const { stdout, stderr } = await run(cwd, process.execPath, [file, specifier(entry)]);
      expectOutput('nothing', { stdout: stdout + stderr });
    },
  })),
  { name: 'without its peer, audience-activation/otel says which is missing', work: () => importWithoutPeer(projects) },
  { name: 'an error that nothing catches shows its class and functions', work: () => showError(projects) },
  { name: `the examples of the tarball run in a project: ${EXAMPLES.join(', ')}`, work: () => runExamples(projects) },
];

/** Bundles the program as a worker, and sends it a request. */
async function runWorker({ project, tool, service }: Projects, flags: readonly string[]): Promise<void> {
  const app = await project('app', TELEMETRY);
  const cwd = join(app, `worker-${flags.length}`);
  await mkdir(cwd);
  await build({
    entryPoints: [join(app, await writeProgram(app, `worker-${flags.length}.js`, RUN_WORKER))],
    outfile: join(cwd, 'worker.js'),
    bundle: true,
    platform: 'browser',
    conditions: ['workerd', 'worker', 'browser'],
    format: 'esm',
    external: ['node:*'],
    logLevel: 'silent',
  });
  await writeFile(join(cwd, 'config.capnp'), configOf(flags));
  // workerd reports its port on this file descriptor.
  const stdio = ['ignore', 'inherit', 'inherit', 'pipe'] as const;
  const child = spawn(await tool('workerd/bin/workerd'), ['serve', 'config.capnp', '--control-fd=3'], {
    cwd,
    stdio: [...stdio],
  });
  try {
    const control = child.stdio[3];
    if (!control || !('read' in control)) throw new Error('workerd has no control descriptor.');
    const { port } = JSON.parse(await lineWith('port', control));
    const request = { method: 'POST', body: JSON.stringify(service()) };
    const text = await (await fetch(`http://127.0.0.1:${port}/`, request)).text();
    if (text !== 'done') throw new Error(text);
  } finally {
    await end(child);
  }
}

/** Returns the configuration of workerd for a worker that can connect to this machine only. */
const configOf = (flags: readonly string[]): string => `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = .main), (name = "loopback", network = (allow = ["local"]))],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
const main :Workerd.Worker = (
  modules = [(name = "worker.js", esModule = embed "worker.js")],
  compatibilityDate = "2026-07-01",
  compatibilityFlags = ${JSON.stringify(flags)},
  globalOutbound = "loopback",
);
`;

/** The guide whose test Jest runs: as an ES module, and in CommonJS by `require` where Jest can, else by `import()`. */
const GUIDE = 'docs/typescript.md';
const IMPORT = /^import (\{.+\}) from ('.+');$/gm;
const JEST_FORMS = [
  { node: NODES[0], file: 'guide.test.mjs', change: (code: string) => code },
  { node: NODES[2], file: 'guide.test.mjs', change: (code: string) => code },
  {
    node: NODES[2],
    file: 'guide.test.cjs',
    change: (code: string) => code.replaceAll(IMPORT, 'const $1 = require($2);'),
  },
  { node: NODES[0], file: 'dynamic.test.cjs', change: withDynamicImport },
];

/** Moves the imports into the test. */
function withDynamicImport(code: string): string {
  const imports = [...code.matchAll(IMPORT)].map(([, names, from]) => `  const ${names} = await import(${from});\n`);
  return code.replaceAll(IMPORT, '').replace('async () => {\n', (start) => start + imports.join(''));
}

async function runJest(
  { project, tool }: Projects,
  version: string,
  file: string,
  change: (code: string) => string,
): Promise<void> {
  const [, code] = /```js\n([\s\S]*?)```/.exec(await readFile(join(ROOT, GUIDE), 'utf8')) ?? [];
  if (code === undefined) throw new Error(`${GUIDE} has no test.`);
  const cwd = await project('with-jest', { jest: JEST });
  await writeFile(join(cwd, file), change(code));
  const jest = ['--experimental-vm-modules', 'node_modules/jest/bin/jest.js', '--testMatch', `**/${file}`];
  // The limit of Jest itself is five seconds for each test.
  const { stderr } = await run(cwd, await tool(`${nodeAlias(version)}/bin/node`), [...jest, '--testTimeout=300000']);
  if (!/^Tests: +1 passed, 1 total$/m.test(stderr)) throw new Error(stderr);
}

async function importWithoutPeer({ project }: Projects): Promise<void> {
  const program = `import('audience-activation/otel').catch(({ code, message }) => console.log(code, message))`;
  const { stdout } = await run(await project('bare'), process.execPath, ['--input-type=module', '-e', program]);
  if (!/^ERR_MODULE_NOT_FOUND .*'@opentelemetry\/api'/.test(stdout)) throw new Error(`It wrote: ${stdout}`);
}

/** Prints the error of a refused call, and ends by the error of another one, which nothing catches. */
const UNCAUGHT = `import { AudienceClient } from 'audience-activation';
import { createSandbox } from 'audience-activation/sandbox';
const sandbox = createSandbox();
const token = sandbox.accounts.create({ email: 'a@example.com', password: 'x' }).token('api');
const client = new AudienceClient({ baseUrl: 'https://api.example.com', token, fetch: sandbox.fetch });
async function createRefused() { await client.audiences.create({ name: 'Visitors', project_id: 999 }); }
await createRefused().catch((error) => console.log(error));
await createRefused();`;

/** Text of an error with its class, and the names of the functions that it passed. */
const READABLE =
  /^ValidationError: audiences\.create failed: 422 .+\n(?: {4}at .+\n)* {4}at Audiences\.create .+\n {4}at createRefused /m;

async function showError({ project }: Projects): Promise<void> {
  const cwd = await project('bare');
  const file = await writeProgram(cwd, 'uncaught.mjs', UNCAUGHT);
  const { stdout, stderr, status } = spawnSync(process.execPath, [file], { cwd, encoding: 'utf8' });
  if (status !== 1) throw new Error(`It ended with ${status}.`);
  for (const text of [stdout, stderr]) if (!READABLE.test(text)) throw new Error(`It wrote: ${text}`);
}

/** Examples that need no other package. */
const EXAMPLES = ['await-audience.ts', 'lookalike-to-activation.ts', 'testing/audience.test.ts'];

async function runExamples({ project }: Projects): Promise<void> {
  const cwd = await project('bare');
  await cp(join(cwd, 'node_modules/audience-activation/examples'), join(cwd, 'examples'), { recursive: true });
  for (const file of EXAMPLES) await run(cwd, process.execPath, [join('examples', file)]);
}
