import { beforeAll, describe, expect, it, vi } from 'vitest';
import type { RateLimiter } from '../../src/rate-limit/rate-limiter.ts';
import { type RedisClient, type RedisLimiterOptions, redisLimiter } from '../../src/redis/index.ts';
import { sharedLog } from '../../src/redis/reserve.ts';
import type { RateLimits } from '../../src/spec/limits.ts';
import { eventually } from '../support/eventually.ts';
import { pass } from '../support/fleet-scene.ts';
import { KINDS } from '../support/redis-clients.ts';
import { startRedis, suiteRedis } from '../support/redis-server.ts';
import { failureOf } from '../support/server.ts';
import { expectSpaced, READ, SPAN, share, warm } from '../support/shared-bucket.ts';

const redis = suiteRedis();
const FOREGROUND = { scope: 'scope', priority: 'foreground' } as const;
const QUIET = { warn: () => {} };

beforeAll(async () => warm(await redis().connect('ioredis')));

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function standStill(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

/** A limiter on a client that answers what it is told to. */
function answeredBy(answer: () => Promise<unknown>, options: RedisLimiterOptions = {}): RateLimiter {
  const rateLimits: Partial<RateLimits> = { read: READ };
  return redisLimiter({ evalSha: answer, eval: answer }, { rateLimits, margin: 50, logger: QUIET, ...options });
}

describe.each(KINDS)('a pause told to a limiter on a client of %s', (kind) => {
  it('holds who asks in the same turn, though the server does not know the script yet', async () => {
    const shared = await share(redis());
    const limiter = await shared.process(kind);
    await shared.ask(limiter, 'loads the other script');
    await shared.inspect.script('FLUSH');
    const began = performance.now();
    limiter.pause('read', 'scope', 700);
    await shared.ask(limiter, 'paused');
    expect(performance.now() - began).toBeGreaterThanOrEqual(600);
  });

  it('holds who is being asked for', async () => {
    const shared = await share(redis());
    const limiter = await shared.process(kind);
    await shared.ask(limiter, 'loads the script');
    const began = performance.now();
    const asked = shared.ask(limiter, 'paused');
    await undefined;
    await undefined;
    limiter.pause('read', 'scope', 700);
    await asked;
    expect(performance.now() - began).toBeGreaterThanOrEqual(600);
  });
});

describe('a process', () => {
  it('keeps no timer for callers that have gone', async () => {
    const timers = (): number => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
    const before = timers();
    const answer = vi.fn(async () => ['1', 0, 0, 60_000]);
    const controller = new AbortController();
    const gone = failureOf(answeredBy(answer).acquire('read', { ...FOREGROUND, signal: controller.signal }));
    while (timers() === before || answer.mock.calls.length === 0) await turn();
    await turn();
    expect(timers()).toBe(before + 1);
    controller.abort('gone');
    expect(await gone).toBe('gone');
    expect(timers()).toBe(before);
  });

  it('that stood still over an answer asks again', async () => {
    const shared = await share(redis());
    const [one, other] = [await shared.process('ioredis'), await shared.process()];
    await Promise.all([one, other].map((limiter) => shared.ask(limiter, 'warm', { scope: 'another' })));
    shared.granted.length = 0;
    const asked = [1, 2, 3].map((at) => shared.ask(one, `held up ${at}`));
    await undefined;
    setImmediate(() => standStill(SPAN + 150));
    await Promise.all(asked);
    await Promise.all([1, 2, 3].map((at) => shared.ask(other, `other ${at}`)));
    expectSpaced(shared, READ);
  });

  it('that stood still over one answer after the other asks again each time', async () => {
    const SIZE_OF_QUESTION = 7;
    let questions = 0;
    const limiter = redisLimiter(
      {
        async evalSha(_: string, { arguments: { length } }: { arguments: string[] }) {
          if (length !== SIZE_OF_QUESTION) return 0;
          if (++questions <= 2) standStill(200);
          return ['1', 0, 0, 0, 0];
        },
        eval: () => Promise.reject(new Error('unknown')),
      },
      { rateLimits: { read: READ }, margin: 50, logger: QUIET },
    );
    await limiter.acquire('read', FOREGROUND);
    expect(questions).toBe(3);
  });

  it('gives back what it was granted too late to hear of it', async () => {
    const server = await startRedis();
    const shared = await share(server);
    await warm(shared.inspect, 5);
    const rateLimits = { read: { limit: 3, interval: 2_500 } };
    const limiter = await shared.process('redis', { rateLimits, logger: QUIET });
    await shared.ask(limiter, 'loads the script', { scope: 'another' });
    server.pause();
    const began = performance.now();
    const asked = [1, 2, 3].map((at) => shared.ask(limiter, String(at)));
    await pass(1_300);
    server.resume();
    await Promise.all(asked);
    // Lost slots would count for an interval from then on.
    expect(performance.now() - began).toBeLessThan(3_300);
  });
});

describe('while Redis is away', () => {
  it('who has had no call for long asks it before it takes a part', async () => {
    const server = await startRedis();
    const shared = await share(server);
    await warm(shared.inspect);
    const options = { fallback: { processes: 2 }, rateLimits: { read: { limit: 4, interval: 400 } }, logger: QUIET };
    const [one, other] = [await shared.process('redis', options), await shared.process('ioredis', options)];
    await Promise.all([one, other].map((limiter) => shared.ask(limiter, 'shared')));
    server.pause();
    await shared.ask(one, 'local');
    await pass(2_500);
    server.resume();
    await pass(1_500);
    shared.granted.length = 0;
    await Promise.all([1, 2, 3, 4].map(() => shared.ask(other, 'other')));
    await Promise.all([1, 2].map(() => shared.ask(one, 'one')));
    expectSpaced(shared, { limit: 4, interval: 400 });
  });

  it('who has taken a part tells so when it is back, also without another call to make', async () => {
    const client = await redis().connect('ioredis');
    const rate = { limit: 6, interval: 2_000 };
    const options = {
      rateLimits: { read: rate },
      margin: 50,
      prefix: 'parts',
      fallback: { processes: 2 },
      logger: QUIET,
    };
    let away = false;
    const reach = async (work: () => Promise<unknown>): Promise<unknown> => {
      if (away) throw new Error('cut off');
      return work();
    };
    const granted: { readonly at: number }[] = [];
    const process = (): (() => Promise<void>) => {
      const reachable: RedisClient = {
        evalsha: (sha: string, keys: number, ...rest: string[]) => reach(() => client.evalsha(sha, keys, ...rest)),
        eval: (script: string, keys: number, ...rest: string[]) => reach(() => client.eval(script, keys, ...rest)),
      };
      const limiter = redisLimiter(reachable, options);
      return async () => {
        await limiter.acquire('read', FOREGROUND);
        granted.push({ at: performance.now() });
      };
    };
    const [one, other] = [process(), process()];
    await Promise.all([one(), other()]);
    away = true;
    await Promise.all([one(), other()]);
    await pass(1_000);
    await Promise.all([one(), one()]);
    away = false;
    const held = (): Promise<string | null> => client.zscore('parts:limit:{read:scope}', 'held');
    await eventually(async () => expect(await held()).not.toBe(null));
    await pass(600);
    await Promise.all([1, 2, 3, 4, 5, 6].map(() => other()));
    const after = granted.slice(-6);
    const before = granted.slice(0, -6).filter(({ at }) => (after[0]?.at ?? 0) - at < rate.interval);
    expect(before).toEqual([]);
  });

  it('of a cluster in part, the buckets of the other part go on', async () => {
    const run = async (key: string, count: number): Promise<unknown> => {
      if (key.includes('write')) throw new Error('Connection is closed.');
      return ['1', 0, 0, 0, ...Array.from({ length: count }, () => 0)];
    };
    const evalSha = (_: string, { keys, arguments: args }: { keys: string[]; arguments: string[] }) =>
      run(String(keys[0]), Number(args[2]));
    const warn = vi.fn();
    const limiter = redisLimiter(
      { evalSha, eval: evalSha },
      { rateLimits: { read: READ, write: READ }, margin: 50, fallback: { processes: 2 }, logger: { warn } },
    );
    let ended = false;
    let reads = 0;
    const reading = (async () => {
      for (; !ended; reads++) await limiter.acquire('read', FOREGROUND).then(() => pass(20));
    })();
    const began = performance.now();
    await limiter.acquire('write', FOREGROUND);
    const took = performance.now() - began;
    ended = true;
    await reading;
    expect(took).toBeLessThan(SPAN + 1_000 + 1_000);
    expect(reads).toBeGreaterThan(20);
    expect(warn).toHaveBeenCalledOnce();
  });

  it('a part of less than a slot is kept when other buckets are used', async () => {
    const limiter = answeredBy(() => Promise.reject(new Error('away')), {
      rateLimits: { read: { limit: 1, interval: 300 } },
      margin: 0,
      fallback: { processes: 6 },
    });
    await limiter.acquire('read', FOREGROUND);
    const began = performance.now();
    await pass(500);
    await limiter.acquire('read', { ...FOREGROUND, scope: 'another' });
    await limiter.acquire('read', FOREGROUND);
    expect(performance.now() - began).toBeGreaterThanOrEqual(1_790);
  });

  it('a logger that fails breaks no call', async () => {
    let away = true;
    const answer = async (): Promise<unknown> => {
      if (away) throw new Error('away');
      return ['1', 0, 0, 0, 0];
    };
    const warn = vi.fn(() => {
      away = false;
      throw new Error('broken');
    });
    await answeredBy(answer, { logger: { warn } }).acquire('read', FOREGROUND);
    expect(warn).toHaveBeenCalledTimes(2);
  });
});

describe('a Redis that has just started', () => {
  it('holds requests back, which is no refusal of the service', async () => {
    const shared = await share(await startRedis());
    const limiter = await shared.process('redis', { rateLimits: { read: { limit: 3, interval: 1_500 } } });
    await shared.ask(limiter, 'first', { maxWait: 100 });
    await shared.ask(limiter, 'second', { maxWait: 100 });
    expect(shared.names()).toEqual(['first', 'second']);
  });

  it('is told of once where it holds them for long', async () => {
    const warn = vi.fn();
    const answer = vi.fn(async () => ['1', 0, 9_000, 9_000]);
    const limiter = answeredBy(answer, { logger: { warn } });
    const controller = new AbortController();
    const waiting = ['one', 'other'].map((scope) =>
      failureOf(limiter.acquire('read', { ...FOREGROUND, scope, signal: controller.signal })),
    );
    await eventually(() => expect(answer).toHaveBeenCalledTimes(2));
    controller.abort('enough');
    expect(await Promise.all(waiting)).toEqual(['enough', 'enough']);
    const told = 'Redis may not know of all requests that were sent, as after a start: the next wait for 9 s.';
    expect(warn.mock.calls).toEqual([[told]]);
  });
});

describe('an answer that is none of the script', () => {
  const wish = { key: 'key', limit: 1, span: 1, count: 1, background: false, id: 'id', known: '', owed: 0 };

  it.each([[null], ['OK'], [[]], [['1']], [['1', 0, 0]], [['1', 0, 0, 'x']], [['1', 0, 0, 0, -5]]])(
    'is an error: %j',
    async (answer) => {
      await expect(sharedLog(async () => answer).reserve(wish)).rejects.toThrow('none of the script');
    },
  );

  it('is not asked for over and over', async () => {
    const answer = vi.fn(() => turn());
    const controller = new AbortController();
    const waiting = failureOf(answeredBy(answer).acquire('read', { ...FOREGROUND, signal: controller.signal }));
    await pass(200);
    controller.abort('enough');
    await waiting;
    expect(answer.mock.calls.length).toBeLessThan(5);
  });
});
