import type { RateLimit } from '../../spec/limits.ts';

/** How soon a poll is sent. `now`: while any credit is left; `soon`: while more than the reserve is left; `regular`: evenly spaced. */
export type Urgency = 'now' | 'soon' | 'regular';

/** Part of the polls of one interval that is kept back from polls of an urgency. */
const RESERVE = { now: 1 / 6, soon: 1 / 2 } as const;
/** The interval is kept a little longer than the service's: polls may arrive closer together than they were sent. */
const MARGIN = 1.005;
/** Minimum period between two polls of one target. */
const MIN_PERIOD_MS = 2_000;
/** Maximum period, unless half of the bucket is too small for it. */
const MAX_PERIOD_MS = 6_000;
/** Minimum period while jobs are expected to end soon. */
const MIN_ENDING_PERIOD_MS = 500;
/** Share of the polls' half that shorter periods than the maximum may use: with all jitter, a quarter of the bucket. */
const MODEST_SHARE = 0.45;
/** Jobs are expected to have ended after this many times their mean remaining duration. */
const ENDING_FACTOR = 1.5;
/** How much slower than evenly jobs are polled at first, until one of them has ended. */
const QUIET_FACTOR = 1.5;
/** Polls that a new target takes until its period is as long as that of the others, about. */
const YOUNG_POLLS = 14;
/** Minimum share of the rate that remains after 429s. */
const MIN_SHARE = 1 / 4;
/** Share of the rate that each successful poll gives back after a 429. */
const RECOVERY_SHARE = 1 / 40;

/** The polls that may be sent now, and the milliseconds until earlier ones leave the interval, in order. */
export interface PollCredit {
  readonly left: number;
  readonly returns: readonly number[];
}

/** Returns the shortest even spacing that does not use up the credit within `horizon` milliseconds. Pure. */
export function evenSpacing({ left, returns }: PollCredit, horizon: number): number {
  let spacing = 0;
  let returned = 0;
  for (const ms of returns) {
    if (ms > horizon) break;
    spacing = Math.max(spacing, ms / (left + returned + 1));
    returned++;
  }
  return Math.max(spacing, horizon / (left + returned + 1));
}

/** Minimum period of a new target, and the share of its age that the period is later. */
const YOUNG_PERIOD = { min: 500, share: 0.3 } as const;

/**
 * Returns the period after a poll of a target whose wait had begun `age` milliseconds before, as long as it is shorter
 * than that of others; `Infinity` later. Pure.
 */
export function youngPeriod(age: number): number {
  const period = Math.max(YOUNG_PERIOD.min, YOUNG_PERIOD.share * age);
  return period < MAX_PERIOD_MS ? period : Number.POSITIVE_INFINITY;
}

/** The load that the polls of a client are planned for. */
export interface PollLoad {
  /** Polls that one round over all jobs takes. */
  readonly pollsPerRound: number;
  /** Pages and jobs to follow closely, because they are new. */
  readonly recentTargets: number;
  /** Milliseconds since the newest wait began. */
  readonly newestAge: number;
}

/** The plan for polls that are sent now. Milliseconds. */
export interface PollPlan {
  /** Time between two polls of one target. */
  readonly period: number;
  /** Factor by which new targets are polled less closely than they could be. */
  readonly youngFactor: number;
  /** Time until a poll of each urgency may be sent. */
  readonly wait: Readonly<Record<Urgency, number>>;
}

/**
 * The rate of polls: never more than half of the read bucket in an interval, so that the other half is always the
 * user's. Credit that was not used is spent on new jobs, and spread over the time in which jobs are expected to end.
 * A 429 halves the rate; each success gives a little back.
 */
export class PollRate {
  readonly #interval: number;
  /** Polls in one interval. */
  readonly #half: number;
  #share = 1;
  /** When the polls of the last interval were sent. */
  readonly #sentAt: number[] = [];
  #pausedUntil = Number.NEGATIVE_INFINITY;
  #throttledAt = Number.NEGATIVE_INFINITY;
  /** For each poll of the latest round, the jobs that had ended, and the total time that its jobs had been running. */
  readonly #shown: { readonly ends: number; readonly ran: number }[] = [];

  constructor({ limit, interval }: RateLimit) {
    this.#interval = interval * MARGIN;
    this.#half = Math.max(1, Math.floor(limit / 2));
  }

  /** Returns the plan for the next poll. */
  plan({ pollsPerRound, recentTargets, newestAge }: PollLoad): PollPlan {
    const now = performance.now();
    while (now - (this.#sentAt[0] ?? now) >= this.#interval) this.#sentAt.shift();
    this.#shown.splice(0, this.#shown.length - Math.max(1, Math.ceil(pollsPerRound)));
    const most = Math.max(1, Math.floor(this.#half * this.#share));
    const left = Math.max(0, most - this.#sentAt.length);
    const returns = this.#sentAt.slice(this.#sentAt.length - most + left).map((at) => at + this.#interval - now);
    const even = this.#interval / most;
    const ending = this.#endingIn();
    const modest = Math.min(MAX_PERIOD_MS, (pollsPerRound * even) / MODEST_SHARE);
    const period = ending < this.#interval ? MIN_ENDING_PERIOD_MS : Math.max(MIN_PERIOD_MS, modest);
    let spacing = evenSpacing({ left, returns }, Math.min(ending, this.#interval));
    if (ending >= this.#interval) spacing = Math.max(even, spacing);
    if (ending === Number.POSITIVE_INFINITY && newestAge < this.#interval) spacing *= QUIET_FACTOR;
    const pause = Math.max(0, this.#pausedUntil - now);
    const credit = left > 0 ? 0 : (returns[0] ?? 0);
    const regular = Math.max(pause, credit, (this.#sentAt.at(-1) ?? Number.NEGATIVE_INFINITY) + spacing - now);
    const above = (share: number): number => (left > most * share ? pause : regular);
    const spare = Math.max(0, left - most * RESERVE.soon);
    return {
      period,
      // A little less often would not save enough: periods grow with age, so their number grows with its logarithm.
      youngFactor: Math.max(1, (recentTargets * YOUNG_POLLS) / (spare + YOUNG_POLLS)) ** 3,
      wait: { now: above(RESERVE.now), soon: above(RESERVE.soon), regular },
    };
  }

  /** Counts a poll that is sent now. */
  consume(): void {
    this.#sentAt.push(performance.now());
  }

  /** Records the jobs that had ended by a poll, and the total time that its jobs had been running since they were last shown. */
  onShown(ends: number, ran: number): void {
    this.#shown.push({ ends, ran });
  }

  /** Delays polls by at least `ms`, because the service asked for it. */
  pause(ms: number): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, performance.now() + ms);
  }

  /** Halves the rate after a 429 for a poll that began at `startedAt`; 429s for polls sent at one time count once. */
  onThrottled(startedAt: number): void {
    if (startedAt < this.#throttledAt) return;
    this.#throttledAt = performance.now();
    this.#share = Math.max(MIN_SHARE, this.#share / 2);
  }

  onSuccess(): void {
    this.#share = Math.min(1, this.#share + RECOVERY_SHARE);
  }

  /** Returns the milliseconds in which jobs are expected to end, by the latest round; `Infinity` if none has ended in it. */
  #endingIn(): number {
    const ends = this.#shown.reduce((sum, shown) => sum + shown.ends, 0);
    const ran = this.#shown.reduce((sum, shown) => sum + shown.ran, 0);
    return ends > 0 ? (ENDING_FACTOR * ran) / ends : Number.POSITIVE_INFINITY;
  }
}
