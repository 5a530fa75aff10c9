import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, type BrowserContext, chromium, type Locator, type Page, type Route } from 'playwright';
import type { TestContext } from 'vitest';
import { CHROMIUM } from '../../scripts/chromium.ts';

/** Exit code and error output of a process that has ended. */
interface Ended {
  readonly code: unknown;
  readonly stderr: string;
}

/** The browser example's server process. */
interface ExampleApp {
  readonly url: string;
  readonly email: string;
  readonly password: string;
  /** Interrupts the process as Ctrl-C does; resolves when the process has ended. */
  interrupt(): Promise<Ended>;
}

/** Starts the server of the browser example. */
async function startExampleApp(): Promise<ExampleApp> {
  const child = spawn(process.execPath, ['examples/browser/server.ts', '--speed', '60']);
  const exited = once(child, 'exit');
  let stdout = '';
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  const printed = (name: string): string => new RegExp(`^${name} +(.+)$`, 'm').exec(stdout)?.[1] ?? '';
  await new Promise<void>((resolve, reject) => {
    child.stdout.on('data', (chunk: Buffer) => {
      stdout += chunk.toString();
      if (stdout.includes('Ctrl-C')) resolve();
    });
    exited.then(() => reject(new Error(`The example ended: ${stderr}`)));
  });
  return {
    url: printed('Open'),
    email: printed('Email'),
    password: printed('Password'),
    async interrupt() {
      child.kill('SIGINT');
      const [code] = await exited;
      return { code, stderr };
    },
  };
}

export const launchChromium = (): Promise<Browser> => chromium.launch(CHROMIUM);

/** Opens a page, whose actions have as long as a busy machine takes. */
export async function openPage(browser: Browser | BrowserContext): Promise<Page> {
  const page = await browser.newPage();
  page.setDefaultTimeout(SOON.timeout);
  return page;
}

/** A page of the example with its requests and errors. */
interface Visit {
  readonly page: Page;
  /** Errors in the console, and uncaught errors of the page. */
  readonly errors: string[];
  /** Origins of all requests. */
  readonly origins: Set<string>;
  /** Method and path of each API request. */
  readonly calls: string[];
  /** Contents of the files that the page has loaded. */
  readonly files: string[];
  signIn(): Promise<void>;
}

/** The browser example and a Chromium that opens it. */
export interface Example extends Omit<ExampleApp, 'interrupt'> {
  /** Opens the example in a context that ends with the test. */
  visit(onTestFinished: TestContext['onTestFinished']): Promise<Visit>;
  /** Interrupts the example while a page is open, because the page's connections must not keep the process alive. */
  close(): Promise<Ended>;
}

/** Starts the browser example and Chromium. */
export async function startExample(): Promise<Example> {
  const [app, browser] = await Promise.all([startExampleApp(), launchChromium()]);
  return {
    ...app,
    async visit(onTestFinished) {
      const context = await browser.newContext({ locale: 'en-GB' });
      onTestFinished(() => context.close());
      return open(await openPage(context), app);
    },
    async close() {
      await (await openPage(browser)).goto(app.url);
      const ended = await app.interrupt();
      await browser.close();
      return ended;
    },
  };
}

/** Opens the example in a page. */
async function open(page: Page, app: ExampleApp): Promise<Visit> {
  const seen: Omit<Visit, 'signIn'> = { page, errors: [], origins: new Set(), calls: [], files: [] };
  page.on('console', (message) => {
    if (message.type() === 'error') seen.errors.push(message.text());
  });
  page.on('pageerror', (error) => seen.errors.push(String(error)));
  page.on('request', (request) => {
    const { protocol, origin, pathname } = new URL(request.url());
    if (protocol !== 'data:') seen.origins.add(origin);
    if (pathname.startsWith('/api/')) seen.calls.push(`${request.method()} ${pathname}`);
  });
  page.on('response', async (response) => {
    const type = response.request().resourceType();
    // A cached response, such as a 304, has no body.
    if (!response.ok() || !['document', 'script', 'stylesheet'].includes(type)) return;
    // If the page was closed in the meantime, the body is lost.
    const text = await response.text().catch(() => undefined);
    if (text !== undefined) seen.files.push(text);
  });
  await page.goto(app.url);
  return {
    ...seen,
    async signIn() {
      await page.getByLabel('Email').fill(app.email);
      await page.getByLabel('Password').fill(app.password);
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByRole('heading', { name: 'Your audiences' }).waitFor();
      await page.getByRole('button', { name: 'Show more' }).waitFor();
    },
  };
}

/** Options to wait until a job has ended. */
export const SOON = { timeout: 180_000 };

export const day = (ago: number): string => new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10);
const section = (page: Page, name: string): Locator => page.getByRole('region', { name });
export const rows = (page: Page): Locator => page.locator('tbody tr');
const jobCard = (page: Page, name: string): Locator => page.getByRole('article').filter({ hasText: name });

/** Fills in the form of a new audience and submits it. */
export async function build(page: Page, name: string, from = day(20)): Promise<Locator> {
  const form = section(page, 'New audience');
  await form.getByLabel('Name').fill(name);
  await form.getByLabel('From').fill(from);
  await form.getByRole('button', { name: 'Build audience' }).click();
  return jobCard(page, name);
}

/** Statuses that the service shows while a job runs. */
export const QUEUED = { id: 100, name: 'Queued' };
export const BUILDING = { id: 102, name: 'Building' };
export const IMPORTING = { id: 2, name: 'Importing' };

/**
 * Lets reads show jobs, by name, in one status until the returned function is called: the page of a busy machine may
 * read a job for the first time when it has ended.
 */
export async function keepStatus(page: Page, jobs: Readonly<Record<string, typeof QUEUED>>): Promise<() => void> {
  let isKept = true;
  const forward = async (route: Route): Promise<void> => {
    const response = await route.fetch();
    const json: { data?: object } = await response.json();
    for (const resource of [json.data ?? []].flat() as { name?: string; status?: object | undefined }[]) {
      if (isKept) resource.status = jobs[resource.name ?? ''] ?? resource.status;
    }
    await route.fulfill({ response, json });
  };
  await page.route(/\/api\/v2\/(audiences|cohorts)\b/, (route) =>
    // A page that was left in the meantime has no use for the response.
    route.request().method() === 'GET' ? forward(route).catch(() => {}) : route.continue(),
  );
  return () => {
    isKept = false;
  };
}

/** Selects a file for a cohort and submits the form. */
export async function upload(page: Page, megabytes: number): Promise<Locator> {
  // A path, because a buffer of this size would travel to the browser as base64.
  const folder = await mkdtemp(join(tmpdir(), 'cohort-'));
  const file = join(folder, 'customers.csv');
  await writeFile(file, `email\n${'someone@example.com\n'.repeat((megabytes * 1e6) / 20)}`);
  page.once('close', () => void rm(folder, { recursive: true }));
  await page.setInputFiles('input[type=file]', file);
  await section(page, 'Upload a cohort').getByRole('button', { name: 'Upload' }).click();
  return jobCard(page, 'customers');
}

/** Limits the speed of uploads, in bytes per second. */
export async function throttle(page: Page, uploadThroughput: number): Promise<void> {
  const session = await page.context().newCDPSession(page);
  const unlimitedLog = { offline: false, latency: 0, downloadThroughput: -1 };
  await session.send('Network.emulateNetworkConditions', { ...unlimitedLog, uploadThroughput });
}
