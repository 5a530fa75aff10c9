import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'esbuild';
import { run } from './commands.ts';
import { firstLine, withHost } from './host.ts';
import { type Projects, writeProgram } from './project.ts';
import type { Step } from './report.ts';
import { BUN, DENO, WORKERD } from './versions.ts';

const USES = 'client over HTTP, a file, an outage, webhooks, sandbox in process';

/** Steps for runtimes other than Node. */
export const runtimeSteps = (projects: Projects): Step[] => [
  {
    name: `Bun ${BUN}: ${USES}`,
    work: () => inRuntime(projects, 'bun', 'bun/bin/bun.exe', ['run']),
  },
  {
    name: `Deno ${DENO}: ${USES}, with no permission but the network`,
    work: () =>
      inRuntime(projects, 'deno', 'deno/bin.cjs', [
        'run',
        '--no-prompt',
        '--no-remote',
        '--node-modules-dir=manual',
        '--allow-net=127.0.0.1',
      ]),
  },
  {
    name: `workerd ${WORKERD}: client over HTTP, a file, webhooks, with nothing of Node`,
    work: () => inWorkerd(projects, 'edge', []),
  },
  {
    name: `workerd ${WORKERD}: a file, webhooks, sandbox in process, with nodejs_compat`,
    work: () => inWorkerd(projects, 'edge-sandbox', ['nodejs_compat']),
  },
];

const inRuntime = (projects: Projects, name: string, path: string, args: readonly string[]): Promise<void> =>
  withHost(projects, name, async ({ baseUrl, token }) => {
    const program = await writeProgram(projects.app, 'runtime', 'esm', `runtime-${name}.mjs`);
    const env = { DENO_NO_UPDATE_CHECK: '1', DENO_DIR: join(projects.app, 'deno'), NO_COLOR: '1' };
    const executable = join(await projects.tools(), 'node_modules', path);
    const { stdout } = await run(executable, [...args, program, baseUrl, token], { cwd: projects.app, env });
    if (stdout !== 'done\n') throw new Error(`It wrote: ${stdout}`);
  });

/** Bundles a worker with the package and runs it in workerd. */
async function inWorkerd(projects: Projects, name: string, flags: readonly string[]): Promise<void> {
  const { folder, workerd } = await bundleWorker(projects, projects.app, name, flags);
  await withHost(projects, name, (host) => withWorkerd(workerd, folder, (url) => ask(url, host)));
}

/** Bundles a worker in a project, for {@link withWorkerd}. */
export async function bundleWorker(
  projects: Projects,
  project: string,
  name: string,
  flags: readonly string[],
): Promise<{ readonly folder: string; readonly workerd: string }> {
  const folder = join(project, name);
  await mkdir(folder);
  await build({
    entryPoints: [join(project, await writeProgram(project, name))],
    outfile: join(folder, 'worker.js'),
    bundle: true,
    platform: 'browser',
    conditions: ['workerd', 'worker', 'browser'],
    format: 'esm',
    external: ['node:*'],
    logLevel: 'silent',
  });
  await writeFile(join(folder, 'config.capnp'), configOf(flags));
  return { folder, workerd: join(await projects.tools(), 'node_modules/workerd/bin/workerd') };
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

export async function ask(url: string, host: object): Promise<void> {
  const response = await fetch(url, {
    method: 'POST',
    body: JSON.stringify(host),
    signal: AbortSignal.timeout(30_000),
  });
  const text = await response.text();
  if (text !== 'done') throw new Error(text);
}

export async function withWorkerd(workerd: string, cwd: string, work: (url: string) => Promise<void>): Promise<void> {
  // workerd reports its port on this file descriptor.
  const child = spawn(workerd, ['serve', 'config.capnp', '--control-fd=3'], {
    cwd,
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  });
  const ended = once(child, 'exit');
  let written = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (text) => (written += String(text)));
  try {
    const control = child.stdio[3];
    if (!control || !('read' in control)) throw new Error('workerd has no control descriptor.');
    const { port } = JSON.parse(await firstLine(control));
    await work(`http://127.0.0.1:${port}/`);
  } catch (error) {
    throw new Error(`${String(error instanceof Error ? error.message : error)}\n${written}`);
  } finally {
    child.kill('SIGKILL');
    await ended;
  }
}
