import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { Outage } from '../../src/redis/health.ts';
import { type RedisLimiterOptions, redisLimiter } from '../../src/redis/index.ts';
import { eventually } from '../support/eventually.ts';
import { pass } from '../support/fleet-scene.ts';

const RATE = { limit: 4, interval: 400 } as const;
const SPAN = RATE.interval + 50;
const FOREGROUND = { scope: 'scope', priority: 'foreground' } as const;
const OPTIONS: RedisLimiterOptions = { rateLimits: { read: RATE }, margin: 50, logger: { warn: () => {} } };
const SHARING: RedisLimiterOptions = { ...OPTIONS, fallback: { processes: 2 } };

/** Answers a question for slots with as many, due at once. */
const all = (count: string | undefined): unknown[] => ['1', 0, 0, 0, ...Array.from({ length: Number(count) }, () => 0)];

/** A Redis that can be away; `probed` may answer those that ask how things stand. */
function scene(options: RedisLimiterOptions, probed?: () => Promise<unknown> | undefined) {
  const state = { away: false };
  const questions: string[][] = [];
  const run = async (_: string, { arguments: args }: { arguments: string[] }): Promise<unknown> => {
    const [, , count] = args;
    const answer = args.length > 3 && count === '0' ? probed?.() : undefined;
    if (answer) return answer;
    if (state.away) throw new Error('away');
    questions.push(args);
    return all(args.length > 3 ? count : '0');
  };
  const limiter = redisLimiter({ evalSha: run, eval: run }, options);
  return { state, questions, limiter, ask: () => limiter.acquire('read', FOREGROUND) };
}

type Scene = ReturnType<typeof scene>;

/** One asks in vain, and gives up after a while. */
async function askInVain({ limiter }: Scene, patience: () => Promise<unknown> = () => pass(30)): Promise<void> {
  const controller = new AbortController();
  const asked = limiter.acquire('read', { ...FOREGROUND, signal: controller.signal });
  await patience();
  controller.abort('gone');
  await expect(asked).rejects.toBe('gone');
}

async function timeOf(work: Promise<void>): Promise<number> {
  const began = performance.now();
  await work;
  return performance.now() - began;
}

describe('a caller', () => {
  it('that comes in any moment in which a try fails is served', async () => {
    const moments = Array.from({ length: 40 }, async (_, moment) => {
      const probe = Promise.withResolvers<unknown>();
      const probed = vi.fn(() => (redis.state.away ? probe.promise : undefined));
      const redis = scene(OPTIONS, probed);
      redis.state.away = true;
      await askInVain(redis, () => eventually(() => expect(probed).toHaveBeenCalled()));
      redis.state.away = false;
      const [late, steps] = [moment % 2 === 0, moment >> 1];
      if (late) probe.reject(new Error('away'));
      const coming = (async () => {
        for (let step = 0; step < steps; step++) await undefined;
        await redis.ask();
      })();
      if (!late) probe.reject(new Error('away'));
      await Promise.race([
        coming,
        pass(3_000).then(() => Promise.reject(new Error(`waits for ever: moment ${moment}`))),
      ]);
    });
    await Promise.all(moments);
  });

  it('takes no part of a bucket that is paused in the same moment', async () => {
    const redis = scene(SHARING);
    redis.state.away = true;
    await redis.ask();
    const asked = redis.ask();
    redis.limiter.pause('read', 'scope', 700);
    expect(await timeOf(asked)).toBeGreaterThanOrEqual(690);
  });

  it('waits for what others may have been granted since the last try failed', async () => {
    const redis = scene(SHARING);
    redis.state.away = true;
    await askInVain(redis);
    redis.state.away = false;
    // Others have it to themselves.
    await pass(5_000);
    redis.state.away = true;
    expect(await timeOf(redis.ask())).toBeGreaterThanOrEqual(SPAN + 1_000);
  });
});

describe('a part that was taken', () => {
  const long: RedisLimiterOptions = { ...SHARING, rateLimits: { read: { limit: 4, interval: 2_000 } } };
  const told = ({ questions }: Scene): string[][] => questions.filter((args) => args.includes('local'));

  it('while a try was under way is told of after it', async () => {
    let tried: (() => void) | undefined;
    const probe = Promise.withResolvers<unknown>();
    const redis = scene(long, () => {
      tried?.();
      return tried && redis.state.away ? probe.promise : undefined;
    });
    redis.state.away = true;
    await redis.ask();
    await new Promise<void>((resolve) => {
      tried = resolve;
    });
    await redis.ask();
    redis.state.away = false;
    probe.resolve(all('0'));
    await eventually(() => expect(told(redis)).toHaveLength(1));
  });

  it('is told of also when a pause was told before', async () => {
    const redis = scene(long);
    redis.state.away = true;
    await redis.ask();
    redis.state.away = false;
    redis.limiter.pause('read', 'scope', 10);
    await eventually(() => expect(told(redis)).toHaveLength(1));
  });
});

it('an outage that its bucket has not outlived is over, and the next one is told of', () => {
  let now = 0;
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now);
  onTestFinished(() => clock.mockRestore());
  const warn = vi.fn();
  const outage = new Outage({ warn }, 'requests wait');
  const [gone, other] = [{ idle: () => true }, { idle: () => false }];
  outage.failed(gone, new Error('away'));
  now += 1_000;
  outage.end(other);
  expect(warn).toHaveBeenCalledTimes(1);
  now += 60_000;
  outage.end(other);
  expect(warn).toHaveBeenCalledTimes(2);
  expect(warn).toHaveBeenLastCalledWith(expect.stringContaining('again'));
  outage.failed(other, new Error('away'));
  expect(warn).toHaveBeenCalledTimes(3);
});
