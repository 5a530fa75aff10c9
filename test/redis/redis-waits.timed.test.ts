import { describe, expect, it } from 'vitest';
import { type Audience, AudienceClient, type ClientOptions } from '../../src/index.ts';
import { type RedisClient, redisWaits } from '../../src/redis/index.ts';
import { eventually } from '../support/eventually.ts';
import { answer } from '../support/job-service.ts';
import { KINDS } from '../support/redis-clients.ts';
import { atSuiteEnd, startRedis, suiteRedis } from '../support/redis-server.ts';
import { failureOf } from '../support/server.ts';
import { wireAudience } from '../support/wire-audience.ts';
import { type SharedService, startSharedService } from './support/shared-waits.ts';

let prefixes = 0;

// Most of their time is waiting for polls.
describe.concurrent.each(KINDS)('clients that share their waits on %s', (kind) => {
  const atEnd = atSuiteEnd();
  const redis = suiteRedis(atEnd);

  async function start(count: number, options: ClientOptions = {}) {
    const prefix = `waits-${prefixes++}`;
    const service = startSharedService(prefix, atEnd);
    const connections = await Promise.all(Array.from({ length: count }, () => redis().connect(kind)));
    return { prefix, service, clients: connections.map((connection) => service.connect(connection, options)) };
  }

  const range = (from: number, count: number): number[] => Array.from({ length: count }, (_, at) => from + at);

  it('have one of them poll for all', async () => {
    const { service, clients } = await start(3);
    for (const id of range(1, 30)) service.set(id, 102);
    const waits = clients.flatMap((client, at) => range(1 + 10 * at, 10).map((id) => client.audiences.wait(id)));
    await eventually(() => expect(service.reads.length).toBeGreaterThan(0));
    for (const id of range(1, 30)) service.set(id, 104);
    const ended = await Promise.all(waits);
    expect(ended.map(({ id }) => id)).toEqual(range(1, 30));
    expect(new Set(service.reads.map(({ by }) => by)).size).toBe(1);
    expect(service.reads.length).toBeLessThan(12);
    expect(clients.map(({ waits }) => waits.size)).toEqual([0, 0, 0]);
  });

  it('pass on each change of a status', async () => {
    const { service, clients } = await start(2);
    service.set(1, 100);
    const leading = clients[0]?.audiences.wait(1);
    await eventually(() => expect(service.reads.length).toBeGreaterThan(0));
    const seen: number[] = [];
    const watching = (async () => {
      for await (const { status } of clients[1]?.audiences.watch(1) ?? []) {
        seen.push(status.id);
        service.set(1, seen.length < 3 ? 101 + seen.length : 104);
      }
    })();
    await Promise.all([leading, watching]);
    expect(seen).toEqual([100, 102, 103, 104]);
    expect(new Set(service.reads.map(({ by }) => by))).toEqual(new Set([0]));
  });

  it('end a wait by an event that another one has received, also for a job of another kind of that list', async () => {
    const { service, clients } = await start(2);
    for (const id of [1, 2]) service.set(id, 102);
    const waits = [clients[0]?.audiences.wait(1), clients[1]?.lookalikes.wait(2)];
    await eventually(() => expect(service.reads.length).toBeGreaterThan(2));
    for (const id of [1, 2]) {
      const data = { ...service.show(id), status: { id: 104, name: 'Completed' } };
      clients[2 - id]?.waits.notify({ type: 'audience.completed', data });
    }
    const ended = await Promise.all(waits);
    expect(ended.map((resource) => resource?.status.id)).toEqual([104, 104]);
  });

  it('end at a status that their contract names, by a poll and by an event', async () => {
    const { service, clients } = await start(2, { contract: { statuses: { 'audience 106': 'failed' } } });
    for (const id of [1, 2]) service.set(id, 102);
    const waits = [1, 2].map((id, at) => failureOf(Promise.resolve(clients[at]?.audiences.wait(id))));
    await eventually(() => expect(service.reads.length).toBeGreaterThan(0));
    const failed = { name: 'JobFailedError', resource: { status: { id: 106 } } };
    service.set(1, 106);
    expect(await waits[0]).toMatchObject(failed);
    service.set(2, 106);
    clients[0]?.waits.notify({ type: 'audience.failed', data: service.show(2) });
    expect(await waits[1]).toMatchObject(failed);
  });

  it('have the leader read the resource of an event that lacks fields', async () => {
    const { service, clients } = await start(2);
    for (const id of [1, 2]) service.set(id, 102);
    const leading = clients[0]?.audiences.wait(1);
    await eventually(() => expect(service.reads.length).toBeGreaterThan(0));
    const following = clients[1]?.audiences.wait(2);
    await eventually(() => expect(service.reads.length).toBeGreaterThan(4));
    service.set(2, 104);
    clients[1]?.waits.notify({ type: 'audience.completed', data: { id: 2, status: { id: 104, name: 'Completed' } } });
    await following;
    expect(new Set(service.reads.map(({ by }) => by))).toEqual(new Set([0]));
    service.set(1, 104);
    await leading;
  });

  it('are led by another one when the leader is closed', async () => {
    const { service, clients } = await start(2);
    for (const id of [1, 2]) service.set(id, 102);
    const failing = failureOf(Promise.resolve(clients[0]?.audiences.wait(1)));
    await eventually(() => expect(service.reads.length).toBeGreaterThan(0));
    const wait = clients[1]?.audiences.wait(2);
    await clients[0]?.close();
    expect(await failing).toMatchObject({ code: 'client-closed' });
    service.set(2, 104);
    expect((await wait)?.id).toBe(2);
    expect(service.reads.at(-1)?.by).toBe(1);
  });

  it('end with the error of the leader when the service does not show it a job', async () => {
    const { service, clients } = await start(2);
    service.set(1, 102);
    const leading = clients[0]?.audiences
      .wait(1)
      .catch((error: unknown) => expect(error).toMatchObject({ code: 'authentication-failed' }));
    await eventually(() => expect(service.reads.length).toBeGreaterThan(0));
    service.interfere = (by, id) => (by === 0 && id === 98 ? answer([], 403) : undefined);
    const failures = [98, 99].map((id) => failureOf(Promise.resolve(clients[1]?.audiences.wait(id))));
    const [forbidden, missing] = await Promise.all(failures);
    expect(forbidden).toMatchObject({ name: 'PermissionError', code: 'permission-denied', status: 403 });
    expect(forbidden).toMatchObject({ operation: 'audiences.get', path: '/api/v2/audiences/98' });
    expect(missing).toMatchObject({ name: 'NotFoundError', code: 'not-found', status: 404 });
    expect(new Set(service.reads.map(({ by }) => by))).toEqual(new Set([0]));
    service.set(1, 104);
    await leading;
  });

  it('read a job that the service did not show again once it exists', async () => {
    const { service, clients } = await start(2);
    service.set(1, 102);
    const leading = clients[0]?.audiences.wait(1);
    await eventually(() => expect(service.reads.length).toBeGreaterThan(0));
    const follow = () => Promise.resolve(clients[1]?.audiences.wait(9));
    expect(await failureOf(follow())).toMatchObject({ code: 'not-found' });
    service.set(9, 104);
    await eventually(async () => expect(await follow()).toMatchObject({ id: 9 }));
    service.set(1, 104);
    await leading;
  });

  it('are led by another one when a callback of the leader throws', async () => {
    const prefix = `waits-${prefixes++}`;
    const service = startSharedService(prefix, atEnd);
    const data = (rows: unknown): unknown => {
      if (JSON.stringify(rows).includes('"id":2,')) throw new Error('a mistake of the leader');
      return rows;
    };
    const [one, other] = [await redis().connect(kind), await redis().connect(kind)];
    const waits = { via: 'get', shared: redisWaits(one, { prefix }) } as const;
    const leader = service.connect(one, { waits, operations: { 'audiences.get': { data } } });
    const follower = service.connect(other);
    for (const id of [1, 2]) service.set(id, 102);
    const leading = leader.audiences.wait(1);
    await eventually(() => expect(service.reads.length).toBeGreaterThan(0));
    const following = follower.audiences.wait(2);
    await eventually(() => expect(service.reads).toContainEqual({ by: 0, id: 2 }));
    for (const id of [1, 2]) service.set(id, 104);
    expect(await following).toMatchObject({ id: 2 });
    expect(await leading).toMatchObject({ id: 1 });
  });

  it('keep an error of the leader from a wait with its own token', async () => {
    const { service, clients } = await start(2);
    for (const id of [1, 9]) service.set(id, 102);
    const leading = clients[0]?.audiences.wait(1);
    await eventually(() => expect(service.reads.length).toBeGreaterThan(0));
    service.interfere = (by, id) => (by === 0 && id !== 1 ? answer([], id === undefined ? 503 : 403) : undefined);
    const own = clients[1]?.audiences.wait(9, { request: { token: 'another-token' } });
    expect(await failureOf(Promise.resolve(clients[1]?.audiences.wait(9)))).toMatchObject({
      code: 'permission-denied',
    });
    service.set(9, 104);
    expect(await own).toMatchObject({ id: 9 });
    service.set(1, 104);
    await leading;
  });

  it('clients of two services on %s do not meet under one prefix', async () => {
    const prefix = `waits-${prefixes++}`;
    const services = ['http://localhost:4001', 'http://localhost:4001/staging', 'http://localhost:4002'].map(
      (baseUrl) => ({
        baseUrl,
        service: startSharedService(prefix, atEnd),
      }),
    );
    const waits = await Promise.all(
      services.map(async ({ baseUrl, service }) => {
        service.set(7, 102);
        return { wait: service.connect(await redis().connect(kind), { baseUrl }).audiences.wait(7) };
      }),
    );
    for (const [at, { service }] of services.entries()) {
      await eventually(() => expect(service.reads.length).toBeGreaterThan(1));
      service.show = (id) => ({ ...wireAudience(id, { id: 104, name: 'Completed' }), name: `Of service ${at}` });
    }
    const ended = await Promise.all(waits.map(({ wait }) => wait));
    expect(ended.map(({ name }) => name)).toEqual(['Of service 0', 'Of service 1', 'Of service 2']);
  });

  it('call `onUpdate` in every process when the resource has changed, and not at each poll', async () => {
    const { service, clients } = await start(2);
    service.set(1, 102);
    const seen: number[][] = [[], []];
    const waits = clients.map((client, at) =>
      client.audiences.wait(1, { onUpdate: ({ status }) => void seen[at]?.push(status.id) }),
    );
    const polls = (): number => service.reads.length;
    await eventually(() => expect(polls()).toBeGreaterThan(3));
    service.set(1, 103);
    const before = polls();
    await eventually(() => expect(polls()).toBeGreaterThan(before + 2));
    await eventually(() =>
      expect(seen).toEqual([
        [102, 103],
        [102, 103],
      ]),
    );
    service.set(1, 104);
    await Promise.all(waits);
    expect(seen).toEqual([
      [102, 103, 104],
      [102, 103, 104],
    ]);
  });

  it('are led by another one when the token of the leader is refused', async () => {
    const { service, clients } = await start(2);
    for (const id of [1, 2]) service.set(id, 102);
    // It fails if its next poll comes before another client waits.
    const leading = clients[0]?.audiences
      .wait(1)
      .catch((error: unknown) => expect(error).toMatchObject({ code: 'authentication-failed' }));
    await eventually(() => expect(service.reads.length).toBeGreaterThan(0));
    service.interfere = (by) => (by === 0 ? answer([], 401) : undefined);
    const following = clients[1]?.audiences.wait(2);
    await eventually(() => expect(service.reads).toContainEqual({ by: 1 }));
    for (const id of [1, 2]) service.set(id, 104);
    expect((await following)?.id).toBe(2);
    await leading;
  });

  it('all fail when all of their tokens are refused', async () => {
    const { service, clients } = await start(2);
    for (const id of [1, 2]) service.set(id, 102);
    service.interfere = () => answer([], 401);
    const failures = clients.map((client, at) => failureOf(client.audiences.wait(at + 1)));
    for (const failure of await Promise.all(failures)) expect(failure).toMatchObject({ code: 'authentication-failed' });
  });

  it('are led by another one when the leader does not reach the service', async () => {
    const { service, clients } = await start(2);
    for (const id of [1, 2]) service.set(id, 102);
    const leading = clients[0]?.audiences.wait(1);
    await eventually(() => expect(service.reads.length).toBeGreaterThan(0));
    service.interfere = (by) => {
      if (by === 0) throw new TypeError('fetch failed');
      return undefined;
    };
    const following = clients[1]?.audiences.wait(2);
    for (const id of [1, 2]) service.set(id, 104);
    expect((await following)?.id).toBe(2);
    expect((await leading)?.id).toBe(1);
    expect(service.warnings.join('\n')).toContain('lets another one do it for a minute');
  });

  it('pass on a resource that lacks a documented field', async () => {
    const { service, clients } = await start(2);
    service.set(1, 102);
    const leading = clients[0]?.audiences.wait(1);
    await eventually(() => expect(service.reads.length).toBeGreaterThan(0));
    const following = clients[1]?.audiences.wait(1);
    service.interfere = (_, id) =>
      id === undefined ? undefined : answer({ ...service.show(id), created_by: undefined });
    service.set(1, 104);
    expect((await following)?.status.id).toBe(104);
    await leading;
  });

  it('receive the end of a job that is shown with an older `updated_at`', async () => {
    const { service, clients } = await start(2);
    service.set(1, 102);
    const waits = clients.map((client) => client.audiences.wait(1));
    await eventually(() => expect(service.reads.length).toBeGreaterThan(1));
    service.set(1, 104);
    service.interfere = (_, id) =>
      id === undefined ? undefined : answer({ ...service.show(id), updated_at: '2020-01-01 00:00:00' });
    for (const ended of await Promise.all(waits)) expect(ended.status.id).toBe(104);
  });

  it('keep a wait when that of a derived client for the same job is aborted', async () => {
    const { service, clients } = await start(2);
    for (const id of [1, 2]) service.set(id, 102);
    const leading = clients[0]?.audiences.wait(2);
    await eventually(() => expect(service.reads.length).toBeGreaterThan(0));
    const abort = new AbortController();
    const kept = clients[1]?.audiences.wait(1);
    const aborted = failureOf(
      Promise.resolve(clients[1]?.withOptions({ timeout: 5_000 }).audiences.wait(1, { signal: abort.signal })),
    );
    await eventually(() => expect(service.reads).toContainEqual({ by: 0 }));
    abort.abort('enough');
    expect(await aborted).toBe('enough');
    for (const id of [1, 2]) service.set(id, 104);
    expect((await kept)?.id).toBe(1);
    await leading;
  });

  it('have a job polled once more before a timeout', async () => {
    const { service, clients } = await start(2);
    service.set(1, 102);
    const leading = clients[0]?.audiences.wait(1);
    await eventually(() => expect(service.reads.length).toBeGreaterThan(0));
    const failure = await failureOf(Promise.resolve(clients[1]?.audiences.wait(1, { timeout: 1_000 })));
    expect(failure).toMatchObject({ code: 'wait-timeout', resource: { status: { id: 102 } } });
    service.set(1, 104);
    await leading;
  });

  it('poll for themselves with request options', async () => {
    const { service, clients } = await start(2);
    for (const id of [1, 2]) service.set(id, 102);
    const leading = clients[0]?.audiences.wait(1);
    await eventually(() => expect(service.reads.length).toBeGreaterThan(0));
    const own = clients[1]?.audiences.wait(2, { request: { headers: { 'x-mine': '1' } } });
    await eventually(() => expect(service.reads).toContainEqual({ by: 1, id: 2 }));
    for (const id of [1, 2]) service.set(id, 104);
    await Promise.all([leading, own]);
  });

  it('leave no resource in Redis for longer than a minute', async () => {
    const { prefix, service, clients } = await start(1);
    service.set(1, 102);
    const wait = clients[0]?.audiences.wait(1);
    const inspector = await redis().connect('ioredis');
    const statesOf = () => inspector.keys(`{${prefix}:*}:states`);
    await expect.poll(statesOf).toHaveLength(1);
    service.set(1, 104);
    await wait;
    await clients[0]?.close();
    const [states = ''] = await statesOf();
    expect(await inspector.pttl(states)).toBeGreaterThan(0);
    expect(await inspector.pttl(states)).toBeLessThanOrEqual(60_000);
  });

  it('store no token', async () => {
    const { prefix, service, clients } = await start(1);
    service.set(1, 102);
    const wait = clients[0]?.audiences.wait(1);
    await eventually(() => expect(service.reads.length).toBeGreaterThan(1));
    const probe = await redis().connect('redis');
    const keys = await probe.keys(`*${prefix}:*`);
    const dumps = await Promise.all(keys.map((key) => probe.dump(key)));
    expect(keys.length).toBeGreaterThan(2);
    expect(dumps.join()).not.toContain('secret-token');
    service.set(1, 104);
    await wait;
  });
});

describe('while Redis fails', () => {
  it('each client polls for its own waits, and shares them again afterwards', async () => {
    const server = await startRedis();
    const service = startSharedService('outage');
    const clients = [service.connect(await server.connect('redis')), service.connect(await server.connect('ioredis'))];
    for (const id of [1, 2, 3, 4]) service.set(id, 102);
    const waits = clients.map((client, at) => client.audiences.wait(at + 1));
    await eventually(() => expect(service.reads.length).toBeGreaterThan(0));
    await server.kill();
    await eventually(() => expect(new Set(service.reads.map(({ by }) => by)).size).toBe(2));
    for (const id of [1, 2]) service.set(id, 104);
    await Promise.all(waits);
    await server.restart();
    const later = clients.map((client, at) => client.audiences.wait(at + 3));
    await eventually(() => expect(service.warnings.join('\n')).toMatch(/Redis failed.*\n[\s\S]*responds again/));
    for (const id of [3, 4]) service.set(id, 104);
    await Promise.all(later);
  });
});

describe('when what the leader learns cannot be published', () => {
  const redis = suiteRedis();

  async function startWith(prefix: string, connect: (by: number) => Promise<RedisClient>) {
    const service = startSharedService(prefix);
    const clients = [service.connect(await connect(0)), service.connect(await connect(1))];
    for (const id of [1, 2]) service.set(id, 102);
    return { service, clients };
  }

  /**
   * Expects that all waits end although Redis is of no use, and that each warning says so or that Redis responds: which
   * of the processes is the leader, and how often, depends on the machine.
   */
  async function expectEnds(service: SharedService, waits: readonly Promise<Audience>[]): Promise<void> {
    await eventually(() => expect(new Set(service.reads.map(({ by }) => by)).size).toBe(2));
    for (const id of [1, 2]) service.set(id, 104);
    expect((await Promise.all(waits)).map(({ id }) => id)).toEqual([1, 2]);
    expect(service.warnings[0]).toMatch(/^Redis failed, so this process polls for its own/);
    for (const warning of service.warnings)
      expect(warning).toMatch(/^Redis (?:failed, so this process|responds again)/);
  }

  it('each process polls alone when a key of the leader holds another type of value', async () => {
    const prefix = `waits-${prefixes++}`;
    const { service, clients } = await startWith(prefix, () => redis().connect('redis'));
    const waits = clients.map((client, at) => client.audiences.wait(at + 1));
    await eventually(() => expect(service.reads.length).toBeGreaterThan(0));
    const probe = await redis().connect('redis');
    const key = `{${prefix}:waits:v2:localhost}:states`;
    await eventually(async () => expect(await probe.exists(key)).toBe(1));
    await probe.set(key, 'not a hash');
    await expectEnds(service, waits);
  });

  it('each process polls alone when an access list forbids the leader to publish', async () => {
    const server = await startRedis();
    const admin = await server.connect('redis');
    await admin.sendCommand(['ACL', 'SETUSER', 'limited', 'on', '>word', '~*', '+@all']);
    const { service, clients } = await startWith(`waits-${prefixes++}`, async () => {
      const limited = await server.connect('redis');
      await limited.sendCommand(['AUTH', 'limited', 'word']);
      return limited;
    });
    const waits = clients.map((client, at) => client.audiences.wait(at + 1));
    await eventually(() => expect(service.reads.length).toBeGreaterThan(0));
    await admin.sendCommand(['ACL', 'SETUSER', 'limited', '-hset']);
    await expectEnds(service, waits);
  });
});

describe('options that cannot work', () => {
  it.each([{}, { prefix: '' }, { prefix: 'a{b}' }, { prefix: 'a', other: 1 }])('%o is refused', (options) => {
    const connection = { eval: async () => [], evalSha: async () => [] };
    // @ts-expect-error Wrong options.
    expect(() => redisWaits(connection, options)).toThrow(/prefix|redisWaits/);
  });

  it('`shared` must be what `redisWaits` returns', () => {
    // @ts-expect-error Not shared waits.
    const create = (): AudienceClient => new AudienceClient({ baseUrl: 'http://localhost', waits: { shared: {} } });
    expect(create).toThrow(/redisWaits/);
  });
});
