import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { PollRate } from '../../src/polling/poll-rate.ts';
import { RATE_LIMITS } from '../../src/spec/limits.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Sends every poll that the rate allows for a while; returns their times. */
function polls(rate: PollRate, ms: number): number[] {
  const sentAt: number[] = [];
  for (
    const end = performance.now() + ms;
    performance.now() < end;
    vi.advanceTimersByTime(Math.ceil(rate.wait()) || 1)
  ) {
    if (rate.wait() > 0) continue;
    rate.consume();
    sentAt.push(performance.now());
  }
  return sentAt;
}

describe('the rate of polls', () => {
  it('holds half of the bucket in any interval, whatever the limit', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 500 }), fc.integer({ min: 1_000, max: 120_000 }), (limit, interval) => {
        const times = polls(new PollRate({ limit, interval }), interval * 3);
        for (const at of times) {
          const within = times.filter((other) => other >= at && other < at + interval).length;
          expect(within).toBeLessThanOrEqual(Math.max(1, limit / 2));
        }
      }),
      { numRuns: 30 },
    );
  });

  it('uses nearly all of it, evenly', () => {
    const times = polls(new PollRate(RATE_LIMITS.read), 600_000);
    expect(times.length).toBeGreaterThan(570);
    const gaps = times.slice(4).map((at, index) => at - (times[index + 3] ?? 0));
    expect(Math.max(...gaps)).toBeLessThan(1_100);
  });

  it.each([
    [0, 2_000],
    [1, 2_299],
    [2, 4_598],
    [3, 6_000],
    [5, 6_000],
    [100, 6_000],
  ])('spreads a round of %i polls over %i ms', (count, ms) => {
    expect(new PollRate(RATE_LIMITS.read).period(count)).toBeCloseTo(ms, -1);
  });

  it('is halved once for simultaneous 429s, down to a quarter, and recovers by successful polls', () => {
    const rate = new PollRate(RATE_LIMITS.read);
    const full = rate.period(1);
    const before = performance.now();
    vi.advanceTimersByTime(1_000);
    rate.onThrottled(before);
    rate.onThrottled(before);
    expect(rate.period(1)).toBeCloseTo(2 * full);
    for (let refusals = 0; refusals < 5; refusals++) {
      vi.advanceTimersByTime(1);
      rate.onThrottled(performance.now());
    }
    expect(rate.period(1)).toBe(6_000);
    expect(polls(rate, 120_000).length).toBeLessThanOrEqual(32);
    for (let well = 0; well < 30; well++) rate.onSuccess();
    expect(rate.period(1)).toBeCloseTo(full);
    for (let well = 0; well < 30; well++) rate.onSuccess();
    expect(rate.period(1)).toBeCloseTo(full);
  });

  it('is kept in every minute in which it is throttled, too', () => {
    const rate = new PollRate(RATE_LIMITS.read);
    const times = polls(rate, 58_000);
    rate.onThrottled(performance.now());
    times.push(...polls(rate, 60_000));
    for (const at of times) {
      expect(times.filter((other) => other >= at && other < at + 60_000).length).toBeLessThanOrEqual(60);
    }
  });

  it('stops for a pause', () => {
    const rate = new PollRate(RATE_LIMITS.read);
    rate.pause(20_000);
    rate.pause(5_000);
    expect(rate.wait()).toBe(20_000);
    vi.advanceTimersByTime(20_000);
    expect(rate.wait()).toBe(0);
  });
});
