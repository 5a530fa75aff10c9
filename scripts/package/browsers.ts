import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname, join } from 'node:path';
import { type Browser, chromium } from 'playwright';
import { CHROMIUM } from '../chromium.ts';
import { BUNDLERS, type Bundler } from './bundlers.ts';
import { withHost } from './host.ts';
import { type Projects, writeProgram } from './project.ts';
import type { Step } from './report.ts';

const USES = 'a page with all entries for browsers, a module worker over HTTP';
const PROGRAMS = ['page', 'web-worker'];
const PAGE = '<!doctype html><meta charset="utf-8"><title>…</title><script type="module" src="./page.js"></script>';
const TYPES = new Map([
  ['.html', 'text/html'],
  ['.js', 'text/javascript'],
]);

/** Steps that run bundles in a browser. */
export const browserSteps = (projects: Projects): Step[] =>
  BUNDLERS.map((bundler) => ({
    name: `${bundler.name}, in Chromium: ${USES}`,
    work: async () => runInBrowser(projects, bundler),
  }));

async function runInBrowser(projects: Projects, { name, bundle }: Bundler): Promise<void> {
  const folder = name.toLowerCase().replace(/\W.*/, '');
  const source = join(projects.app, `page-${folder}`);
  await mkdir(source);
  for (const program of PROGRAMS) await writeProgram(source, program);
  const target = join(source, 'dist');
  await bundle(projects, source, PROGRAMS, target);
  await refuseBuiltins(target);
  await writeFile(join(target, 'index.html'), PAGE);
  await withHost(projects, folder, ({ baseUrl, token }) =>
    serveFolder(target, async (origin) => openPage(`${origin}/?${new URLSearchParams({ baseUrl, token })}`)),
  );
}

/** Refuses bundles that import built-ins of Node: Rollup only warns of them, and Vite replaces them by empty modules. */
async function refuseBuiltins(folder: string): Promise<void> {
  for (const file of await readdir(folder, { recursive: true })) {
    const text = file.endsWith('.js') ? await readFile(join(folder, file), 'utf8') : '';
    // Not any string with a name of Node's: errors name `node:http`, and webhooks ask the runtime for `node:crypto`.
    const [built] = /\b(?:from|import|require)\b *\(? *["'`]node:\w+|__vite-browser-external/.exec(text) ?? [];
    if (built !== undefined) throw new Error(`${file} contains "${built}".`);
  }
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
