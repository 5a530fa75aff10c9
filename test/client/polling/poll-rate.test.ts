import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  evenSpacing,
  type PollLoad,
  PollRate,
  type Urgency,
  youngPeriod,
} from '../../../src/client/polling/poll-rate.ts';
import { RATE_LIMITS } from '../../../src/spec/limits.ts';
import { runs } from '../../support/volume.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const MINUTE = 60_000;
const OLD: PollLoad = { pollsPerRound: 10, recentTargets: 0, newestAge: Number.POSITIVE_INFINITY };
const NEW: PollLoad = { pollsPerRound: 10, recentTargets: 1, newestAge: 0 };

/** Sends every poll that the rate allows for a while; returns their times. */
function polls(rate: PollRate, ms: number, urgency: Urgency = 'regular', load = OLD): number[] {
  const sentAt: number[] = [];
  const wait = (): number => rate.plan(load).wait[urgency];
  for (const end = performance.now() + ms; performance.now() < end; vi.advanceTimersByTime(Math.ceil(wait()) || 1)) {
    if (wait() > 0) continue;
    rate.consume();
    sentAt.push(performance.now());
  }
  return sentAt;
}

const mostIn = (times: readonly number[], ms: number): number =>
  Math.max(...times.map((at) => times.filter((other) => other >= at && other < at + ms).length));

describe('the rate of polls', () => {
  it('stays within half of the bucket in any interval, whatever the limit, the urgency and what polls show', () => {
    const urgency = fc.constantFrom<Urgency>('now', 'soon', 'regular');
    const phases = fc.array(fc.tuple(urgency, fc.constantFrom(OLD, NEW), fc.nat(20)), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 500 }),
        fc.integer({ min: 1_000, max: 120_000 }),
        phases,
        (limit, interval, each) => {
          const rate = new PollRate({ limit, interval });
          const times: number[] = [];
          for (const [kind, load, ends] of each) {
            rate.onShown(ends, 100_000);
            times.push(...polls(rate, (interval * 3) / each.length, kind, load));
          }
          expect(mostIn(times, interval)).toBeLessThanOrEqual(Math.max(1, limit / 2));
        },
      ),
      { numRuns: runs(3, 30) },
    );
  });

  it('uses nearly all of that half of the bucket, evenly', () => {
    const times = polls(new PollRate(RATE_LIMITS.read), 10 * MINUTE);
    expect(times.length).toBeGreaterThan(590);
    const gaps = times.slice(1).map((at, index) => at - (times[index] ?? 0));
    expect(Math.max(...gaps)).toBeLessThan(1_100);
  });

  it('sends what is urgent immediately, down to a reserve', () => {
    expect(polls(new PollRate(RATE_LIMITS.read), 1_000, 'now')).toHaveLength(50);
    expect(polls(new PollRate(RATE_LIMITS.read), 1_000, 'soon')).toHaveLength(30);
  });

  it('spreads what a burst has left over the rest of the interval', () => {
    const rate = new PollRate(RATE_LIMITS.read);
    polls(rate, 100, 'now');
    const times = polls(rate, MINUTE - 10_000);
    expect(times.length).toBeGreaterThan(8);
    expect(mostIn(times, 10_000)).toBeLessThanOrEqual(2);
  });

  it('is slower while the newest wait is young and nothing has ended', () => {
    const [young, old] = [NEW, OLD].map(
      (load) => polls(new PollRate(RATE_LIMITS.read), 30_000, 'regular', load).length,
    );
    expect(young).toBeLessThan(22);
    expect(old).toBeGreaterThan(28);
  });

  it('spreads its credit over the time in which jobs are expected to end', () => {
    const rate = new PollRate(RATE_LIMITS.read);
    // 900 of 1,000 jobs run on; a hundred have ended within a second each.
    rate.onShown(100, 1_000_000);
    expect(rate.plan(OLD).period).toBe(500);
    const times = polls(rate, 15_000);
    expect(times.length).toBeGreaterThan(30);
    expect(mostIn([...times, ...polls(rate, MINUTE)], MINUTE)).toBeLessThanOrEqual(60);
  });

  it('forgets what earlier rounds have shown', () => {
    const rate = new PollRate(RATE_LIMITS.read);
    rate.onShown(100, 1_000_000);
    for (let poll = 0; poll < 10; poll++) rate.onShown(0, 100_000);
    expect(rate.plan(OLD).period).toBe(6_000);
  });

  it.each([
    [0, 2_000],
    [1, 2_233],
    [2, 4_467],
    [3, 6_000],
    [5, 6_000],
    [100, 6_000],
  ])('spreads a round of %i polls over %i ms', (pollsPerRound, ms) => {
    expect(new PollRate(RATE_LIMITS.read).plan({ ...OLD, pollsPerRound }).period).toBeCloseTo(ms, -1);
  });

  it('follows a few new targets closely, and many not at all', () => {
    const rate = new PollRate(RATE_LIMITS.read);
    const factor = (recentTargets: number): number => rate.plan({ ...NEW, recentTargets }).youngFactor;
    expect([1, 2, 3].map(factor)).toEqual([1, 1, 1]);
    expect(factor(5)).toBeGreaterThan(3);
    expect(factor(10)).toBeGreaterThan(30);
    expect([0, 1_000, 10_000, 19_999, 20_000].map(youngPeriod)).toEqual([
      500,
      500,
      3_000,
      5_999.7,
      Number.POSITIVE_INFINITY,
    ]);
  });

  it('is halved once for simultaneous 429s, down to a quarter, and recovers by successful polls', () => {
    const rate = new PollRate(RATE_LIMITS.read);
    const period = (): number => rate.plan({ ...OLD, pollsPerRound: 1 }).period;
    const full = period();
    const before = performance.now();
    vi.advanceTimersByTime(1_000);
    rate.onThrottled(before);
    rate.onThrottled(before);
    expect(period()).toBeCloseTo(2 * full);
    for (let refusals = 0; refusals < 5; refusals++) {
      vi.advanceTimersByTime(1);
      rate.onThrottled(performance.now());
    }
    expect(period()).toBe(6_000);
    expect(polls(rate, 2 * MINUTE).length).toBeLessThanOrEqual(32);
    for (let well = 0; well < 30; well++) rate.onSuccess();
    expect(period()).toBeCloseTo(full);
    for (let well = 0; well < 30; well++) rate.onSuccess();
    expect(period()).toBeCloseTo(full);
  });

  it('is kept in every minute in which it is throttled, too', () => {
    const rate = new PollRate(RATE_LIMITS.read);
    const times = polls(rate, 58_000);
    rate.onThrottled(performance.now());
    times.push(...polls(rate, MINUTE));
    expect(mostIn(times, MINUTE)).toBeLessThanOrEqual(60);
  });

  it('stops for a pause, whatever the urgency', () => {
    const rate = new PollRate(RATE_LIMITS.read);
    rate.pause(20_000);
    rate.pause(5_000);
    expect(rate.plan(OLD).wait).toEqual({ now: 20_000, soon: 20_000, regular: 20_000 });
    vi.advanceTimersByTime(20_000);
    expect(rate.plan(OLD).wait).toEqual({ now: 0, soon: 0, regular: 0 });
  });
});

describe('even spacing', () => {
  it.each([
    ['all credit over the horizon', { left: 59, returns: [] }, 60_000, 1_000],
    ['until credit returns', { left: 9, returns: [20_000, 20_000] }, 30_000, 30_000 / 12],
    ['without counting what returns later', { left: 9, returns: [20_000] }, 10_000, 1_000],
    ['no credit: only when some returns', { left: 0, returns: [5_000, 6_000] }, 6_000, 5_000],
  ])('uses %s', (_, credit, horizon, spacing) => {
    expect(evenSpacing(credit, horizon)).toBe(spacing);
  });
});
