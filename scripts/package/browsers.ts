import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname, join } from 'node:path';
import { build } from 'esbuild';
import { type Browser, chromium } from 'playwright';
import { CHROMIUM } from '../chromium.ts';
import { run } from './commands.ts';
import { withHost } from './host.ts';
import { type Projects, writeProgram } from './project.ts';
import type { Step } from './report.ts';
import { VITE } from './versions.ts';

const USES = 'a page with sandbox and webhooks, a module worker over HTTP';
const PAGE = '<!doctype html><meta charset="utf-8"><title>…</title><script type="module" src="./page.js"></script>';
const TYPES = new Map([
  ['.html', 'text/html'],
  ['.js', 'text/javascript'],
]);

/** Steps that run bundles in a browser. */
export const browserSteps = (projects: Projects): Step[] => [
  { name: `Vite ${VITE}, in Chromium: ${USES}`, work: async () => runInBrowser(projects, 'vite', viteBuild) },
  { name: `esbuild, in Chromium: ${USES}`, work: async () => runInBrowser(projects, 'esbuild', esbuildBuild) },
];

type Bundler = (projects: Projects, source: string, target: string) => Promise<void>;

async function runInBrowser(projects: Projects, name: string, bundler: Bundler): Promise<void> {
  const source = join(projects.app, `page-${name}`);
  await mkdir(source);
  await writeFile(join(source, 'index.html'), PAGE);
  for (const program of ['page', 'web-worker']) await writeProgram(source, program);
  const target = join(source, 'dist');
  await bundler(projects, source, target);
  await withHost(projects, name, ({ baseUrl, token }) =>
    serveFolder(target, async (origin) => openPage(`${origin}/?${new URLSearchParams({ baseUrl, token })}`)),
  );
}

async function viteBuild(projects: Projects, source: string, target: string): Promise<void> {
  const vite = join(await projects.tools(), 'node_modules/vite/bin/vite.js');
  await writeFile(join(source, 'vite.config.js'), `export default { worker: { format: 'es' } };`);
  const args = [vite, 'build', source, '--outDir', target, '--base', './', '--logLevel', 'warn'];
  await run(process.execPath, args, { cwd: source });
}

async function esbuildBuild(_projects: Projects, source: string, target: string): Promise<void> {
  await build({
    entryPoints: [join(source, 'page.js'), join(source, 'web-worker.js')],
    outdir: target,
    bundle: true,
    splitting: true,
    minify: true,
    platform: 'browser',
    format: 'esm',
    // Leave these imports in the bundle: only code that does not run in a browser executes them.
    external: ['node:*'],
    logLevel: 'silent',
  });
  await writeFile(join(target, 'index.html'), PAGE);
}

/** Serves a folder on loopback while `work` runs. */
async function serveFolder(folder: string, work: (origin: string) => Promise<void>): Promise<void> {
  const server = createServer(async ({ url = '/' }, response) => {
    const { pathname } = new URL(url, 'http://localhost');
    const path = join(folder, pathname === '/' ? 'index.html' : pathname);
    const body = await readFile(path).catch(() => undefined);
    if (body === undefined) return response.writeHead(pathname === '/favicon.ico' ? 204 : 404).end();
    // A strict policy, which also forbids `eval`: the package must work under it.
    const policy = `default-src 'none'; script-src 'self'; worker-src 'self'; connect-src http://127.0.0.1:*`;
    const type = TYPES.get(extname(path)) ?? 'application/octet-stream';
    return response.writeHead(200, { 'content-type': type, 'content-security-policy': policy }).end(body);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  try {
    const address = server.address();
    if (typeof address !== 'object' || address === null) throw new Error('The server has no port.');
    await work(`http://127.0.0.1:${address.port}`);
  } finally {
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
  }
}

async function openPage(url: string): Promise<void> {
  const browser = await chromium.launch(CHROMIUM);
  try {
    await runPage(browser, url);
  } finally {
    await browser.close();
  }
}

/** Opens a page and waits for the result in its title. Errors and warnings on the console are failures, too. */
async function runPage(browser: Browser, url: string): Promise<void> {
  const page = await browser.newPage();
  const problems: string[] = [];
  page.on('pageerror', (error) => problems.push(`error of the page: ${error.stack ?? error.message}`));
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) problems.push(`console: ${message.text()}`);
  });
  await page.goto(url);
  await page
    .waitForFunction(() => document.title !== '…', undefined, { timeout: 20_000 })
    .catch((error: unknown) => problems.push(String(error)));
  const title = await page.title();
  if (title !== 'done') problems.push(`title of the page: ${title}`);
  if (problems.length > 0) throw new Error(problems.join('\n'));
}
