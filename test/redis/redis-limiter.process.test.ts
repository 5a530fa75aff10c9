import { describe, expect, it, vi } from 'vitest';
import { type RedisLimiterOptions, redisLimiter } from '../../src/redis/index.ts';
import type { Bucket } from '../../src/spec/limits.ts';
import { failureOf } from '../support/server.ts';
import type { Link } from '../support/virtual-redis.ts';
import { expectSpaced, READ, share, WINDOW } from './support/shared-bucket.ts';
import { sleep, suiteVirtualRedis } from './support/virtual-fleet.ts';

const suite = suiteVirtualRedis();

/** A bucket that limiters of this test share, in virtual time. */
function shareHere(link?: Link) {
  const { redis, time } = suite();
  const shared = share(() => redis.connect(link));
  const keys = (): Promise<string[]> => redis.inspect((server) => server.keys(`${shared.prefix}:*`));
  return {
    ...shared,
    redis,
    time,
    keys,
    /** Returns the number of permits that are reserved for the future. */
    async reserved(): Promise<number> {
      const [key = ''] = await keys();
      return redis.inspect((server) => server.zcount(key, Date.now() + 1, '+inf'));
    },
  };
}

describe('limiters that share a bucket', () => {
  it('together grant no more than the limit', async () => {
    const shared = shareHere();
    const limiters = [1, 2, 3].map(() => shared.process());
    const all = limiters.flatMap((limiter) => [1, 2, 3].map((at) => shared.acquire(limiter, String(at))));
    await shared.time.until(Promise.all(all));
    expect(shared.granted).toHaveLength(9);
    expectSpaced(shared, READ);
  });

  it('reserve permits for all waiting callers in one command', async () => {
    const { redis, time, process, acquire } = shareHere();
    const limiter = process({ rateLimits: { read: { limit: 50, interval: 400 } } });
    const before = redis.commands;
    await time.until(Promise.all(Array.from({ length: 50 }, (_, at) => acquire(limiter, String(at)))));
    // The first caller does not wait for the others.
    expect(redis.commands - before).toBeLessThanOrEqual(2);
  });

  it('do not ask again before a permit can be free', async () => {
    const { redis, time, process, acquire, ...shared } = shareHere();
    const limiter = process({ rateLimits: { read: { limit: 1, interval: 1_800 } } });
    await time.until(acquire(limiter, 'first'));
    const before = redis.commands;
    await time.until(Promise.all([1, 2].map((at) => acquire(limiter, `waits ${at}`))));
    // Two for each: one returns when to ask again, one reserves the permit.
    expect(redis.commands - before).toBeLessThanOrEqual(4);
    expectSpaced({ process, acquire, ...shared }, { limit: 1, interval: 1_800 });
  });

  it('hold the bucket for a window when its permits were lost, such as by a restored snapshot', async () => {
    const { redis, time, process, acquire, keys } = shareHere();
    const limiter = process();
    await time.until(Promise.all(['first', 'second'].map((name) => acquire(limiter, name))));
    const [key = ''] = await keys();
    const snapshot = await redis.inspect((server) => server.dumpBuffer(key));
    await time.until(acquire(limiter, 'third'));
    await redis.inspect((server) => server.restore(key, 0, snapshot, 'REPLACE'));
    const lostAt = performance.now();
    await time.until(acquire(limiter, 'fourth'));
    expect(performance.now() - lostAt).toBeGreaterThanOrEqual(WINDOW - 20);
  });

  it('all pause when one of them is paused', async () => {
    const { time, process, acquire, granted } = shareHere();
    const [first, second] = [process(), process()];
    const startedAt = performance.now();
    first.pause('read', 'scope', 700);
    await time.pass(1);
    await time.until(Promise.all([acquire(first, 'own'), acquire(second, 'other')]));
    for (const { at } of granted) expect(at - startedAt).toBeGreaterThanOrEqual(700);
  });
});

describe('a shared bucket', () => {
  it('serves background callers with at most half of the permits of a window', async () => {
    const { time, process, acquire, ...shared } = shareHere();
    const limiter = process();
    await time.until(Promise.all([1, 2, 3].map((at) => acquire(limiter, `first ${at}`))));
    const background = [1, 2].map((at) => acquire(limiter, `background ${at}`, { priority: 'background' }));
    // The background callers have asked Redis.
    await time.pass(1);
    const foreground = [1, 2, 3, 4].map((at) => acquire(limiter, `foreground ${at}`));
    await time.until(Promise.all([...background, ...foreground]));
    const waited = shared.names().slice(3);
    // Half of three permits in a window, rounded down.
    const [ofOne, ofTwo] = [waited.slice(0, 3), waited.slice(3)];
    expect(ofOne.toSorted()).toEqual(['background 1', 'foreground 1', 'foreground 2']);
    expect(ofTwo.toSorted()).toEqual(['background 2', 'foreground 3', 'foreground 4']);
    expectSpaced({ process, acquire, ...shared }, READ);
  });

  it('passes the permit of an aborted caller to the next one of its process', async () => {
    const { time, process, acquire, granted, reserved } = shareHere();
    const limiter = process();
    await time.until(Promise.all([1, 2, 3].map((at) => acquire(limiter, String(at)))));
    const controller = new AbortController();
    const aborted = failureOf(acquire(limiter, 'aborted', { signal: controller.signal }));
    const next = acquire(limiter, 'next');
    await time.pass(1);
    expect(await reserved()).toBeGreaterThan(0);
    controller.abort('gone');
    expect(await aborted).toBe('gone');
    await time.until(next);
    const [first] = granted;
    expect((granted.at(-1)?.at ?? 0) - (first?.at ?? 0)).toBeLessThan(2 * WINDOW);
  });

  it('reserves nothing for a caller that has already aborted', async () => {
    const { process, acquire, keys } = shareHere();
    await expect(acquire(process(), 'gone', { signal: AbortSignal.abort('gone') })).rejects.toBe('gone');
    expect(await keys()).toEqual([]);
  });

  it('refuses a caller whose maxWait is shorter than a pause, with the end of the pause', async () => {
    const { time, process, acquire } = shareHere();
    const [first, second] = [process(), process()];
    const startedAt = Date.now();
    first.pause('read', 'scope', 60_000);
    await time.pass(1);
    for (const limiter of [first, second]) {
      const error = await time.until(failureOf(acquire(limiter, 'x', { maxWait: 1_000 })));
      expect(error).toMatchObject({ name: 'PauseTooLongError', retryAt: expect.any(Date) });
      const { retryAt } = error instanceof Error && 'retryAt' in error ? error : {};
      const left = retryAt instanceof Date ? retryAt.getTime() - startedAt : 0;
      expect(left).toBeGreaterThan(59_000);
      expect(left).toBeLessThan(61_000);
    }
  });

  it('is separate for each bucket and each token', async () => {
    const { time, process, acquire, granted, keys } = shareHere();
    const limiter = process({ rateLimits: { read: READ, write: READ } });
    const places: [string, Bucket][] = [
      ['first', 'read'],
      ['first', 'write'],
      ['second', 'read'],
    ];
    const startedAt = performance.now();
    const all = places.flatMap(([scope, bucket]) =>
      [1, 2, 3].map((at) => acquire(limiter, `${at}`, { scope }, bucket)),
    );
    await time.until(Promise.all(all));
    expect((granted.at(-1)?.at ?? 0) - startedAt).toBeLessThan(WINDOW);
    expect(await keys()).toHaveLength(3);
  });

  it('is not shared under another prefix', async () => {
    const [mine, yours] = [shareHere(), shareHere()];
    const [first, second] = [mine.process(), yours.process()];
    const startedAt = performance.now();
    await mine.time.until(Promise.all([1, 2, 3].flatMap(() => [mine.acquire(first, ''), yours.acquire(second, '')])));
    expect(performance.now() - startedAt).toBeLessThan(WINDOW);
    expect([await mine.keys(), await yours.keys()]).toEqual([[expect.anything()], [expect.anything()]]);
  });
});

describe('while Redis is away', () => {
  it('each process with a fallback uses its share of the limit', async () => {
    let isAway = false;
    const request = (): Promise<void> => (isAway ? Promise.reject(new Error('closed')) : Promise.resolve());
    const { time, process, acquire, granted, ...shared } = shareHere({ request });
    const warn = vi.fn<(message: string) => void>();
    const limiters = [1, 2].map(() => process({ fallback: { processes: 3 }, logger: { warn } }));
    await time.until(Promise.all(limiters.map((limiter) => acquire(limiter, 'shared'))));
    isAway = true;
    granted.length = 0;
    await time.until(
      Promise.all(limiters.flatMap((limiter, at) => [1, 2].map(() => acquire(limiter, `process ${at}`)))),
    );
    // One each, then one each a window later.
    expect(shared.names().slice(0, 2).toSorted()).toEqual(['process 0', 'process 1']);
    expectSpaced({ process, acquire, granted, ...shared }, { limit: 2, interval: WINDOW });
    expect(warn).toHaveBeenCalledTimes(2);
    expect(warn).toHaveBeenCalledWith(expect.stringMatching(/^Redis failed, .*share of the limit/));
    isAway = false;
    await time.pass(2_000);
    await time.until(Promise.all(limiters.map((limiter) => acquire(limiter, 'again'))));
    expect(warn).toHaveBeenCalledTimes(4);
    expect(warn).toHaveBeenLastCalledWith(expect.stringContaining('responds again'));
  });

  it('a process without a fallback waits for it', async () => {
    let isAway = false;
    const request = async (): Promise<void> => {
      if (isAway) await sleep(60_000);
    };
    const { time, process, acquire, names } = shareHere({ request });
    const warn = vi.fn<(message: string) => void>();
    const limiter = process({ logger: { warn } });
    await time.until(acquire(limiter, 'before'));
    await time.pass(WINDOW);
    isAway = true;
    const waiting = acquire(limiter, 'after');
    const controller = new AbortController();
    const aborted = failureOf(acquire(limiter, 'aborted', { signal: controller.signal }));
    await time.pass(2_000);
    expect(warn).toHaveBeenCalledWith(expect.stringMatching(/^Redis failed, .*requests wait/));
    controller.abort('aborted');
    expect(await aborted).toBe('aborted');
    expect(names()).toEqual(['before']);
    isAway = false;
    await time.until(waiting);
    expect(names()).toEqual(['before', 'after']);
  });
});

describe('redisLimiter', () => {
  it('refuses wrong options', () => {
    const client = suite().redis.connect();
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
