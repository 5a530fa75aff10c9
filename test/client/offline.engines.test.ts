import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type * as exported from '../../src/index.ts';
import { AudienceClient } from '../../src/index.ts';
import { createSandbox } from '../../src/sandbox/index.ts';
import { ENGINES, type EngineBrowser } from '../support/engines.ts';
import { eventually } from '../support/eventually.ts';
import { credentials } from '../support/sandbox.ts';
import { serveClientPage } from './client-page.ts';

/** State of the page. */
declare global {
  var sdk: typeof exported;
  var client: exported.AudienceClient;
  var count: { polled: number; failed: number; restored: number };
  var ended: number | string | undefined;
}

/** Opens a page that waits for a job; returns when the page has seen the job running. */
async function startWait(browser: EngineBrowser, rateLimits: exported.ClientOptions['rateLimits'] = {}) {
  const sandbox = createSandbox({ clock: 'manual' });
  onTestFinished(() => sandbox.close());
  const token = sandbox.accounts.create(credentials).token('api');
  const server = await sandbox.listen();
  await using client = new AudienceClient({ baseUrl: server.url, token });
  const { id } = await client.audiences.create({ name: 'Visitors' });
  const page = await serveClientPage();
  const tab = await browser.newTab();
  await tab.goto(page);
  await tab.run(
    (audience, options) => {
      globalThis.count = { polled: 0, failed: 0, restored: 0 };
      globalThis.client = new sdk.AudienceClient({
        ...options,
        onWait({ type }) {
          if (type === 'polled') count.polled++;
        },
        onEnd({ operation, outcome }) {
          if (operation === 'audiences.get' && outcome === 'failure') count.failed++;
        },
      });
      addEventListener('pageshow', ({ persisted }) => {
        if (persisted) count.restored++;
      });
      globalThis.client.audiences.wait(audience).then(
        ({ status }) => {
          globalThis.ended = status.id;
        },
        (error) => {
          globalThis.ended = String(error);
        },
      );
    },
    id,
    { baseUrl: server.url, token, rateLimits, backoff: { min: 1, max: 5 }, logLevel: 'off' } as const,
  );
  /** Awaits a count of at least one. */
  const counted = (name: keyof typeof count): Promise<void> =>
    eventually(async () => expect(await tab.run((key) => count[key], name), name).toBeGreaterThan(0));
  await counted('polled');
  return {
    tab,
    page,
    sandbox,
    server,
    counted,
    finish: () => sandbox.jobs.finish('audience', id, 104),
    ends: () => eventually(async () => expect(await tab.run(() => globalThis.ended ?? null)).toBe(104)),
  };
}

describe.each(ENGINES)('a wait in $name', ({ launch }) => {
  let browser: EngineBrowser;
  beforeAll(async () => {
    browser = await launch();
  });
  afterAll(() => browser.close());

  it('survives an outage of the service, in which a call fails after its retries', async () => {
    const { tab, sandbox, server, counted, finish, ends } = await startWait(browser);
    await server.close();
    const failure = await tab.run(async () => {
      const error: unknown = await client.audiences.list({}, { maxRetries: 2 }).catch((reason: unknown) => reason);
      if (!sdk.ConnectionError.isInstance(error)) return String(error);
      const { name, code, attempts } = error;
      return { name, code, attempts };
    });
    expect(failure).toEqual({ name: 'ConnectionError', code: 'connection-failed', attempts: 3 });
    await counted('failed');
    finish();
    await sandbox.listen({ port: Number(new URL(server.url).port) });
    await ends();
  });

  it('continues when its page returns from the back/forward cache', async () => {
    // One poll in four seconds: none is in flight when the page is left, with which Firefox would not keep it.
    const { tab, page, counted, finish, ends } = await startWait(browser, { read: { limit: 2, interval: 4_000 } });
    await tab.goto(`${page}/other`);
    finish();
    await tab.back();
    await counted('restored');
    await ends();
  });
});
