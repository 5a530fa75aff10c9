import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { PollRate } from '../../../src/client/polling/poll-rate.ts';
import { RATE_LIMITS } from '../../../src/spec/limits.ts';
import { runs } from '../../support/volume.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const MINUTE = 60_000;

/** Sends every poll that the rate allows for a while; returns their times. */
function polls(rate: PollRate, ms: number, isUrgent = false): number[] {
  const sentAt: number[] = [];
  const wait = (): number => Math.ceil(rate.wait(isUrgent));
  for (const end = performance.now() + ms; performance.now() < end; vi.advanceTimersByTime(wait() || 1)) {
    if (wait() > 0) continue;
    rate.consume();
    sentAt.push(performance.now());
  }
  return sentAt;
}

const mostIn = (times: readonly number[], ms: number): number =>
  Math.max(...times.map((at) => times.filter((other) => other >= at && other < at + ms).length));

const longestGap = (times: readonly number[]): number =>
  Math.max(...times.slice(1).map((at, index) => at - (times[index] ?? 0)));

describe('the rate of polls', () => {
  it('stays within half of the bucket in any interval, whatever the limit and the urgency', () => {
    const phases = fc.array(fc.boolean(), { minLength: 1, maxLength: 5 });
    const limits = fc.record({
      limit: fc.integer({ min: 1, max: 500 }),
      interval: fc.integer({ min: 1_000, max: 120_000 }),
    });
    fc.assert(
      fc.property(limits, phases, (limit, urgencies) => {
        const rate = new PollRate(limit);
        const ms = (limit.interval * 3) / urgencies.length;
        const times = urgencies.flatMap((isUrgent) => polls(rate, ms, isUrgent));
        expect(mostIn(times, limit.interval)).toBeLessThanOrEqual(Math.max(1, limit.limit / 2));
      }),
      { numRuns: runs(3, 30) },
    );
  });

  it('uses five sixths of that half of the bucket evenly', () => {
    const times = polls(new PollRate(RATE_LIMITS.read), 10 * MINUTE);
    expect(times.length).toBeGreaterThan(490);
    expect(longestGap(times)).toBeLessThan(1_300);
  });

  it('sends the other sixth immediately if that is urgent, which delays no other poll', () => {
    const rate = new PollRate(RATE_LIMITS.read);
    expect(polls(rate, 1_000, true)).toHaveLength(11);
    expect(longestGap(polls(rate, 5 * MINUTE))).toBeLessThan(1_300);
  });

  it.each([
    [0, 2_000],
    [1, 2_412],
    [2, 4_824],
    [3, 6_000],
    [5, 6_000],
    [100, 6_000],
  ])('polls each of %i targets every %i ms', (targets, ms) => {
    expect(new PollRate(RATE_LIMITS.read).period(targets)).toBeCloseTo(ms, -1);
  });

  it('is halved once for simultaneous 429s, down to a quarter, and recovers by successful polls', () => {
    const rate = new PollRate(RATE_LIMITS.read);
    const full = rate.spacing;
    const before = performance.now();
    vi.advanceTimersByTime(1_000);
    rate.onThrottled(before);
    rate.onThrottled(before);
    expect(rate.spacing).toBeCloseTo(2 * full);
    for (let refusals = 0; refusals < 5; refusals++) {
      vi.advanceTimersByTime(1);
      rate.onThrottled(performance.now());
    }
    expect(polls(rate, 2 * MINUTE).length).toBeLessThanOrEqual(32);
    for (let well = 0; well < 60; well++) rate.onSuccess();
    expect(rate.spacing).toBeCloseTo(full);
  });

  it('is kept in every minute in which it is throttled, too', () => {
    const rate = new PollRate(RATE_LIMITS.read);
    const times = polls(rate, 58_000);
    rate.onThrottled(performance.now());
    times.push(...polls(rate, MINUTE));
    expect(mostIn(times, MINUTE)).toBeLessThanOrEqual(60);
  });
});
