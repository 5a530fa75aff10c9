import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { run } from './commands.ts';
import { importStep } from './nodes.ts';
import { type Projects, writeProgram } from './project.ts';
import type { Step } from './report.ts';
import { ask, bundleWorker, withWorkerd } from './runtimes.ts';
import { writeSources } from './types.ts';
import { BUN, DENO, NODES, nodeAlias, TYPESCRIPTS, typescriptAlias, VITE, WEBPACK, WORKERD } from './versions.ts';

const ENTRY = 'audience-activation/otel';

/** Steps that use the entry `otel`, whose peer is installed, in every runtime and bundle. */
export const telemetrySteps = (projects: Projects): Step[] => [
  ...commonSteps(projects),
  ...[NODES[0], NODES[3]].map((version) => ({
    name: `Node ${version}: ${ENTRY}`,
    work: () => runProgram(projects, join(nodeAlias(version), 'bin', 'node'), []),
  })),
  { name: `Bun ${BUN}: ${ENTRY}`, work: () => runProgram(projects, 'bun/bin/bun.exe', ['run']) },
  {
    name: `Deno ${DENO}: ${ENTRY}, without any permission`,
    work: () =>
      runProgram(projects, 'deno/bin.cjs', ['run', '--no-prompt', '--no-remote', '--node-modules-dir=manual']),
  },
  {
    name: `workerd ${WORKERD}: ${ENTRY}, with nothing of Node`,
    async work() {
      const { folder, workerd } = await bundleWorker(projects, await projects.traced(), 'edge-telemetry', []);
      await withWorkerd(workerd, folder, (url) => ask(url, {}));
    },
  },
  ...TYPESCRIPTS.map((version) => ({
    name: `TypeScript ${version}: ${ENTRY}, strict, with the declarations checked`,
    async work() {
      const cwd = await projects.traced();
      const files = ['exercise-telemetry.ts', 'check.ts'];
      const options = { module: 'nodenext', allowImportingTsExtensions: true };
      const folder = await writeSources(join(cwd, `types-${version}`), files, options);
      const compiler = join(await projects.tools(), 'node_modules', typescriptAlias(version), 'bin', 'tsc');
      await run(process.execPath, [compiler, '-p', folder], { cwd });
    },
  })),
  { name: `Vite ${VITE}: ${ENTRY} in a bundle`, work: () => runBundle(projects, 'vite', viteBuild) },
  { name: `Webpack ${WEBPACK}: ${ENTRY} in a bundle`, work: () => runBundle(projects, 'webpack', webpackBuild) },
  {
    name: `Webpack ${WEBPACK}: audience-activation in a bundle, without the peer of ${ENTRY}`,
    async work() {
      const source = join(projects.app, 'webpack');
      await mkdir(source);
      await writeFile(join(source, 'main.js'), `import { AudienceClient } from 'audience-activation';\n${PROGRAM}`);
      await runFile(process.execPath, [await webpackBuild(projects, source, 'main.js')], source);
    },
  },
];

const commonSteps = ({ app, traced }: Projects): Step[] => [
  importStep('./otel', traced),
  {
    name: `${ENTRY}: without its peer, the error names it`,
    async work() {
      const program = `import('${ENTRY}').catch(({ code, message }) => console.log(code, message))`;
      const { stdout } = await run(process.execPath, ['--input-type=module', '-e', program], { cwd: app });
      if (!/^ERR_MODULE_NOT_FOUND .*'@opentelemetry\/api'/.test(stdout)) throw new Error(`It wrote: ${stdout}`);
    },
  },
];

const PROGRAM = `new AudienceClient({ baseUrl: 'https://api.example.com', token: 'token' });\nconsole.log('done');\n`;

/** Runs the program in a runtime of the project of tools. */
async function runProgram({ traced, tools }: Projects, path: string, args: readonly string[]): Promise<void> {
  const cwd = await traced();
  const file = await writeProgram(cwd, 'telemetry', 'esm', 'telemetry.mjs');
  await runFile(join(await tools(), 'node_modules', path), [...args, file], cwd);
}

type Bundler = (projects: Projects, source: string, file: string) => Promise<string>;

/** Bundles the program for browsers, and runs the bundle: it needs nothing that only browsers have. */
async function runBundle(projects: Projects, name: string, bundler: Bundler): Promise<void> {
  const source = join(await projects.traced(), name);
  await mkdir(source);
  const file = await writeProgram(source, 'telemetry', 'esm', 'telemetry.js');
  await runFile(process.execPath, [await bundler(projects, source, file)], source);
}

/** Builds a bundle; returns its path. */
async function viteBuild({ tools }: Projects, source: string, file: string): Promise<string> {
  const vite = join(await tools(), 'node_modules/vite/bin/vite.js');
  const lib = { entry: join(source, file), formats: ['es'], fileName: 'bundle' };
  await writeFile(join(source, 'vite.config.js'), `export default ${JSON.stringify({ build: { lib } })};`);
  await run(process.execPath, [vite, 'build', source, '--logLevel', 'warn'], { cwd: source });
  return join(source, 'dist', 'bundle.js');
}

/** Builds a bundle; returns its path. */
async function webpackBuild({ tools }: Projects, source: string, file: string): Promise<string> {
  const options = {
    mode: 'production',
    target: 'es2023',
    context: source,
    entry: `./${file}`,
    output: { path: join(source, 'dist'), filename: 'bundle.mjs', chunkFormat: 'module', module: true },
    experiments: { outputModule: true },
  };
  // In CommonJS, because `NODE_PATH` has no effect on ES modules.
  const build = join(source, 'build.cjs');
  await writeFile(
    build,
    `require('webpack')(${JSON.stringify(options)}, (error, stats) => {
      if (error || stats.hasErrors() || stats.hasWarnings()) throw error ?? new Error(stats.toString());
    });`,
  );
  await run(process.execPath, [build], { cwd: source, env: { NODE_PATH: join(await tools(), 'node_modules') } });
  return join(source, 'dist', 'bundle.mjs');
}

async function runFile(executable: string, args: readonly string[], cwd: string): Promise<void> {
  const env = { DENO_NO_UPDATE_CHECK: '1', DENO_DIR: join(cwd, 'deno'), NO_COLOR: '1' };
  const { stdout } = await run(executable, args, { cwd, env });
  if (stdout !== 'done\n') throw new Error(`It wrote: ${stdout}`);
}
