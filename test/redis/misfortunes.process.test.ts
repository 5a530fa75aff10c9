import { describe, expect, it, vi } from 'vitest';
import type { RateLimiter } from '../../src/client/rate-limit/permits.ts';
import { type RedisLimiterOptions, redisLimiter } from '../../src/redis/index.ts';
import type { RateLimits } from '../../src/spec/limits.ts';
import { failureOf } from '../support/server.ts';
import { expectSpaced, READ, share, WINDOW } from './support/shared-bucket.ts';
import { suiteVirtualRedis } from './support/virtual-fleet.ts';

const suite = suiteVirtualRedis();
const FOREGROUND = { scope: 'scope', priority: 'foreground' } as const;
const QUIET = { warn: () => {} };
const AWAY = (): Promise<never> => Promise.reject(new Error('away'));

/** A limiter on a client whose every command has this reply. */
function limiterOn(reply: () => Promise<unknown>, options: RedisLimiterOptions = {}): RateLimiter {
  const rateLimits: Partial<RateLimits> = { read: READ };
  return redisLimiter({ evalSha: reply, eval: reply }, { rateLimits, margin: 50, logger: QUIET, ...options });
}

describe('a pause of a limiter', () => {
  it('holds a caller of the same turn, though the server does not have the script', async () => {
    const { redis, time } = suite();
    const shared = share(() => redis.connect());
    const limiter = shared.process();
    await redis.inspect((server) => server.script('FLUSH'));
    const startedAt = performance.now();
    limiter.pause('read', 'scope', 700);
    await time.until(shared.acquire(limiter, 'paused'));
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(700);
  });

  it('holds a caller whose permit is being reserved', async () => {
    const { redis, time } = suite();
    const shared = share(() => redis.connect());
    const limiter = shared.process();
    const startedAt = performance.now();
    const acquired = shared.acquire(limiter, 'paused');
    await undefined;
    limiter.pause('read', 'scope', 700);
    await time.until(acquired);
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(700);
  });
});

describe('a process', () => {
  it('keeps no timer for callers that have aborted', async () => {
    const { time } = suite();
    const controller = new AbortController();
    const limiter = limiterOn(async () => [0, 60_000, []]);
    const aborted = failureOf(limiter.acquire('read', { ...FOREGROUND, signal: controller.signal }));
    await time.pass(1_000);
    controller.abort('gone');
    expect(await aborted).toBe('gone');
    expect(await time.timersLeft()).toBe(0);
  });

  it('a process that slept while its permits became due reserves new permits', async () => {
    const { redis, time } = suite();
    const shared = share(() => redis.connect());
    const [late, other] = [shared.process(), shared.process()];
    await time.until(Promise.all([1, 2, 3].map((at) => shared.acquire(late, `first ${at}`))));
    const calls = [1, 2, 3].map((at) => shared.acquire(late, `late ${at}`));
    await time.pass(1);
    await time.sleepThrough(2 * WINDOW);
    await time.until(Promise.all([...calls, ...[1, 2, 3].map((at) => shared.acquire(other, `other ${at}`))]));
    expect(shared.granted).toHaveLength(9);
    expectSpaced(shared, READ);
  });
});

describe('while Redis is away', () => {
  it('the other buckets of a cluster are still shared', async () => {
    const warn = vi.fn<(message: string) => void>();
    const evalSha = async (_: string, { keys, arguments: args }: { keys: string[]; arguments: string[] }) => {
      if (String(keys[0]).includes('write')) throw new Error('Connection is closed.');
      return [0, 0, Array.from({ length: Number(args[2]) }, () => 0)];
    };
    const limiter = redisLimiter(
      { evalSha, eval: evalSha },
      { rateLimits: { read: READ, write: READ }, fallback: { processes: 3 }, logger: { warn } },
    );
    const { time } = suite();
    await time.until(limiter.acquire('write', FOREGROUND));
    // More than a share.
    await time.until(Promise.all([1, 2, 3, 4, 5].map(() => limiter.acquire('read', FOREGROUND))));
    expect(warn).toHaveBeenCalledOnce();
    expect(warn).toHaveBeenCalledWith(expect.stringContaining('{write:scope}'));
  });

  it('a bucket whose share is less than one permit keeps it when other buckets are used', async () => {
    const { time } = suite();
    const rateLimits = { read: { limit: 1, interval: 1_000 } };
    const limiter = limiterOn(AWAY, { rateLimits, margin: 0, fallback: { processes: 6 } });
    await time.until(limiter.acquire('read', FOREGROUND));
    const startedAt = performance.now();
    await time.pass(1_500);
    await time.until(limiter.acquire('read', { ...FOREGROUND, scope: 'another' }));
    await time.until(limiter.acquire('read', FOREGROUND));
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(6_000);
  });

  it('a process tries Redis every two seconds', async () => {
    const { time } = suite();
    const reply = vi.fn(AWAY);
    const controller = new AbortController();
    const aborted = failureOf(limiterOn(reply).acquire('read', { ...FOREGROUND, signal: controller.signal }));
    await time.pass(10_500);
    expect(reply).toHaveBeenCalledTimes(6);
    controller.abort('enough');
    expect(await aborted).toBe('enough');
    expect(await time.timersLeft()).toBe(0);
  });

  it('commands that the client queues reserve no permits, except those of the first attempt', async () => {
    const { time } = suite();
    const counts: string[] = [];
    const evalSha = (_: string, { arguments: args }: { arguments: string[] }): Promise<unknown> => {
      counts.push(String(args[2]));
      return counts.length < 4 ? new Promise(() => {}) : Promise.resolve([0, 0, Array(Number(args[2])).fill(0)]);
    };
    const limiter = redisLimiter({ evalSha, eval: evalSha }, { logger: QUIET });
    await time.until(limiter.acquire('read', FOREGROUND));
    expect(counts).toEqual(['1', '0', '0', '0', '1']);
  });

  it('a bucket that is paused grants no permit of the share', async () => {
    const { time } = suite();
    const limiter = limiterOn(AWAY, { fallback: { processes: 1 } });
    await time.until(limiter.acquire('read', FOREGROUND));
    const startedAt = performance.now();
    const acquired = limiter.acquire('read', FOREGROUND);
    limiter.pause('read', 'scope', 700);
    await time.until(acquired);
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(700);
  });

  it('a logger that throws breaks no call', async () => {
    const { time } = suite();
    let isAway = true;
    const warn = vi.fn(() => {
      isAway = false;
      throw new Error('broken');
    });
    const reply = async (): Promise<unknown> => (isAway ? AWAY() : [0, 0, [0]]);
    await time.until(limiterOn(reply, { logger: { warn } }).acquire('read', FOREGROUND));
    expect(warn).toHaveBeenCalledTimes(2);
  });
});

describe('an unexpected reply', () => {
  it.each([[null], ['OK'], [[]], [[0, 0]]])('counts as a failure: %j', async (reply) => {
    const warn = vi.fn<(message: string) => void>();
    const limiter = limiterOn(async () => reply, { fallback: { processes: 1 }, logger: { warn } });
    await suite().time.until(limiter.acquire('read', FOREGROUND));
    expect(warn).toHaveBeenCalledWith(expect.stringMatching(/^Redis failed/));
  });
});
