import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import process from 'node:process';
import { setImmediate as turn } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { format } from 'node:util';
import { AudienceClient, type Credentials } from 'audience-activation';
import { createSandbox, type SandboxAccount } from 'audience-activation/sandbox';
import { withExpectations } from '../support/documentation.ts';

/** Runs code blocks in sequence, each against its own service, and reports the result of each. */
const [folder = '', timeout = ''] = process.argv.slice(2);
const blocks = (JSON.parse(readFileSync(join(folder, 'blocks.json'), 'utf8')) as string[]).map(withExpectations);

/** The service's URL in code blocks. Requests to it go to the service on loopback. */
const SERVICE = 'https://api.example.com';
const SEED = 42;
const SEEDS = [12, 13, 14, SEED];
const ACTIVATION = 77;
/** Maximum duration of a code block. */
const TIMEOUT_MS = Number(timeout);
const credentials: Credentials = { email: 'me@example.com', password: 'secret' };

interface Service {
  readonly url: string;
  readonly account: SandboxAccount;
  close(): Promise<void>;
}

let service: Service | undefined;
let unhandled: unknown;
process.on('unhandledRejection', (reason) => {
  unhandled = reason;
});

/** Starts a service whose jobs end immediately, with the audiences and the activation that blocks use. */
async function startService(): Promise<Service> {
  const sandbox = createSandbox({ jobs: { duration: 0 } });
  const account = sandbox.accounts.create(credentials);
  const { url, close } = await sandbox.listen();
  const client = new AudienceClient({ baseUrl: SERVICE, token: account.token('api'), fetch: sandbox.fetch });
  let used = 0;
  const next = async (id: number, create: () => Promise<{ readonly id: number }>): Promise<void> => {
    // Create companies until the next id is `id`: each company takes an id.
    while (used < id - 1) used = sandbox.companies.create({ name: `Filler ${used}` }).id;
    used = (await create()).id;
    if (used !== id) throw new Error(`Expected to create ${id}, not ${used}.`);
  };
  for (const id of SEEDS) await next(id, () => client.audiences.create({ name: `Audience ${id}` }));
  await next(ACTIVATION, () => client.activations.create({ audience_id: SEED }));
  await client.close();
  return { url, account, close };
}

/**
 * Returns the responses of endpoints that code blocks use but the sandbox lacks: a backend that issues tokens, and a
 * report.
 */
function readerResponse(path: string, account: SandboxAccount): Response | undefined {
  if (path === '/audience-token') return Response.json({ token: account.token('api') });
  if (path !== '/api/v2/reports/7') return undefined;
  return Response.json({ status: 'success', code: 200, message: 'A report.', data: [{ id: 7 }] });
}

const platform = globalThis.fetch;
globalThis.fetch = async (input, init) => {
  const request = input instanceof Request ? input : undefined;
  const url = new URL(request?.url ?? String(input), SERVICE);
  if (url.origin !== SERVICE || !service) return platform(input, init);
  const target = new URL(url.pathname + url.search, service.url);
  return (
    readerResponse(url.pathname, service.account) ?? platform(request ? new Request(target, request) : target, init)
  );
};

function prepareFolder(): void {
  mkdirSync(join(folder, 'node_modules'), { recursive: true });
  for (const name of ['zod', '@modelcontextprotocol', 'audience-activation']) {
    const target = name === 'audience-activation' ? resolve('.') : resolve('node_modules', name);
    symlinkSync(target, join(folder, 'node_modules', name));
  }
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  // Enough people for an activation.
  const rows = Array.from({ length: 600 }, (_, row) => `customer${row}@example.com\n`).join('');
  for (const name of ['customers.csv', 'hashes.csv', 'places.csv']) writeFileSync(join(folder, name), `email\n${rows}`);
  for (const [at, { code }] of blocks.entries()) writeFileSync(join(folder, `block-${at}.ts`), code);
  process.chdir(folder);
}

/** Rejects if a code block takes too long. */
async function withTimeout<T>(work: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`It did not end within ${TIMEOUT_MS} ms.`)), TIMEOUT_MS);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

/** Returns a function that prints, and compares the text with the comment; and what has not been printed. */
function expectations(texts: readonly string[] = []) {
  const missing = new Set(texts);
  const expectPrinted = (expected: string, ...values: readonly unknown[]): void => {
    const printed = format(...values);
    if (printed !== expected) throw new Error(`It prints "${printed}", and its comment says "${expected}".`);
    missing.delete(expected);
  };
  return { missing, expectPrinted };
}

async function problemOf(at: number): Promise<string | undefined> {
  unhandled = undefined;
  const { missing, expectPrinted } = expectations(blocks[at]?.texts);
  service = await startService();
  const token = service.account.token('api');
  const client = new AudienceClient({ baseUrl: SERVICE, token });
  Object.assign(process.env, {
    AUDIENCE_BASE_URL: service.url,
    AUDIENCE_TOKEN: token,
    AUDIENCE_MCP_TOKEN: service.account.token('mcp'),
    AUDIENCE_PASSWORD: credentials.password,
    WEBHOOK_SECRET: 'whsec',
  });
  Object.assign(globalThis, { client, credentials, expectPrinted });
  try {
    await withTimeout(import(pathToFileURL(join(folder, `block-${at}.ts`)).href));
    await client.close();
    await turn();
    if (unhandled !== undefined) throw unhandled;
    return missing.size === 0 ? undefined : `It does not print ${[...missing].join(', ')}.`;
  } catch (error) {
    return error instanceof Error ? (error.stack ?? error.message) : String(error);
  } finally {
    await client.close();
    await service.close();
  }
}

prepareFolder();
const report = (message: object): Promise<unknown> => new Promise((resolve) => process.send?.(message, resolve));
for (const at of blocks.keys()) await report({ at, problem: (await problemOf(at)) ?? null });
// End everything that a code block has left running.
process.exit(0);
