import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'esbuild';
import { run } from './commands.ts';
import type { Projects } from './project.ts';
import { ROLLUP, VITE, WEBPACK } from './versions.ts';

/** For four bundlers that run at the same time. */
const TIMEOUT_MS = 240_000;

/** A bundler with its default settings for browsers: nothing is external, and nothing is replaced. */
export interface Bundler {
  readonly name: string;
  /** Bundles modules of the folder `source`, named without `.js`, into `target`, and minifies them if it does by default. */
  bundle(projects: Projects, source: string, modules: readonly string[], target: string): Promise<void>;
}

/** The bundlers that the package is tested with. */
export const BUNDLERS: readonly Bundler[] = [
  { name: `Vite ${VITE}`, bundle: viteBundle },
  { name: 'esbuild', bundle: esbuildBundle },
  { name: `Webpack ${WEBPACK}`, bundle: webpackBundle },
  { name: `Rollup ${ROLLUP}`, bundle: rollupBundle },
];

async function viteBundle({ tools }: Projects, source: string, modules: readonly string[], target: string) {
  const vite = join(await tools(), 'node_modules/vite/bin/vite.js');
  const names = { entryFileNames: '[name].js' };
  const input = Object.fromEntries(modules.map((name) => [name, join(source, `${name}.js`)]));
  const config = { worker: { format: 'es' }, build: { rollupOptions: { input, output: names } } };
  await writeFile(join(source, 'vite.config.js'), `export default ${JSON.stringify(config)};`);
  const args = [vite, 'build', source, '--outDir', target, '--base', './', '--logLevel', 'warn'];
  await run(process.execPath, args, { cwd: source, timeout: TIMEOUT_MS });
}

async function esbuildBundle(_projects: Projects, source: string, modules: readonly string[], target: string) {
  await build({
    entryPoints: modules.map((name) => join(source, `${name}.js`)),
    outdir: target,
    bundle: true,
    splitting: true,
    minify: true,
    format: 'esm',
    logLevel: 'silent',
  });
}

async function webpackBundle({ tools }: Projects, source: string, modules: readonly string[], target: string) {
  const options = {
    mode: 'production',
    context: source,
    entry: Object.fromEntries(modules.map((name) => [name, `./${name}.js`])),
    output: { path: target },
  };
  // In CommonJS, because `NODE_PATH` has no effect on ES modules. It warns of large files and of optional peers.
  const program = `require('webpack')(${JSON.stringify(options)}, (error, stats) => {
    if (error || stats.hasErrors()) throw error ?? new Error(stats.toString({ all: false, errors: true }));
  });`;
  await runProgram(await tools(), source, program);
}

async function rollupBundle({ tools }: Projects, source: string, modules: readonly string[], target: string) {
  const input = Object.fromEntries(modules.map((name) => [name, join(source, `${name}.js`)]));
  // `browser` is the setting of the plugin for browsers; the other bundlers need none.
  const program = `const { nodeResolve } = require('@rollup/plugin-node-resolve');
    require('rollup').rollup({ input: ${JSON.stringify(input)}, plugins: [nodeResolve({ browser: true })], onwarn() {} })
      .then((bundle) => bundle.write({ dir: ${JSON.stringify(target)}, format: 'es' }));`;
  await runProgram(await tools(), source, program);
}

async function runProgram(tools: string, source: string, program: string): Promise<void> {
  const file = join(source, 'bundle.cjs');
  await writeFile(file, program);
  await run(process.execPath, [file], {
    cwd: source,
    env: { NODE_PATH: join(tools, 'node_modules') },
    timeout: TIMEOUT_MS,
  });
}
