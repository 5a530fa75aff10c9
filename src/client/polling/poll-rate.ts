import type { RateLimit } from '../../spec/limits.ts';

/**
 * Factor by which the client's interval exceeds the service's interval, because polls may arrive closer together than
 * the client sent them.
 */
const MARGIN = 1.005;
/** Share of the polls that the client may send ahead of the even spacing, if they are urgent. */
const AHEAD_SHARE = 1 / 6;
/** Minimum period between two polls of a target, in milliseconds. */
const MIN_PERIOD_MS = 2_000;
/**
 * Maximum period between two polls of a target, in milliseconds. If half of the bucket allows fewer polls, the period
 * is longer.
 */
const MAX_PERIOD_MS = 6_000;
/** Minimum share of the rate that remains after 429s. */
const MIN_SHARE = 1 / 4;
/** Share of the rate that each successful poll restores after a 429. */
const RECOVERY_SHARE = 1 / 40;

/**
 * The rate of polls: at most half of the read bucket in any interval, so that the other half is left for the user's
 * calls. Most of these polls are spaced evenly; urgent polls may use the rest at any time. A 429 halves the rate, and
 * each successful poll restores part of it.
 */
export class PollRate {
  readonly #interval: number;
  /** Maximum number of evenly spaced polls in one interval, and of polls ahead of the even spacing. */
  readonly #even: number;
  readonly #ahead: number;
  #share = 1;
  #nextAt = Number.NEGATIVE_INFINITY;
  /** Times of the polls in the last interval that were sent ahead of the even spacing. */
  readonly #aheadAt: number[] = [];
  #throttledAt = Number.NEGATIVE_INFINITY;

  constructor({ limit, interval }: RateLimit) {
    const half = Math.max(1, Math.floor(limit / 2));
    this.#interval = interval * MARGIN;
    this.#ahead = Math.floor(half * AHEAD_SHARE);
    this.#even = half - this.#ahead;
  }

  /** Milliseconds between two evenly spaced polls. */
  get spacing(): number {
    return this.#interval / (this.#even * this.#share);
  }

  /**
   * Returns the milliseconds between two polls of a target. With few targets, the client uses only half of the rate.
   */
  period(targets: number): number {
    return Math.max(MIN_PERIOD_MS, Math.min(MAX_PERIOD_MS, targets * 2 * this.spacing));
  }

  /** Returns the milliseconds until the client may send a poll, or 0 if it may send a poll now. */
  wait(isUrgent: boolean): number {
    const now = performance.now();
    while (now - (this.#aheadAt[0] ?? now) >= this.#interval) this.#aheadAt.shift();
    return isUrgent && this.#aheadAt.length < this.#ahead ? 0 : Math.max(0, this.#nextAt - now);
  }

  /** Counts a poll that the client sends now. */
  consume(): void {
    const now = performance.now();
    if (now < this.#nextAt) this.#aheadAt.push(now);
    else this.#nextAt = now + this.spacing;
  }

  /**
   * Halves the rate after a 429 for a poll that began at `startedAt`. Several 429s for polls sent at the same time
   * count once.
   */
  onThrottled(startedAt: number): void {
    if (startedAt < this.#throttledAt) return;
    this.#throttledAt = performance.now();
    this.#share = Math.max(MIN_SHARE, this.#share / 2);
  }

  onSuccess(): void {
    this.#share = Math.min(1, this.#share + RECOVERY_SHARE);
  }
}
