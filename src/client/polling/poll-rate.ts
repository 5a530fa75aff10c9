import type { RateLimit } from '../../spec/limits.ts';

/** The interval is kept a little longer than the service's: polls may arrive closer together than they were sent. */
const MARGIN = 1.005;
/** Share of the polls that may be sent ahead of their turn if they are urgent. */
const AHEAD_SHARE = 1 / 6;
/** Minimum period between two polls of one target. */
const MIN_PERIOD_MS = 2_000;
/** Maximum period, unless half of the bucket is too small for it. */
const MAX_PERIOD_MS = 6_000;
/** Minimum share of the rate that remains after 429s. */
const MIN_SHARE = 1 / 4;
/** Share of the rate that each successful poll gives back after a 429. */
const RECOVERY_SHARE = 1 / 40;

/**
 * The rate of polls: at most half of the read bucket in any interval, so that the other half is always the user's. Most of
 * this half is spaced evenly; urgent polls may use the rest at any time. A 429 halves the rate; each success gives a
 * little back.
 */
export class PollRate {
  readonly #interval: number;
  /** Maximum polls in one interval that are evenly spaced, and that are sent ahead of their turn. */
  readonly #even: number;
  readonly #ahead: number;
  #share = 1;
  #nextAt = Number.NEGATIVE_INFINITY;
  /** When the polls of the last interval were sent that were ahead of their turn. */
  readonly #aheadAt: number[] = [];
  #throttledAt = Number.NEGATIVE_INFINITY;

  constructor({ limit, interval }: RateLimit) {
    const half = Math.max(1, Math.floor(limit / 2));
    this.#interval = interval * MARGIN;
    this.#ahead = Math.floor(half * AHEAD_SHARE);
    this.#even = half - this.#ahead;
  }

  /** Milliseconds between two polls that are evenly spaced. */
  get spacing(): number {
    return this.#interval / (this.#even * this.#share);
  }

  /** Returns the milliseconds between two polls of one target. Few targets use only half of the rate. */
  period(targets: number): number {
    return Math.max(MIN_PERIOD_MS, Math.min(MAX_PERIOD_MS, targets * 2 * this.spacing));
  }

  /** Returns the milliseconds until a poll may be sent; 0 if it may be sent now. */
  wait(isUrgent: boolean): number {
    const now = performance.now();
    while (now - (this.#aheadAt[0] ?? now) >= this.#interval) this.#aheadAt.shift();
    return isUrgent && this.#aheadAt.length < this.#ahead ? 0 : Math.max(0, this.#nextAt - now);
  }

  /** Counts a poll that is sent now. */
  consume(): void {
    const now = performance.now();
    if (now < this.#nextAt) this.#aheadAt.push(now);
    else this.#nextAt = now + this.spacing;
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
}
