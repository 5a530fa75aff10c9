import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright';
import type { TestContext } from 'vitest';
import { CHROMIUM } from '../../scripts/chromium.ts';

/** The browser example as its command starts it. */
export interface ExampleApp {
  readonly url: string;
  readonly email: string;
  readonly password: string;
  /** Ctrl-C; answers the exit code and what was printed as an error. */
  interrupt(): Promise<{ readonly code: unknown; readonly stderr: string }>;
}

/** Starts the command of the browser example. */
export async function startExampleApp(): Promise<ExampleApp> {
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

/** The Chromium of the browser suite. */
export const launchChromium = (): Promise<Browser> => chromium.launch(CHROMIUM);

/** A visitor of the example: a page of its own, with all that it asked for and complained of. */
export interface Visit {
  readonly page: Page;
  /** Errors of the console and of the page itself. */
  readonly errors: string[];
  /** Origins of all requests. */
  readonly origins: Set<string>;
  /** Method and path of each call of the API. */
  readonly calls: string[];
  /** Texts of the files that the page is made of. */
  readonly files: string[];
  signIn(): Promise<void>;
}

/** Opens the example in a context of its own. */
export async function visit(
  {
    browser,
    app,
    onTestFinished,
  }: { readonly browser: Browser; readonly app: ExampleApp } & Pick<TestContext, 'onTestFinished'>,
  options: BrowserContextOptions = {},
): Promise<Visit> {
  const context = await browser.newContext({ locale: 'en-GB', ...options });
  onTestFinished(() => context.close());
  const page = await context.newPage();
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
    // One that the browser has already comes without a body.
    if (!response.ok() || !['document', 'script', 'stylesheet'].includes(type)) return;
    // Nor has one whose page was left before it was read.
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
