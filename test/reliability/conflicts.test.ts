import '../support/nothing-left.ts';
import { describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { type Fault, type FaultProxy, startFaultProxy } from '../support/fault-proxy.ts';
import { startBench } from '../support/sandbox.ts';
import { failureOf } from '../support/server.ts';

/** A service whose first create arrives half immediately and half after a while: meanwhile it is in flight. */
async function startSlow(ms: number) {
  const bench = await startBench({ limits: { write: { limit: 1e9, interval: 60_000 } } });
  let first = true;
  const choose = (): Fault | undefined => {
    if (!first) return undefined;
    first = false;
    return { kind: 'slow-body', ms };
  };
  const proxy = await startFaultProxy(bench.url, choose);
  const token = bench.account.token('api');
  const client = bench.connect({ baseUrl: proxy.url, token, rateLimits: false, backoff: { min: 10, max: 20 } });
  return { ...bench, proxy, client };
}

const inFlight = (proxy: FaultProxy): Promise<void> => eventually(() => expect(proxy.passed).toHaveLength(1));
const conflicts = (log: readonly { status: number }[]): number => log.filter(({ status }) => status === 409).length;

describe('a create whose key is in flight', () => {
  it('by its own earlier attempt retries, however often, until the response is replayed', async () => {
    const { client, sandbox } = await startSlow(3_000);
    const { id } = await client.projects.create({ name: 'Own' }, { timeout: 1_000, maxRetries: 1 });
    expect(conflicts(sandbox.log)).toBeGreaterThan(3);
    expect((await client.projects.list()).items.map((project) => project.id)).toEqual([id]);
  });

  it('by another call is a conflict immediately, and creates nothing', async () => {
    const { client, proxy, sandbox } = await startSlow(300);
    const options = { idempotencyKey: 'shared' };
    const first = client.projects.create({ name: 'Shared' }, options);
    await inFlight(proxy);
    const error = await failureOf(client.projects.create({ name: 'Shared' }, options));
    expect(error).toMatchObject({ name: 'ConflictError', idempotencyKey: 'shared', outcome: 'refused', attempts: 1 });
    await first;
    expect(conflicts(sandbox.log)).toBe(1);
    expect((await client.projects.list()).items).toHaveLength(1);
  });

  it('by another call is waited for with `onConflict: "wait"`, and answered with what that call created', async () => {
    const { client, proxy, sandbox } = await startSlow(300);
    const options = { idempotencyKey: 'shared', onConflict: 'wait' } as const;
    const first = client.projects.create({ name: 'Shared' }, options);
    await inFlight(proxy);
    const second = await client.projects.create({ name: 'Shared' }, options).withResponse();
    expect(second.data).toEqual(await first);
    expect(second.attempts).toBeGreaterThan(2);
    expect(conflicts(sandbox.log)).toBe(second.attempts - 1);
  });

  it('for longer than its deadline ends there, with the outcome unknown', async () => {
    const { client } = await startSlow(600);
    const error = await failureOf(client.projects.create({ name: 'Own' }, { timeout: 50, deadline: 250 }));
    expect(error).toMatchObject({ outcome: 'unknown', idempotencyKey: expect.any(String) });
  });
});

describe('a key that was used', () => {
  it('with another body is a conflict immediately, and creates nothing', async () => {
    const { client } = await startBench();
    await client.projects.create({ name: 'One' }, { idempotencyKey: 'k' });
    const error = await failureOf(client.projects.create({ name: 'Two' }, { idempotencyKey: 'k' }));
    expect(error).toMatchObject({ name: 'ConflictError', outcome: 'refused', attempts: 1 });
    expect((await client.projects.list()).items).toHaveLength(1);
  });

  it('with the same body is answered with the same resource for 24 hours, and then creates another', async () => {
    const { client, sandbox } = await startBench();
    const create = () => client.projects.create({ name: 'One' }, { idempotencyKey: 'k' });
    const first = await create();
    await sandbox.advance(24 * 3_600_000 - 1);
    expect(await create()).toEqual(first);
    await sandbox.advance(1);
    expect((await create()).id).not.toBe(first.id);
  });
});
