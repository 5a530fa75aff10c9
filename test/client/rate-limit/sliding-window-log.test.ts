import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createRateLimiter, SlidingWindowLog, withMargin } from '../../../src/client/rate-limit/rate-limiter.ts';
import { RATE_LIMITS } from '../../../src/spec/limits.ts';

const SPAN = 1_100;
const limit = { limit: 3, interval: 1_000 };

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Returns whether a promise has settled by now, without time passing. */
async function settledNow(promise: Promise<unknown>): Promise<boolean> {
  let settled = false;
  void promise.finally(() => {
    settled = true;
  });
  await vi.advanceTimersByTimeAsync(0);
  return settled;
}

it('an interval grows by a margin of 2 %, at least 100 ms', () => {
  expect([1_000, 5_000, 60_000].map(withMargin)).toEqual([1_100, 5_100, 61_200]);
});

describe('a log of permits', () => {
  it('grants as many as its limit immediately, and returns how long the next takes', async () => {
    const log = new SlidingWindowLog(limit);
    for (const wait of [0, 0, 0]) {
      expect(log.wait()).toBe(wait);
      await log.take();
    }
    await vi.advanceTimersByTimeAsync(0);
    expect(log.wait()).toBe(SPAN);
    await vi.advanceTimersByTimeAsync(400);
    expect(log.wait()).toBe(SPAN - 400);
  });

  it('releases each permit when its own time is over, in order', async () => {
    const log = new SlidingWindowLog(limit);
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

  it('counts a permit from the end of the turn that acquired it: requests leave no earlier', async () => {
    const log = new SlidingWindowLog(limit);
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

  it('has one timer for all permits of a turn', async () => {
    const log = new SlidingWindowLog(limit);
    await log.take();
    await log.take();
    expect(vi.getTimerCount()).toBe(1);
    await vi.advanceTimersByTimeAsync(0);
    expect(vi.getTimerCount()).toBe(0);
    await log.take();
    expect(vi.getTimerCount()).toBe(1);
    await vi.advanceTimersByTimeAsync(0);
  });

  it('is empty before the first permit, and when the last counts no more', async () => {
    const log = new SlidingWindowLog(limit);
    expect(log.isEmpty()).toBe(true);
    for (let at = 0; at < 4; at++) {
      await vi.advanceTimersByTimeAsync(log.wait());
      await log.take();
      await vi.advanceTimersByTimeAsync(0);
      expect(log.isEmpty()).toBe(false);
    }
    await vi.advanceTimersByTimeAsync(SPAN);
    expect(log.isEmpty()).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(log.isEmpty()).toBe(true);
  });

  it('is not held up by a wall clock that is set back an hour', async () => {
    const log = new SlidingWindowLog(limit);
    for (let at = 0; at < 3; at++) await log.take();
    await vi.advanceTimersByTimeAsync(SPAN + 1);
    vi.setSystemTime(Date.now() - 3_600_000);
    for (let at = 0; at < 3; at++) {
      expect(log.wait()).toBe(0);
      log.take();
    }
    expect(log.wait()).toBe(SPAN);
  });

  it.each([3_600_000, -3_600_000])('counts permits across a step of the wall clock by %i ms', (step) => {
    const log = new SlidingWindowLog({ limit: 1, interval: 1_000 });
    log.take();
    vi.setSystemTime(Date.now() + step);
    expect(log.wait()).toBe(SPAN);
  });
});

it('a bucket without a limit grants every permit immediately', async () => {
  const limiter = createRateLimiter(false);
  const acquire = (): Promise<void> => limiter.acquire('read', { scope: 'a', priority: 'foreground' });
  expect(await settledNow(Promise.all(Array.from({ length: 1_000 }, acquire)))).toBe(true);
});

it('a full bucket stays full while others are used, and is new when it was idle', async () => {
  const limiter = createRateLimiter({ ...RATE_LIMITS, read: { limit: 1, interval: 1_000 } });
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
