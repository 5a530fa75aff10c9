import '../support/nothing-left.ts';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { AudienceClient, type ClientOptions } from '../../src/index.ts';
import { createSandbox } from '../../src/sandbox/index.ts';
import { credentials } from '../support/sandbox.ts';
import { failureOf } from '../support/server.ts';

const HOUR = 3_600_000;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A service in process, in the same virtual time as its client, whose budget of two builds an hour is spent. */
async function startSpent(options: ClientOptions = {}) {
  const sandbox = createSandbox({ limits: { buildsPerHour: 2 } });
  const token = sandbox.accounts.create(credentials).token('api');
  const client = new AudienceClient({
    baseUrl: 'http://localhost',
    token,
    fetch: sandbox.fetch,
    logLevel: 'off',
    ...options,
  });
  onTestFinished(() => client.close());
  await client.audiences.create({ name: 'One' });
  await client.audiences.create({ name: 'Two' });
  return { sandbox, client };
}

it('a spent budget refuses creates immediately with the time, creates nothing, and lets other writes continue', async () => {
  const { client } = await startSpent();
  const error = await failureOf(client.audiences.create({ name: 'Three' }));
  expect(error).toMatchObject({
    name: 'BuildBudgetError',
    code: 'build-budget-exhausted',
    outcome: 'refused',
    attempts: 1,
  });
  const retryAt =
    error instanceof Error && 'retryAt' in error && error.retryAt instanceof Date ? error.retryAt : new Date(0);
  expect(Math.abs(retryAt.getTime() - (Date.now() + HOUR))).toBeLessThan(2_000);
  const budget = await client.usage.buildBudget();
  expect(budget.hour).toEqual({ limit: 2, used: 2 });
  expect(Math.abs((budget.retry_after_seconds ?? 0) - HOUR / 1_000)).toBeLessThan(2);
  expect((await client.audiences.list()).items).toHaveLength(2);
  await client.projects.create({ name: 'Other write' });
});

it('a create waits for a spent budget where the call may wait so long, under the same key', async () => {
  const keys: (string | undefined)[] = [];
  const { client, sandbox } = await startSpent({ onRequest: ({ idempotencyKey }) => void keys.push(idempotencyKey) });
  const started = Date.now();
  const creating = client.audiences.create({ name: 'Three' }, { maxRetryWait: 2 * HOUR });
  let created = false;
  void creating.then(() => {
    created = true;
  });
  await vi.advanceTimersByTimeAsync(HOUR - 10_000);
  expect(created).toBe(false);
  await client.projects.create({ name: 'Write meanwhile' });
  await vi.advanceTimersByTimeAsync(60_000);
  expect(await creating).toMatchObject({ name: 'Three' });
  expect(Date.now() - started).toBeGreaterThanOrEqual(HOUR - 1_000);
  const own = keys.filter((key) => key === creating.idempotencyKey);
  expect(own).toHaveLength(2);
  expect((await client.audiences.list()).items).toHaveLength(3);
  expect(sandbox.log.filter(({ status }) => status === 429)).toHaveLength(1);
});

it('80 creates against ten builds an hour are all built, although each may be refused more often than `maxRetries`', async () => {
  const sandbox = createSandbox({ limits: { buildsPerHour: 10, buildsPerDay: 1_000 }, jobs: { duration: 1_000 } });
  const token = sandbox.accounts.create(credentials).token('api');
  const options = { baseUrl: 'http://localhost', token, fetch: sandbox.fetch, logLevel: 'off' } as const;
  const client = new AudienceClient({ ...options, maxRetryWait: 24 * HOUR });
  onTestFinished(() => client.close());
  const wait = { timeout: Number.POSITIVE_INFINITY };
  const building = Promise.allSettled(
    Array.from({ length: 80 }, () => client.audiences.createAndWait({ name: 'x' }, { wait })),
  );
  for (let minute = 0; minute < 9 * 60; minute++) await vi.advanceTimersByTimeAsync(60_000);
  expect(new Set((await building).map(({ status }) => status))).toEqual(new Set(['fulfilled']));
  expect(sandbox.log.filter(({ status }) => status === 429).length).toBeLessThan(100);
});

it('a create that cannot wait is refused immediately while others wait in the queue', async () => {
  const { client } = await startSpent();
  const waiting = client.audiences.create({ name: 'Waits' }, { maxRetryWait: 2 * HOUR });
  await vi.advanceTimersByTimeAsync(1_000);
  const error = await failureOf(client.audiences.create({ name: 'Cannot wait' }));
  expect(error).toMatchObject({ name: 'BuildBudgetError', outcome: 'not-sent', attempts: 0 });
  await vi.advanceTimersByTimeAsync(2 * HOUR);
  expect(await waiting).toMatchObject({ name: 'Waits' });
});

it('an aborted create leaves the queue, and the next one is sent', async () => {
  const { client } = await startSpent();
  const abort = new AbortController();
  const options = { maxRetryWait: 2 * HOUR };
  const first = failureOf(client.audiences.create({ name: 'First' }, { ...options, signal: abort.signal }));
  await vi.advanceTimersByTimeAsync(1_000);
  const aborted = failureOf(client.audiences.create({ name: 'Second' }, { ...options, signal: abort.signal }));
  const third = client.audiences.create({ name: 'Third' }, options);
  await vi.advanceTimersByTimeAsync(1_000);
  abort.abort('enough');
  expect([await first, await aborted]).toEqual(['enough', 'enough']);
  await vi.advanceTimersByTimeAsync(2 * HOUR);
  expect(await third).toMatchObject({ name: 'Third' });
  expect((await client.audiences.list()).items.map(({ name }) => name)).toEqual(['Third', 'Two', 'One']);
});

describe('a create that may have happened, and then waits for the build budget', () => {
  /** A service that loses the response of each first attempt, and then refuses builds for `seconds` at a time. */
  function startLossy(seconds: number) {
    const sentAt: number[] = [];
    const lost = new Set<string>();
    const startedAt = Date.now();
    const refusal = { status: 'error', code: 429, message: 'Spent.', data: [] };
    const report = { hour: { limit: 2, used: 2 }, day: { limit: 9, used: 2 }, retry_after_seconds: seconds };
    const usage = { status: 'success', code: 200, message: 'Usage.', data: { build_budget: report } };
    const client = new AudienceClient({
      baseUrl: 'http://localhost',
      token: 't',
      logLevel: 'off',
      maxRetryWait: Number.POSITIVE_INFINITY,
      fetch: (input, init) => {
        if (String(input).includes('usage')) return Promise.resolve(Response.json(usage));
        sentAt.push(Date.now() - startedAt);
        const key = new Headers(init?.headers).get('idempotency-key') ?? '';
        if (!lost.has(key)) return Promise.reject(lost.add(key) && new TypeError('terminated'));
        const headers = { 'retry-after': String(seconds) };
        return Promise.resolve(Response.json(refusal, { status: 429, headers }));
      },
    });
    onTestFinished(() => client.close());
    return { client, sentAt };
  }

  it('ends before its key is 24 hours old, and says that the key is about to expire', async () => {
    // The hold is renewed every five hours, so that no single wait is longer than the key counts.
    const { client, sentAt } = startLossy(5 * 3_600);
    const creates = ['One', 'Two'].map((name) => failureOf(client.audiences.create({ name })));
    for (let hour = 0; hour < 24; hour++) await vi.advanceTimersByTimeAsync(HOUR);
    for (const error of await Promise.all(creates)) {
      expect(error).toMatchObject({ name: 'BuildBudgetError', outcome: 'unknown' });
    }
    expect(Math.max(...sentAt)).toBeLessThan(23 * HOUR);
  });

  it('fails immediately if the budget allows no build while the key counts', async () => {
    const { client, sentAt } = startLossy(30 * 3_600);
    const failing = failureOf(client.audiences.create({ name: 'One' }));
    await vi.advanceTimersByTimeAsync(HOUR);
    expect(await failing).toMatchObject({ name: 'BuildBudgetError', outcome: 'unknown', attempts: 2 });
    expect(sentAt).toHaveLength(2);
  });

  it('waits without a time limit if no earlier attempt can have arrived', async () => {
    const { client } = await startSpent({ maxRetryWait: 48 * HOUR });
    const creating = client.audiences.create({ name: 'Three' });
    await vi.advanceTimersByTimeAsync(2 * HOUR);
    expect(await creating).toMatchObject({ name: 'Three' });
  });
});
