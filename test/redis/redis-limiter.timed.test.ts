import { describe, expect, it, vi } from 'vitest';
import { type RedisLimiterOptions, redisLimiter } from '../../src/redis/index.ts';
import type { Bucket } from '../../src/spec/limits.ts';
import { eventually } from '../support/eventually.ts';
import { type Clients, KINDS } from '../support/redis-clients.ts';
import { startRedis, suiteRedis } from '../support/redis-server.ts';
import { failureOf } from '../support/server.ts';
import { expectSpaced, READ, share, WINDOW, written } from './support/shared-bucket.ts';

const redis = suiteRedis();

const scriptRuns = async (inspect: Clients['ioredis']): Promise<number> => {
  const stats = await inspect.info('commandstats');
  return [...stats.matchAll(/cmdstat_eval(?:sha)?:calls=(\d+)/g)].reduce((sum, [, calls]) => sum + Number(calls), 0);
};

describe.each(KINDS)('limiters on clients of %s', (kind) => {
  it('together grant no more than the limit', async () => {
    const shared = await share(redis());
    const limiters = await Promise.all([1, 2, 3].map(() => shared.process(kind)));
    await Promise.all(limiters.flatMap((limiter) => [1, 2, 3].map((at) => shared.acquire(limiter, String(at)))));
    expect(shared.granted).toHaveLength(9);
    expectSpaced(shared, READ);
  });

  it('reserve permits for all waiting callers in one command', async () => {
    const shared = await share(redis());
    const limiter = await shared.process(kind, { rateLimits: { read: { limit: 50, interval: 400 } } });
    await shared.acquire(limiter, 'loads the script', { scope: 'another' });
    const before = await scriptRuns(shared.inspect);
    await Promise.all(Array.from({ length: 50 }, (_, at) => shared.acquire(limiter, String(at))));
    // The first caller does not wait for the others.
    expect((await scriptRuns(shared.inspect)) - before).toBeLessThanOrEqual(2);
  });

  it('do not ask again before a permit can be free', async () => {
    const shared = await share(redis());
    const limiter = await shared.process(kind, { rateLimits: { read: { limit: 1, interval: 1_800 } } });
    await shared.acquire(limiter, 'first');
    const before = await scriptRuns(shared.inspect);
    await Promise.all([1, 2].map((at) => shared.acquire(limiter, `waits ${at}`)));
    // Two for each: one returns when to ask again, one reserves the permit.
    expect((await scriptRuns(shared.inspect)) - before).toBeLessThanOrEqual(4);
    expectSpaced(shared, { limit: 1, interval: 1_800 });
  });

  it('continue when the server has lost its scripts', async () => {
    const shared = await share(redis());
    const limiter = await shared.process(kind);
    await shared.acquire(limiter, 'before');
    await shared.inspect.script('FLUSH');
    await shared.acquire(limiter, 'after');
    await shared.acquire(limiter, 'third');
    await shared.acquire(limiter, 'fourth');
    expect(shared.names()).toEqual(['before', 'after', 'third', 'fourth']);
    expectSpaced(shared, READ);
  });

  it('hold the bucket for a window when its permits were lost, such as by a restored snapshot', async () => {
    const shared = await share(redis());
    const limiter = await shared.process(kind);
    await Promise.all(['first', 'second'].map((name) => shared.acquire(limiter, name)));
    const key = await shared.key();
    const snapshot = await shared.inspect.dumpBuffer(key);
    await shared.acquire(limiter, 'third');
    await shared.inspect.restore(key, 0, snapshot, 'REPLACE');
    const lostAt = performance.now();
    await shared.acquire(limiter, 'fourth');
    expect(performance.now() - lostAt).toBeGreaterThanOrEqual(WINDOW - 20);
  });

  it('all pause when one of them is paused', async () => {
    const shared = await share(redis());
    const [first, second] = [await shared.process(kind), await shared.process(kind)];
    const startedAt = performance.now();
    first.pause('read', 'scope', 700);
    await written(shared);
    await Promise.all([shared.acquire(first, 'own'), shared.acquire(second, 'other')]);
    for (const { at } of shared.granted) expect(at - startedAt).toBeGreaterThanOrEqual(690);
  });
});

describe('a shared bucket', () => {
  it('serves foreground before background callers of a process', async () => {
    const shared = await share(redis());
    const limiter = await shared.process();
    await Promise.all([1, 2, 3].map((at) => shared.acquire(limiter, `first ${at}`)));
    const background = [1, 2].map((at) => shared.acquire(limiter, `background ${at}`, { priority: 'background' }));
    // The background callers have asked Redis.
    await shared.inspect.ping();
    const foreground = [1, 2, 3, 4].map((at) => shared.acquire(limiter, `foreground ${at}`));
    await Promise.all([...background, ...foreground]);
    const waited = shared.names().slice(3);
    expect(waited.slice(0, 4).every((name) => name.startsWith('foreground'))).toBe(true);
    expect(waited.slice(4)).toEqual(['background 1', 'background 2']);
    expectSpaced(shared, READ);
  });

  it('passes the permit of an aborted caller to the next one of its process', async () => {
    const shared = await share(redis());
    const limiter = await shared.process();
    await Promise.all([1, 2, 3].map((at) => shared.acquire(limiter, String(at))));
    const controller = new AbortController();
    const aborted = failureOf(shared.acquire(limiter, 'aborted', { signal: controller.signal }));
    const next = shared.acquire(limiter, 'next');
    const key = await shared.key();
    await eventually(async () => expect(await shared.inspect.zcount(key, Date.now(), '+inf')).toBe(1));
    controller.abort('gone');
    expect(await aborted).toBe('gone');
    await next;
    const [first] = shared.granted;
    expect((shared.granted.at(-1)?.at ?? 0) - (first?.at ?? 0)).toBeLessThan(2 * WINDOW);
    expectSpaced(shared, READ);
  });

  it('reserves nothing for a caller that has already aborted', async () => {
    const shared = await share(redis());
    const limiter = await shared.process();
    await expect(shared.acquire(limiter, 'gone', { signal: AbortSignal.abort('gone') })).rejects.toBe('gone');
    expect(await shared.inspect.keys(`${shared.prefix}:*`)).toEqual([]);
  });

  it('refuses a caller whose maxWait is shorter than a pause, with the end of the pause', async () => {
    const shared = await share(redis());
    const [first, second] = [await shared.process(), await shared.process('ioredis')];
    const startedAt = Date.now();
    first.pause('read', 'scope', 60_000);
    await written(shared);
    const refused = await Promise.all(
      [first, second].map((limiter) => failureOf(shared.acquire(limiter, 'x', { maxWait: 1_000 }))),
    );
    for (const error of refused) {
      expect(error).toMatchObject({ name: 'PauseTooLongError', retryAt: expect.any(Date) });
      const { retryAt } = error instanceof Error && 'retryAt' in error ? error : {};
      const left = retryAt instanceof Date ? retryAt.getTime() - startedAt : 0;
      expect(left).toBeGreaterThan(59_000);
      expect(left).toBeLessThan(61_000);
    }
  });

  it('is separate for each bucket and each token', async () => {
    const shared = await share(redis());
    const limiter = await shared.process('redis', { rateLimits: { read: READ, write: READ } });
    const places: [string, Bucket][] = [
      ['first', 'read'],
      ['first', 'write'],
      ['second', 'read'],
    ];
    const startedAt = performance.now();
    await Promise.all(
      places.flatMap(([scope, bucket]) => [1, 2, 3].map((at) => shared.acquire(limiter, `${at}`, { scope }, bucket))),
    );
    expect((shared.granted.at(-1)?.at ?? 0) - startedAt).toBeLessThan(WINDOW);
    expect(await shared.inspect.keys(`${shared.prefix}:*`)).toHaveLength(3);
  });

  it('is not shared under another prefix', async () => {
    const [mine, yours] = [await share(redis()), await share(redis())];
    const [first, second] = [await mine.process(), await yours.process()];
    const startedAt = performance.now();
    await Promise.all([1, 2, 3].flatMap(() => [mine.acquire(first, ''), yours.acquire(second, '')]));
    expect(performance.now() - startedAt).toBeLessThan(WINDOW);
    const keys = await mine.inspect.keys('*');
    expect(keys.filter((key) => key.startsWith(`${mine.prefix}:`))).toHaveLength(1);
    expect(keys.filter((key) => key.startsWith(`${yours.prefix}:`))).toHaveLength(1);
  });
});

describe('while Redis is away', () => {
  it('each process with a fallback uses its share of the limit', async () => {
    const server = await startRedis();
    const shared = await share(server);
    const warn = vi.fn<(message: string) => void>();
    const options = { fallback: { processes: 3 }, logger: { warn } };
    const limiters = [await shared.process('redis', options), await shared.process('ioredis', options)];
    await Promise.all(limiters.map((limiter) => shared.acquire(limiter, 'shared')));
    await server.kill();
    shared.granted.length = 0;
    await Promise.all(limiters.flatMap((limiter, at) => [1, 2].map(() => shared.acquire(limiter, `process ${at}`))));
    // One each, then one each a window later.
    expect(shared.names().slice(0, 2).toSorted()).toEqual(['process 0', 'process 1']);
    expectSpaced(shared, { limit: 2, interval: WINDOW });
    expect(warn).toHaveBeenCalledTimes(2);
    expect(warn).toHaveBeenCalledWith(expect.stringMatching(/^Redis failed, .*share of the limit/));
    await server.restart();
    await eventually(async () => {
      await Promise.all(limiters.map((limiter) => shared.acquire(limiter, 'again')));
      expect(warn).toHaveBeenCalledTimes(4);
    });
    expect(warn).toHaveBeenLastCalledWith(expect.stringContaining('responds again'));
    shared.granted.length = 0;
    await Promise.all(limiters.flatMap((limiter) => [1, 2, 3].map(() => shared.acquire(limiter, 'after'))));
    expectSpaced(shared, READ);
  });

  it('a process without a fallback waits for it', async () => {
    const server = await startRedis();
    const shared = await share(server);
    const warn = vi.fn<(message: string) => void>();
    const limiter = await shared.process('redis', { logger: { warn } });
    await shared.acquire(limiter, 'before');
    await server.kill();
    const waiting = shared.acquire(limiter, 'after');
    const controller = new AbortController();
    const aborted = failureOf(shared.acquire(limiter, 'aborted', { signal: controller.signal }));
    await eventually(() => expect(warn).toHaveBeenCalledWith(expect.stringMatching(/^Redis failed, .*requests wait/)));
    controller.abort('aborted');
    expect(await aborted).toBe('aborted');
    expect(shared.names()).toEqual(['before']);
    await server.restart();
    await waiting;
    expect(shared.names()).toEqual(['before', 'after']);
  });
});

describe('redisLimiter', () => {
  it('refuses wrong options', async () => {
    const client = await redis().connect('redis');
    const wrong: [string, RedisLimiterOptions][] = [
      ['margin', { margin: -1 }],
      ['margin', { margin: Number.NaN }],
      ['margin', { margin: Number.POSITIVE_INFINITY }],
      ['fallback.processes', { fallback: { processes: 0 } }],
      ['fallback.processes', { fallback: { processes: 1.5 } }],
      ['rateLimits.read', { rateLimits: { read: { limit: 0, interval: 1_000 } } }],
      ['rateLimits.read', { rateLimits: { read: { limit: 1, interval: 0 } } }],
      ['prefix', { prefix: '' }],
      ['prefix', { prefix: 'two{slots}' }],
    ];
    for (const [name, options] of wrong) {
      const problem = expect.objectContaining({ name: 'ConfigurationError', message: expect.stringContaining(name) });
      expect(() => redisLimiter(client, options), name).toThrow(problem);
    }
    for (const [name, json] of [
      ['fallback.processes', '{"fallback":{}}'],
      ['spelled `fallback`', '{"fallBack":{"processes":2}}'],
      ['prefix', '{"prefix":null}'],
    ] as const) {
      expect(() => redisLimiter(client, JSON.parse(json)), json).toThrow(name);
    }
    const notRedis = JSON.parse('{}');
    expect(() => redisLimiter(notRedis)).toThrow(expect.objectContaining({ name: 'ConfigurationError' }));
  });
});
