import { describe, expect, it, vi } from 'vitest';
import { AudienceClient, type KeptOutcome } from '../../src/index.ts';
import { eventually } from '../support/eventually.ts';
import { KINDS } from '../support/redis-clients.ts';
import { startRedis, suiteRedis } from '../support/redis-server.ts';
import { failureOf } from '../support/server.ts';
import { startSharedService } from '../support/shared-waits.ts';

let prefixes = 0;

describe.each(KINDS)('a kept wait on %s', { timeout: 60_000 }, (kind) => {
  const redis = suiteRedis();

  async function start(count: number) {
    const service = startSharedService(`kept-${prefixes++}`);
    const connections = await Promise.all(Array.from({ length: count }, () => redis().connect(kind)));
    const clients = connections.map((connection) => service.connect(connection));
    return { service, clients, client: clients[0] as AudienceClient };
  }

  /** Records the outcomes that a handler of `client` receives. */
  function record(client: AudienceClient, name = 'report') {
    const outcomes: { readonly outcome: KeptOutcome; readonly data: unknown }[] = [];
    client.waits.handle(name, (outcome, data) => void outcomes.push({ outcome, data }));
    return outcomes;
  }

  it('is handled by a process that has not kept it, once, with the state of the job', async () => {
    const { service, clients, client } = await start(3);
    service.set(1, 102);
    const id = await client.waits.keep({ kind: 'audience', id: 1 }, { handler: 'report', data: { to: 'ann' } });
    await client.close();
    const handled = clients.slice(1).map((other) => record(other));
    await eventually(() => expect(service.reads.length).toBeGreaterThan(0));
    expect(await clients[1]?.waits.kept()).toEqual([
      { id, kind: 'audience', jobId: 1, handler: 'report', data: { to: 'ann' } },
    ]);
    service.set(1, 104);
    await eventually(() => expect(handled.flat()).toHaveLength(1));
    const outcome = { id, kind: 'audience', jobId: 1, status: 'completed', attempt: 1, resource: { id: 1 } };
    expect(handled.flat()).toMatchObject([{ outcome, data: { to: 'ann' } }]);
    await eventually(async () => expect(await clients[1]?.waits.kept()).toEqual([]));
    expect(handled.flat()).toHaveLength(1);
  });

  it('is handled immediately if its job is known to have ended', async () => {
    const { service, client } = await start(1);
    service.set(1, 102);
    const wait = client.audiences.wait(1);
    await eventually(() => expect(service.reads.length).toBeGreaterThan(0));
    service.set(1, 104);
    await wait;
    const outcomes = record(client);
    await client.waits.keep({ kind: 'audience', id: 1 }, { handler: 'report' });
    await eventually(() => expect(outcomes).toMatchObject([{ outcome: { status: 'completed' }, data: null }]));
  });

  it('ends by an event that any process receives', async () => {
    const { service, clients, client } = await start(2);
    service.set(1, 102);
    const outcomes = record(client);
    await client.waits.keep({ kind: 'audience', id: 1 }, { handler: 'report' });
    await eventually(() => expect(service.reads.length).toBeGreaterThan(0));
    const data = { ...service.show(1), status: { id: 404, name: 'Failed' } };
    clients[1]?.waits.notify({ type: 'audience.failed', data });
    await eventually(() => expect(outcomes).toMatchObject([{ outcome: { status: 'failed' } }]));
  });

  it('times out, and is unreadable if the service does not know the job', async () => {
    const { service, client } = await start(1);
    service.set(1, 102);
    const outcomes = record(client);
    await client.waits.keep({ kind: 'audience', id: 1 }, { handler: 'report', timeout: 300 });
    await client.waits.keep({ kind: 'audience', id: 99 }, { handler: 'report' });
    await eventually(() => expect(outcomes).toHaveLength(2));
    const statuses = outcomes.map(({ outcome }) => [outcome.jobId, outcome.status]);
    expect(Object.fromEntries(statuses)).toEqual({ 1: 'timed-out', 99: 'unreadable' });
  });

  it('is handled again after its handler has failed', async () => {
    const { service, client } = await start(1);
    service.set(1, 104);
    const attempts: number[] = [];
    client.waits.handle('report', ({ attempt }) => {
      attempts.push(attempt);
      if (attempt === 1) throw new Error('The mail server is down');
    });
    await client.waits.keep({ kind: 'audience', id: 1 }, { handler: 'report' });
    await eventually(() => expect(attempts).toEqual([1, 2]));
    expect(service.warnings.join()).toMatch(/handler 'report' of the kept wait .* failed.*The mail server is down/);
  });

  it('is kept once under an id, and not handled after it was dropped', async () => {
    const { service, client } = await start(1);
    service.set(1, 104);
    for (const data of [1, 2]) {
      await client.waits.keep({ kind: 'audience', id: 1 }, { handler: 'report', data, id: 'mine' });
    }
    expect(await client.waits.kept()).toMatchObject([{ id: 'mine', data: 1 }]);
    expect(await client.waits.drop('mine')).toBe(true);
    expect(await client.waits.drop('mine')).toBe(false);
    await client.waits.keep({ kind: 'audience', id: 1 }, { handler: 'report', data: 3 });
    const outcomes = record(client);
    await eventually(() => expect(outcomes.map(({ data }) => data)).toEqual([3]));
  });

  it('waits for a process that has its handler', async () => {
    const { service, clients, client } = await start(2);
    service.set(1, 104);
    const others = record(client, 'other');
    await client.waits.keep({ kind: 'audience', id: 1 }, { handler: 'report' });
    await client.waits.keep({ kind: 'audience', id: 1 }, { handler: 'other' });
    await eventually(() => expect(others).toHaveLength(1));
    const outcomes = record(clients[1] as AudienceClient);
    await eventually(() => expect(outcomes).toHaveLength(1));
  });

  it('is handled although many others have no handler', async () => {
    const { service, client } = await start(1);
    service.set(1, 104);
    const first = record(client, 'first');
    await client.waits.keep({ kind: 'audience', id: 1 }, { handler: 'first' });
    await eventually(() => expect(first).toHaveLength(1));
    const others = Array.from({ length: 1_100 }, () =>
      client.waits.keep({ kind: 'audience', id: 1 }, { handler: 'unknown' }),
    );
    await Promise.all(others);
    await client.waits.keep({ kind: 'audience', id: 1 }, { handler: 'first' });
    await eventually(() => expect(first).toHaveLength(2));
    expect(await client.waits.kept()).toHaveLength(1_100);
  });

  it('`close` waits for the running handlers, whose signal aborts', async () => {
    const { service, client } = await start(1);
    service.set(1, 104);
    const begun = Promise.withResolvers<AbortSignal>();
    const end = vi.fn();
    client.waits.handle('report', async ({ signal }) => {
      begun.resolve(signal);
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      end();
    });
    await client.waits.keep({ kind: 'audience', id: 1 }, { handler: 'report' });
    await begun.promise;
    await client.close();
    expect(end).toHaveBeenCalledOnce();
  });
});

describe('a kept wait that cannot be kept', () => {
  it('needs shared waits, a known kind, a handler, and data that JSON can hold', async () => {
    const alone = new AudienceClient({ baseUrl: 'http://localhost', token: 'token' });
    const target = { kind: 'audience', id: 1 } as const;
    expect(await failureOf(alone.waits.keep(target, { handler: 'report' }))).toMatchObject({
      code: 'configuration-invalid',
      message: expect.stringContaining('redisWaits'),
    });
    // @ts-expect-error An unknown kind.
    expect(await failureOf(alone.waits.keep({ kind: 'order', id: 1 }, { handler: 'report' }))).toMatchObject({
      message: expect.stringContaining('`kind` must be one of'),
    });
    const connection = { eval: async () => [], evalSha: async () => [] };
    const { waits } = startSharedService('kept-options').connect(connection);
    expect(await failureOf(waits.keep(target, { handler: '' }))).toMatchObject({
      message: expect.stringContaining('handler'),
    });
    expect(await failureOf(waits.keep(target, { handler: 'a', data: 1n }))).toMatchObject({
      message: expect.stringContaining('JSON'),
    });
    expect(await failureOf(waits.keep({ kind: 'audience', id: -1 }, { handler: 'a' }))).toMatchObject({
      message: expect.stringContaining('`id` must be'),
    });
    expect(() => waits.handle('', () => {})).toThrow(/name/);
    for (const id of ['a\nb', '\ud83d', 'x'.repeat(201)]) {
      expect(await failureOf(waits.keep(target, { handler: 'a', id }))).toMatchObject({
        message: expect.stringContaining('1 to 200 characters'),
      });
    }
  });

  it('fails if Redis does not store it within four seconds', { timeout: 30_000 }, async () => {
    const server = await startRedis();
    const service = startSharedService('kept-outage');
    const client = service.connect(await server.connect('redis'));
    await server.kill();
    const failure = await failureOf(client.waits.keep({ kind: 'audience', id: 1 }, { handler: 'report' }));
    expect(failure).toMatchObject({ code: 'connection-failed', message: expect.stringContaining('kept waits') });
  });
});
