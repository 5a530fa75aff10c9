import '../support/nothing-left.ts';
import { describe, expect, it, onTestFinished } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { type Fault, type FaultProxy, startFaultProxy } from '../support/fault-proxy.ts';
import { startBench } from '../support/sandbox.ts';
import { failureOf } from '../support/server.ts';
import { startVirtualTime } from '../support/virtual-time.ts';

/**
 * A service whose first create arrives half immediately and half after `release`: meanwhile it is in flight. With `cut`,
 * its caller loses the connection.
 */
async function startSlow({ cut = false } = {}) {
  const bench = await startBench({ limits: { write: { limit: 1e9, interval: 60_000 } } });
  const { promise: until, resolve: release } = Promise.withResolvers<void>();
  onTestFinished(() => release());
  const faults: Fault[] = [{ kind: 'slow-body', until, cut }];
  const proxy = await startFaultProxy(bench.url, () => faults.shift());
  const token = bench.account.token('api');
  const options = { baseUrl: proxy.url, token, rateLimits: false, backoff: { min: 10, max: 20 } } as const;
  return { ...bench, proxy, release, options, client: bench.connect(options) };
}

/** Starts virtual time that stands still while a request of `counted` is in flight. */
function startCountedTime() {
  let requests = 0;
  const time = startVirtualTime(() => requests > 0);
  onTestFinished(() => time.end());
  const counted: typeof fetch = async (...args) => {
    requests++;
    try {
      return await fetch(...args);
    } finally {
      requests--;
    }
  };
  return { time, counted };
}

const inFlight = (proxy: FaultProxy): Promise<void> => eventually(() => expect(proxy.passed).toHaveLength(1));
const conflicts = (log: readonly { status: number }[]): number => log.filter(({ status }) => status === 409).length;

describe('a create whose key is in flight', () => {
  it('a create whose key is in flight by its own earlier attempt retries, however often, until the response is replayed', async () => {
    const { client, sandbox, release } = await startSlow({ cut: true });
    const creating = client.projects.create({ name: 'Own' }, { maxRetries: 1 }).withResponse();
    await eventually(() => expect(conflicts(sandbox.log)).toBeGreaterThan(3));
    release();
    const { data, attempts } = await creating;
    expect(attempts).toBe(conflicts(sandbox.log) + 2);
    expect((await client.projects.list()).items.map((project) => project.id)).toEqual([data.id]);
  });

  it('a create whose key another call has in flight waits for the response of that call, and returns it', async () => {
    const { client, proxy, sandbox, release } = await startSlow();
    const options = { idempotencyKey: 'shared' };
    const first = client.projects.create({ name: 'Shared' }, options);
    await inFlight(proxy);
    const waiting = client.projects.create({ name: 'Shared' }, options).withResponse();
    await eventually(() => expect(conflicts(sandbox.log)).toBeGreaterThan(1));
    release();
    const second = await waiting;
    expect(second.data).toEqual(await first);
    expect(conflicts(sandbox.log)).toBe(second.attempts - 1);
    expect((await client.projects.list()).items).toHaveLength(1);
  });

  it('a create whose key a call with another body has in flight is refused as soon as the other call has ended', async () => {
    const { client, proxy, sandbox, release } = await startSlow();
    const options = { idempotencyKey: 'shared' };
    const first = client.projects.create({ name: 'First' }, options);
    await inFlight(proxy);
    const second = failureOf(client.projects.create({ name: 'Second' }, options));
    await eventually(() => expect(conflicts(sandbox.log)).toBeGreaterThan(1));
    release();
    const { id } = await first;
    const error = await second;
    expect(error).toMatchObject({ name: 'ConflictError', outcome: 'refused' });
    expect(String(error)).toContain('an earlier request used this key with another body.');
    expect((await client.projects.list()).items).toMatchObject([{ id, name: 'First' }]);
  });

  it('a create whose key is in flight for longer than a minute ends with the outcome unknown, and the replay comes with the same key', async () => {
    const { connect, options, sandbox, release } = await startSlow({ cut: true });
    const { time, counted } = startCountedTime();
    const client = connect({ ...options, fetch: counted, backoff: { min: 1_000, max: 20_000 } });
    const create = () => client.projects.create({ name: 'Own' }, { idempotencyKey: 'k' });
    const startedAt = performance.now();
    const error = await time.until(failureOf(create()));
    expect(performance.now() - startedAt).toBeGreaterThan(60_000);
    expect(error).toMatchObject({ name: 'ConflictError', outcome: 'unknown', idempotencyKey: 'k' });
    release();
    await eventually(() => expect(sandbox.log.some(({ status }) => status === 0 || status === 200)).toBe(true));
    const { id } = await time.until(create());
    time.end();
    expect((await client.projects.list()).items.map((project) => project.id)).toEqual([id]);
  });
});
