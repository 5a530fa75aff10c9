import '../support/nothing-left.ts';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createRateLimiter, withMargin } from '../../src/client/rate-limit/rate-limiter.ts';
import type { ClientOptions } from '../../src/index.ts';
import { RATE_LIMITS } from '../../src/spec/limits.ts';
import { mostInWindow } from '../support/most-in-window.ts';
import { seeded } from '../support/seeded.ts';
import { clientOf } from '../support/server.ts';
import { runs } from '../support/volume.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A request: when it is made, how long it travels, who it yields to, and whether it is given up. */
interface Arrival {
  readonly at: number;
  readonly latency: number;
  readonly priority: 'foreground' | 'background';
  readonly abortAfter: number | undefined;
}

/** The result of a request. Milliseconds since the start. */
interface Grant extends Arrival {
  readonly order: number;
  readonly asked: number;
  readonly granted: number;
  readonly arrived: number;
}

const MARGIN_OF = (interval: number): number => withMargin(interval) - interval;

/** Lets requests arrive in virtual time; returns those that were granted, in order of their grant. */
async function run(limit: number, interval: number, arrivals: readonly Arrival[]): Promise<Grant[]> {
  const limiter = createRateLimiter({ ...RATE_LIMITS, read: { limit, interval } });
  const grants: Grant[] = [];
  const started = performance.now();
  const now = (): number => performance.now() - started;
  const all = [...arrivals]
    .sort((a, b) => a.at - b.at)
    .map((arrival, order) => {
      const controller = new AbortController();
      const ask = async (): Promise<void> => {
        await new Promise((resolve) => setTimeout(resolve, arrival.at));
        if (arrival.abortAfter !== undefined) setTimeout(() => controller.abort(), arrival.abortAfter);
        const asked = now();
        const { priority } = arrival;
        await limiter.acquire('read', { scope: 's', priority, signal: controller.signal });
        grants.push({ ...arrival, order, asked, granted: now(), arrived: now() + arrival.latency });
      };
      return ask().catch(() => {});
    });
  await vi.runAllTimersAsync();
  await Promise.all(all);
  return grants;
}

/** The most requests in a fixed window, whatever its phase. */
function mostInFixedWindow(times: readonly number[], interval: number, phase: number): number {
  const counts = new Map<number, number>();
  for (const time of times) {
    const window = Math.floor((time + phase) / interval);
    counts.set(window, (counts.get(window) ?? 0) + 1);
  }
  return Math.max(0, ...counts.values());
}

/** How many a token bucket of the same figures would refuse. */
function refusedByTokenBucket(times: readonly number[], limit: number, interval: number): number {
  let tokens = limit;
  let last = 0;
  let refused = 0;
  for (const time of [...times].sort((a, b) => a - b)) {
    tokens = Math.min(limit, tokens + ((time - last) * limit) / interval);
    last = time;
    // Sums of fractions lose a little.
    if (tokens >= 1 - 1e-6) tokens--;
    else refused++;
  }
  return refused;
}

const setup = fc
  .record({ limit: fc.integer({ min: 1, max: 30 }), interval: fc.constantFrom(1_000, 5_000, 60_000) })
  .chain(({ limit, interval }) =>
    fc.record({
      limit: fc.constant(limit),
      interval: fc.constant(interval),
      phase: fc.nat(interval),
      arrivals: fc.array(
        fc.record({
          at: fc.nat(3 * interval),
          latency: fc.nat(Math.floor(MARGIN_OF(interval)) - 1),
          priority: fc.constantFrom('foreground' as const, 'background' as const),
          abortAfter: fc.option(fc.nat(2 * interval), { nil: undefined, freq: 5 }),
        }),
        { maxLength: 120 },
      ),
    }),
  );

interface Setup {
  readonly limit: number;
  readonly interval: number;
  readonly phase: number;
}

/** Checks something of the grants of many random runs. */
async function always(check: (grants: readonly Grant[], setup: Setup) => void): Promise<void> {
  const property = fc.asyncProperty(setup, async ({ arrivals, ...rest }) => {
    check(await run(rest.limit, rest.interval, arrivals), rest);
  });
  await fc.assert(property, { numRuns: runs(20, 200, 20_000) });
}

describe('a bucket with random arrivals and latencies', () => {
  it('never exceeds its limit in any window: sliding, fixed at any phase, or a token bucket', async () => {
    await always((grants, { limit, interval, phase }) => {
      const times = grants.map(({ arrived }) => arrived);
      expect(mostInWindow(times, interval)).toBeLessThanOrEqual(limit);
      expect(mostInFixedWindow(times, interval, phase)).toBeLessThanOrEqual(limit);
      expect(refusedByTokenBucket(times, limit, interval)).toBe(0);
    });
  });

  it('serves each priority in the order of arrival', async () => {
    await always((grants) => {
      for (const priority of ['foreground', 'background'] as const) {
        const orders = grants.filter((one) => one.priority === priority).map(({ order }) => order);
        expect(orders).toEqual([...orders].sort((a, b) => a - b));
      }
    });
  });

  it('serves foreground before background, except for one permit in 15 seconds', async () => {
    await always((grants) => {
      const background = grants.filter(({ priority }) => priority === 'background');
      for (const [at, one] of background.entries()) {
        const overtaken = grants.some(
          (other) => other.priority === 'foreground' && other.asked < one.granted && other.granted > one.granted,
        );
        const since = Math.max(one.asked, background[at - 1]?.granted ?? Number.NEGATIVE_INFINITY);
        if (overtaken) expect(one.granted - since).toBeGreaterThanOrEqual(15_000);
      }
    });
  });
});

describe('a crowded bucket', () => {
  const crowd = (count: number, priority: Arrival['priority'] = 'foreground'): Arrival[] =>
    Array.from({ length: count }, () => ({ at: 0, latency: 0, priority, abortAfter: undefined }));

  it.each([
    [120, 60_000, 1_000],
    [30, 60_000, 301],
    [10, 60_000, 95],
  ])('waiting calls use a bucket of %i a minute to 97 % of what is possible', async (limit, interval, count) => {
    const grants = await run(limit, interval, crowd(count));
    const best = Math.floor((count - 1) / limit) * interval;
    expect(grants).toHaveLength(count);
    expect(best / (grants.at(-1)?.granted ?? 0)).toBeGreaterThan(0.97);
  });

  it('serves the background at least every 15 seconds while the foreground never rests', async () => {
    const grants = await run(2, 1_000, [...crowd(150), ...crowd(4, 'background')]);
    const times = grants.filter(({ priority }) => priority === 'background').map(({ granted }) => granted);
    expect(times).toHaveLength(4);
    for (const [at, time] of times.entries())
      expect(time - (times[at - 1] ?? 0)).toBeLessThan(15_000 + 2 * withMargin(1_000));
  });
});

describe('a service that refuses each read beyond 60 in any 1.5 s', () => {
  const limit = 60;
  const interval = 1_500;

  it('refuses none of 300 reads of a client, which take no longer than necessary', async () => {
    const random = seeded('strict service');
    const pass = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
    const started = performance.now();
    const accepted: number[] = [];
    const statuses: number[] = [];
    const options: ClientOptions = {
      rateLimits: { read: { limit, interval } },
      // The first token is late: a permit acquired before it would count too early.
      token: () => pass(performance.now() === started ? 400 : 0).then(() => 'token'),
      fetch: async () => {
        await pass(random() * 99);
        const now = performance.now();
        const status = accepted.filter((time) => time > now - interval).length < limit ? 200 : 429;
        statuses.push(status);
        if (status === 200) accepted.push(now);
        return Response.json({ status: 'success', code: 200, message: '', data: [] }, { status });
      },
    };
    const client = clientOf({ url: 'http://localhost' }, options);
    const reads = Promise.all(Array.from({ length: 300 }, () => client.webhooks.list()));
    await vi.runAllTimersAsync();
    await reads;
    expect(statuses).toEqual(Array.from({ length: 300 }, () => 200));
    // Each interval is longer by the margin, and by the rounding of a timer.
    expect((accepted.at(-1) ?? 0) - started).toBeLessThan(400 + 4 * (interval + 105) + 99);
  });
});
