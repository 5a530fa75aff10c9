import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { delimiter, extname, join } from 'node:path';
import { build } from 'esbuild';
import { ENGINES, type Engine } from '../../test/support/engines.ts';
import { run } from './commands.ts';
import { type Projects, ROOT, type Step, writeProgram } from './project.ts';
import { ENTRIES, specifier, TELEMETRY } from './runtimes.ts';
import { ROLLUP, VITE, WEBPACK } from './versions.ts';

const ENGINE_NAMES = { chromium: 'Chromium', firefox: 'Firefox', webkit: 'WebKitGTK (Safari)' };

/** A bundler with its default settings for browsers: nothing is external, and nothing is replaced. */
interface Bundler {
  readonly name: string;
  /** Code in CommonJS, because `NODE_PATH` has no effect on ES modules: bundles `input`, paths by name, into `target`. */
  readonly code: string;
}

const BUNDLERS: readonly Bundler[] = [
  {
    name: 'esbuild',
    code: `require('esbuild').build({ entryPoints: input, outdir: target, bundle: true, splitting: true, minify: true, format: 'esm' })`,
  },
  {
    name: `Vite ${VITE}`,
    code: `require('vite').build({ root: __dirname, base: './', logLevel: 'warn', configFile: false, worker: { format: 'es' },
      build: { outDir: target, rollupOptions: { input, output: { entryFileNames: '[name].js' } } } })`,
  },
  {
    name: `Webpack ${WEBPACK}`,
    code: `require('webpack')({ mode: 'production', context: __dirname, entry: input, output: { path: target } }, (error, stats) => {
      if (error || stats.hasErrors()) throw error ?? new Error(stats.toString({ all: false, errors: true })); })`,
  },
  {
    name: `Rollup ${ROLLUP}`,
    code: `require('rollup').rollup({ input, onwarn() {}, plugins: [require('@rollup/plugin-node-resolve').nodeResolve({ browser: true })] })
      .then((bundle) => bundle.write({ dir: target, format: 'es' }))`,
  },
];

/** Runs the tasks in a page, then in a module worker. The last output lists the other problems of the page. */
const PAGE = `import { runTasks } from './tasks.ts';
const problems = [];
for (const name of ['error', 'unhandledrejection', 'securitypolicyviolation'])
  addEventListener(name, (event) => problems.push(name + ': ' + (event.message ?? event.reason?.stack ?? event.blockedURI)));
for (const name of ['error', 'warn']) console[name] = (...values) => problems.push(name + ': ' + values.join(' '));
const inWorker = () => new Promise((resolve) => {
  const it = new Worker(new URL('./web-worker.js', import.meta.url), { type: 'module' });
  it.onmessage = ({ data }) => resolve(data);
  it.onerror = ({ message }) => resolve('The worker failed: ' + message);
});
globalThis.outputs = runTasks().then(async (page) => [page, await inWorker(), problems.join('\\n')]);`;
const WORKER = "import { runTasks } from './tasks.ts'; runTasks().then((text) => postMessage(text));";
const HTML = '<!doctype html><meta charset="utf-8"><script type="module" src="./page.js"></script>';

/** Imports of a single name, each with a string of code that its bundle must not contain. */
const PARTS = [
  { name: 'AudienceClient', trace: 'x-rate-limit-bucket' },
  { name: 'openApiDocument', trace: 'The token source returned no usable token' },
  { name: 'parseTimestamp', trace: '_zod', maxBytes: 4_096 },
];

/** Steps that bundle the package, and run the bundles in a browser. */
export const browserSteps = (projects: Projects): Step[] => [
  ...ENGINES.flatMap((engine) =>
    // Chromium runs the bundles of all bundlers. For the other engines, one bundle is enough.
    (engine.name === 'chromium' ? BUNDLERS : BUNDLERS.slice(0, 1)).map((bundler) => {
      const place = `${ENGINE_NAMES[engine.name]}: a page and a module worker, bundled with ${bundler.name}`;
      return { name: place, work: () => runInBrowser(projects, place, engine, bundler) };
    }),
  ),
  ...BUNDLERS.flatMap((bundler) => [
    {
      name: `${bundler.name}: ${PARTS.map(({ name }) => name).join(', ')} alone bring no other part, and no peer`,
      work: () => bundleParts(projects, bundler),
    },
  ]),
  { name: 'an import without names leaves nothing in the bundle', work: () => bundleNothing(projects) },
];

/** Bundles files of a project into its folder `dist`; returns this folder. */
async function bundle(
  { tool }: Projects,
  { code }: Bundler,
  source: string,
  names: readonly string[],
): Promise<string> {
  const target = join(source, 'dist');
  const input = Object.fromEntries(names.map((name) => [name, join(source, `${name}.js`)]));
  const values = `const input = ${JSON.stringify(input)}, target = ${JSON.stringify(target)};`;
  await writeFile(join(source, 'bundle.cjs'), `${values}\n${code};`);
  await run(source, process.execPath, ['bundle.cjs'], {
    NODE_PATH: [await tool(''), join(ROOT, 'node_modules')].join(delimiter),
  });
  return target;
}

const folderOf = ({ name }: Bundler): string => name.replace(/\W.*/, '').toLowerCase();

async function runInBrowser(projects: Projects, place: string, engine: Engine, bundler: Bundler): Promise<void> {
  const source = join(await projects.project('app', TELEMETRY), `${engine.name}-${folderOf(bundler)}`);
  await mkdir(source);
  await writeProgram(source, 'page.js', PAGE, projects.service());
  await writeProgram(source, 'web-worker.js', WORKER, projects.service());
  const target = await bundle(projects, bundler, source, ['page', 'web-worker']);
  for (const [file, text] of await filesOf(target)) {
    // Find only imports: texts of errors name `node:http`, and webhooks ask the runtime for `node:crypto`.
    const [builtIn] = /\b(?:from|import|require)\b *\(? *["'`]node:\w+|__vite-browser-external/.exec(text) ?? [];
    if (builtIn !== undefined) throw new Error(`${file} contains "${builtIn}".`);
  }
  await writeFile(join(target, 'index.html'), HTML);
  const [page = '', worker = '', problems] = await openPage(target, engine);
  for (const output of [page, worker]) projects.report(place, output);
  if (problems) throw new Error(problems);
}

async function filesOf(folder: string): Promise<[file: string, text: string][]> {
  const files = (await readdir(folder, { recursive: true })).filter((file) => file.endsWith('.js'));
  return Promise.all(files.map(async (file) => [file, await readFile(join(folder, file), 'utf8')] as [string, string]));
}

/** Serves a folder, opens its page in a browser, and returns the outputs of {@link PAGE}. */
async function openPage(folder: string, engine: Engine): Promise<readonly string[]> {
  const server = createServer(async ({ url = '/' }, response) => {
    const path = url === '/' ? 'index.html' : url.slice(1);
    const body = await readFile(join(folder, path)).catch(() => undefined);
    if (body === undefined) return response.writeHead(path === 'favicon.ico' ? 204 : 404).end();
    // A strict policy, which also forbids `eval`: the package must work under it.
    const policy = `default-src 'none'; script-src 'self'; worker-src 'self'; img-src 'self'; connect-src http://127.0.0.1:*`;
    const type = extname(path) === '.js' ? 'text/javascript' : 'text/html';
    return response.writeHead(200, { 'content-type': type, 'content-security-policy': policy }).end(body);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const browser = await engine.launch();
  try {
    const tab = await browser.newTab();
    await tab.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    return await tab.run(async () => {
      if (document.readyState !== 'complete') await new Promise((done) => addEventListener('load', done));
      return (globalThis as { outputs?: Promise<string[]> }).outputs ?? ['The page has no program.'];
    });
  } finally {
    await browser.close();
    server.closeAllConnections();
    server.close();
  }
}

async function bundleParts(projects: Projects, bundler: Bundler): Promise<void> {
  for (const { name, trace, maxBytes = Number.POSITIVE_INFINITY } of PARTS) {
    const source = join(await projects.project('bare'), `${folderOf(bundler)}-${name}`);
    await mkdir(source);
    await writeFile(
      join(source, 'main.js'),
      `import { ${name} } from 'audience-activation'; globalThis.kept = ${name};`,
    );
    const files = await filesOf(await bundle(projects, bundler, source, ['main']));
    const text = files.map(([, code]) => code).join('\n');
    if (!text.includes('kept')) throw new Error(`The bundle of ${name} does not keep the import.`);
    if (text.includes(trace)) throw new Error(`The bundle of ${name} contains "${trace}".`);
    // Rollup does not minify.
    if (text.length > maxBytes && !bundler.name.startsWith('Rollup'))
      throw new Error(`The bundle of ${name} has ${text.length} characters.`);
  }
}

async function bundleNothing({ project }: Projects): Promise<void> {
  for (const entry of [...ENTRIES, './otel']) {
    const { outputFiles } = await build({
      stdin: { contents: `import '${specifier(entry)}';`, resolveDir: await project('app', TELEMETRY) },
      bundle: true,
      minify: true,
      write: false,
      platform: entry === './node' ? 'node' : 'browser',
      format: 'esm',
      logLevel: 'silent',
    });
    const text = outputFiles.map((file) => file.text).join('');
    if (text !== '')
      throw new Error(`${text.length} characters of ${specifier(entry)} remain: ${text.slice(0, 2_000)}`);
  }
}
