import { spawn, spawnSync } from 'node:child_process';
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build, type Format } from 'esbuild';
import { end, expectOutput, lineWith, run } from './commands.ts';
import { type Projects, ROOT, type Step, writeProgram } from './project.ts';
import { BUN, DENO, EDGE_RUNTIME, JEST, NODES, nodeAlias, PEERS, WORKERD } from './versions.ts';

const RUN = "import { runTasks } from './tasks.ts'; runTasks().then(console.log);";
const RUN_NODE = `import { runTasks, TASKS } from './tasks.ts'; import { NODE_TASKS } from './node-tasks.ts';
runTasks({ ...TASKS, ...NODE_TASKS }).then(console.log);`;
const RUN_WORKER = `import { runTasks } from './tasks.ts';
export class Room { fetch = async () => new Response(await runTasks()); }
const toRoom = (request, { ROOM }) => ROOM.get(ROOM.idFromName('room')).fetch(request);
export default { fetch: (request, env) => request.url.endsWith('/room') ? toRoom(request, env) : new Room().fetch() };`;
const RUN_EDGE = `import { runTasks } from './tasks.ts';
addEventListener('fetch', (event) => event.respondWith(runTasks().then((text) => new Response(text))));`;
/** Sends two overlapping requests to a worker of edge-runtime. */
const EDGE_HOST = `const { EdgeRuntime } = require(process.argv[2]);
const runtime = new EdgeRuntime({ initialCode: require('node:fs').readFileSync('edge.js', 'utf8') });
const send = async () => console.log(await (await runtime.dispatchFetch('http://localhost/')).text());
Promise.all([send(), send()]);`;

/** The entry points of the package that need no other package. */
export const ENTRIES = ['.', './mcp', './node', './oauth', './redis', './sandbox', './webhooks'] as const;

/** Returns the module specifier of an entry point. */
export const specifier = (entry: string): string => `audience-activation${entry.slice(1)}`;

/** The peer of `audience-activation/otel`, which the program of all runtimes uses, too. */
export const TELEMETRY = { '@opentelemetry/api': PEERS.lowest['@opentelemetry/api'] };

/** Programs by place: path among the tools, arguments before the file, the program and its format. */
const RUNTIMES = [
  ...NODES.flatMap((version) =>
    (['esm', 'cjs'] as const).map((format) => ({
      place: `Node ${version}, \`${format === 'esm' ? 'import' : 'require'}\``,
      path: `${nodeAlias(version)}/bin/node`,
      args: [],
      file: `tasks-${version}.${format === 'esm' ? 'mjs' : 'cjs'}`,
      code: RUN_NODE,
      format,
    })),
  ),
  { place: `Bun ${BUN}`, path: 'bun/bin/bun.exe', args: ['run'], file: 'bun.mjs', code: RUN_NODE },
  {
    place: `Deno ${DENO}, with only the network permission`,
    path: 'deno/bin.cjs',
    args: ['run', '--no-prompt', '--no-remote', '--node-modules-dir=manual', '--allow-net=127.0.0.1'],
    file: 'deno.mjs',
    code: RUN,
  },
].map((row) => ({ format: 'esm' as const, ...row }));

/** Steps that run the tasks, and what else a runtime shows of the package. */
export const runtimeSteps = (projects: Projects): Step[] => [
  ...RUNTIMES.map(({ place, path, args, file, code, format }) => ({
    name: place,
    async work() {
      const cwd = await projects.project('app', TELEMETRY);
      await writeProgram(cwd, file, code, projects.service(), format);
      const env = { DENO_NO_UPDATE_CHECK: '1', DENO_DIR: join(cwd, 'deno'), NO_COLOR: '1' };
      projects.report(place, (await run(cwd, await projects.tool(path), [...args, file], env)).stdout);
    },
  })),
  ...[[], ['nodejs_compat']].map((flags) => {
    const place = `workerd ${WORKERD}, ${flags.length === 0 ? 'without Node APIs' : `\`${flags}\``}`;
    return { name: place, work: () => runWorker(projects, place, flags) };
  }),
  { name: `edge-runtime ${EDGE_RUNTIME}`, work: () => runEdge(projects) },
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

/** Bundles the program for workers; returns the path of the bundle. */
async function bundleWorker(projects: Projects, code: string, format: Format, folder: string): Promise<string> {
  const app = await projects.project('app', TELEMETRY);
  const cwd = join(app, folder);
  await mkdir(cwd);
  await build({
    entryPoints: [join(app, await writeProgram(app, `${folder}.js`, code, projects.service()))],
    outfile: join(cwd, `${folder}.js`),
    bundle: true,
    platform: 'browser',
    conditions: ['workerd', 'edge-light', 'worker', 'browser'],
    format,
    external: ['node:*'],
    logLevel: 'silent',
  });
  return cwd;
}

/** Sends overlapping requests, which share the client at module scope, to a worker and then to a Durable Object. */
async function runWorker(projects: Projects, place: string, flags: readonly string[]): Promise<void> {
  const folder = `worker-${flags.length}`;
  const cwd = await bundleWorker(projects, RUN_WORKER, 'esm', folder);
  await writeFile(join(cwd, 'config.capnp'), configOf(`${folder}.js`, flags));
  // workerd reports its port on this file descriptor.
  const stdio = ['ignore', 'inherit', 'inherit', 'pipe'] as const;
  const child = spawn(await projects.tool('workerd/bin/workerd'), ['serve', 'config.capnp', '--control-fd=3'], {
    cwd,
    stdio: [...stdio],
  });
  try {
    const control = child.stdio[3];
    if (!control || !('read' in control)) throw new Error('workerd has no control descriptor.');
    const { port } = JSON.parse(await lineWith('port', control));
    for (const [of, path] of Object.entries({ 'a Worker': '', 'a Durable Object': 'room' })) {
      const send = async (): Promise<string> => (await fetch(`http://127.0.0.1:${port}/${path}`)).text();
      for (const output of await Promise.all([send(), send()])) projects.report(`${place}: ${of}`, output);
    }
  } finally {
    await end(child);
  }
}

async function runEdge(projects: Projects): Promise<void> {
  const cwd = await bundleWorker(projects, RUN_EDGE, 'iife', 'edge');
  await writeFile(join(cwd, 'host.cjs'), EDGE_HOST);
  const { stdout } = await run(cwd, process.execPath, ['host.cjs', await projects.tool('edge-runtime')]);
  projects.report(`edge-runtime ${EDGE_RUNTIME}`, stdout);
}

/** Returns the configuration of workerd for a worker that can connect to this machine only. */
const configOf = (file: string, flags: readonly string[]): string => `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = .main), (name = "loopback", network = (allow = ["local"]))],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
const main :Workerd.Worker = (
  modules = [(name = "worker.js", esModule = embed "${file}")],
  compatibilityDate = "2026-07-01",
  compatibilityFlags = ${JSON.stringify(flags)},
  globalOutbound = "loopback",
  durableObjectNamespaces = [(className = "Room", uniqueKey = "room")],
  durableObjectStorage = (inMemory = void),
  bindings = [(name = "ROOM", durableObjectNamespace = "Room")],
);
`;

/**
 * The guide whose test Jest runs: as an ES module, and in CommonJS with `require` or, where Jest cannot, `import()`.
 */
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

/** Prints the error of a refused call, and ends with the error of another call, which nothing catches. */
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
  await Promise.all(EXAMPLES.map((file) => run(cwd, process.execPath, [join('examples', file)])));
}
