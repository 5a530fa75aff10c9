import { describe, expect, it } from 'vitest';
import type { Priority } from '../../src/client/rate-limit/permits.ts';
import { redisLimiter } from '../../src/redis/index.ts';
import { mostInWindow } from '../support/most-in-window.ts';
import { randomOf } from '../support/seeded.ts';
import { sleep, suiteVirtualRedis } from './support/virtual-fleet.ts';

const MINUTE = 60_000;
const READ = { limit: 120, interval: MINUTE } as const;
const HALF = READ.limit / 2;
const PROCESSES = 10;

const suite = suiteVirtualRedis();

interface Traffic {
  readonly minutes: number;
  /** The priority of the polls. @default 'background' */
  readonly priority?: Priority;
  /** Own reads of each process, which it makes together, about every half minute. */
  readonly own: number;
  /** For how many minutes own reads are made. @default minutes */
  readonly ownMinutes?: number;
}

/** Ten processes that poll all the time, and make own reads. */
async function run({ minutes, priority = 'background', own, ownMinutes = minutes }: Traffic) {
  const { redis, time } = suite();
  const random = randomOf(1);
  const link = { request: () => sleep(random() * 5), reply: () => sleep(random() * 5) };
  const beganAt = performance.now();
  /** When the polls of each process were sent. */
  const polls = Array.from({ length: PROCESSES }, (): number[] => []);
  /** Milliseconds for which each own read was queued. */
  const queued: number[] = [];
  const work = polls.map(async (sentAt) => {
    const limiter = redisLimiter(redis.connect(link), { rateLimits: { read: READ } });
    async function poll(): Promise<void> {
      while (performance.now() - beganAt < minutes * MINUTE) {
        await limiter.acquire('read', { scope: 'token', priority });
        sentAt.push(performance.now());
        await sleep(500 + random() * 1_000);
      }
    }
    async function read(): Promise<void> {
      const since = performance.now();
      await limiter.acquire('read', { scope: 'token', priority: 'foreground' });
      queued.push(performance.now() - since);
    }
    async function readNowAndThen(): Promise<void> {
      while (performance.now() - beganAt < ownMinutes * MINUTE) {
        await sleep(random() * MINUTE);
        await Promise.all(Array.from({ length: own }, read));
      }
    }
    await Promise.all([poll(), readNowAndThen()]);
  });
  await time.until(Promise.all(work));
  const gaps = polls.flatMap((sentAt) => sentAt.slice(1).map((at, before) => at - (sentAt[before] ?? at)));
  return {
    counts: polls.map(({ length }) => length),
    mostPolls: mostInWindow(polls.flat(), READ.interval),
    longestGap: Math.max(...gaps),
    longestQueued: Math.max(...queued),
  };
}

describe('ten processes that poll all the time', () => {
  it('take turns and use half of the limit, while own reads use the other half without a queue', async () => {
    const { counts, mostPolls, longestGap, longestQueued } = await run({ minutes: 3, own: 2 });
    expect(mostPolls).toBeLessThanOrEqual(HALF);
    expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1);
    // A turn of all processes takes 10.2 s.
    expect(longestGap).toBeLessThan(11_000);
    // The latency of Redis.
    expect(longestQueued).toBeLessThanOrEqual(20);
  });

  it('poll at least every two minutes while own reads exceed the limit, and never use more than half afterwards', async () => {
    const { mostPolls, longestGap } = await run({ minutes: 6, own: 30, ownMinutes: 3 });
    expect(mostPolls).toBeLessThanOrEqual(HALF);
    expect(longestGap).toBeLessThan(2 * MINUTE);
  });
});

it('these tests detect polls that own reads have to queue behind', async () => {
  const { mostPolls, longestQueued } = await run({ minutes: 3, own: 2, priority: 'foreground' });
  expect(mostPolls).toBeGreaterThan(HALF);
  expect(longestQueued).toBeGreaterThan(10_000);
});
