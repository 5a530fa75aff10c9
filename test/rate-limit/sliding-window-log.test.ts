import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createLimiter } from '../../src/rate-limit/rate-limiter.ts';
import { createSlidingLog, unlimited, widened } from '../../src/rate-limit/sliding-window-log.ts';
import { RATE_LIMITS } from '../../src/spec/limits.ts';

const SPAN = 1_100;
const limit = { limit: 3, interval: 1_000 };

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Whether a promise has settled by now, without time passing. */
async function settledNow(promise: Promise<unknown>): Promise<boolean> {
  let settled = false;
  void promise.finally(() => {
    settled = true;
  });
  await vi.advanceTimersByTimeAsync(0);
  return settled;
}

it('an interval is widened by 2 %, by 100 ms at least', () => {
  expect([1_000, 5_000, 60_000].map(widened)).toEqual([1_100, 5_100, 61_200]);
});

describe('a log of slots', () => {
  it('has as many as its limit at once, and tells how long the next takes', async () => {
    const log = createSlidingLog(limit);
    for (const wait of [0, 0, 0]) {
      expect(log.wait()).toBe(wait);
      await log.take();
    }
    await vi.advanceTimersByTimeAsync(0);
    expect(log.wait()).toBe(SPAN);
    await vi.advanceTimersByTimeAsync(400);
    expect(log.wait()).toBe(SPAN - 400);
  });

  it('gives each slot back when its own time is over, in turn', async () => {
    const log = createSlidingLog(limit);
    for (let at = 0; at < 3; at++) {
      await log.take();
      await vi.advanceTimersByTimeAsync(200);
    }
    const waits: number[] = [];
    for (let round = 0; round < 7; round++) {
      waits.push(log.wait());
      await vi.advanceTimersByTimeAsync(log.wait());
      await log.take();
      await vi.advanceTimersByTimeAsync(0);
    }
    expect(waits).toEqual([500, 200, 200, 700, 200, 200, 700]);
  });

  it('counts a slot from the end of the turn that took it: requests leave no earlier', async () => {
    const log = createSlidingLog(limit);
    const began = performance.now();
    await log.take();
    await log.take();
    await log.take();
    const now = vi.spyOn(performance, 'now').mockReturnValue(began + 300);
    await vi.advanceTimersByTimeAsync(0);
    expect(log.wait()).toBe(SPAN);
    now.mockReturnValue(began + 300 + SPAN);
    expect(log.wait()).toBe(0);
    now.mockRestore();
  });

  it('has one timer for all slots of a turn', async () => {
    const log = createSlidingLog(limit);
    await log.take();
    await log.take();
    expect(vi.getTimerCount()).toBe(1);
    await vi.advanceTimersByTimeAsync(0);
    expect(vi.getTimerCount()).toBe(0);
    await log.take();
    expect(vi.getTimerCount()).toBe(1);
    await vi.advanceTimersByTimeAsync(0);
  });

  it('is empty before the first slot, and when the last counts no more', async () => {
    const log = createSlidingLog(limit);
    expect(log.empty()).toBe(true);
    for (let at = 0; at < 4; at++) {
      await vi.advanceTimersByTimeAsync(log.wait());
      await log.take();
      await vi.advanceTimersByTimeAsync(0);
      expect(log.empty()).toBe(false);
    }
    await vi.advanceTimersByTimeAsync(SPAN);
    expect(log.empty()).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(log.empty()).toBe(true);
  });

  it('is not held up by a wall clock that is set back an hour', async () => {
    const log = createSlidingLog(limit);
    for (let at = 0; at < 3; at++) await log.take();
    await vi.advanceTimersByTimeAsync(SPAN + 1);
    vi.setSystemTime(Date.now() - 3_600_000);
    expect(log.wait()).toBe(0);
    for (let at = 0; at < 3; at++) expect(await settledNow(log.take())).toBe(true);
  });

  it('is not emptied by a wall clock that stands still', async () => {
    const wall = vi.spyOn(Date, 'now').mockReturnValue(1_000_000);
    const log = createSlidingLog({ limit: 1, interval: 1_000 });
    await log.take();
    // Only p-throttle looks at this clock: it has no slot free while no time passes there.
    expect(await settledNow(log.take())).toBe(false);
    wall.mockRestore();
  });
});

it('a bucket without a limit has a slot at once, and nothing to remember', async () => {
  expect([unlimited.wait(), unlimited.empty()]).toEqual([0, true]);
  await expect(unlimited.take()).resolves.toBe(1);
});

it('a full bucket stays full while others are used, and is new when it was idle', async () => {
  const limiter = createLimiter({ ...RATE_LIMITS, read: { limit: 1, interval: 1_000 } });
  const ask = (scope: string): Promise<void> => limiter.acquire('read', { scope, priority: 'foreground' });
  await ask('a');
  await ask('b');
  const second = ask('a');
  expect(await settledNow(second)).toBe(false);
  await vi.advanceTimersByTimeAsync(SPAN);
  await second;
  await vi.advanceTimersByTimeAsync(10 * SPAN);
  await ask('c');
  expect(await settledNow(ask('a'))).toBe(true);
});
