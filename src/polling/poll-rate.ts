import type { RateLimit } from '../spec/limits.ts';

/** Share of an interval's polls that may be sent without spacing. */
const BURST_SHARE = 1 / 20;
/** Shortest period between two polls of one target, before jitter. */
const MIN_PERIOD_MS = 2_000;
/** Longest period. With more targets than the rate allows in this time, polls are sent later than they are due. */
const MAX_PERIOD_MS = 6_000;
/** Share of the poll rate that is used until the period reaches its maximum: with jitter, a quarter of the bucket. */
const MODEST_SHARE = 0.45;
/** Minimum share of the rate after repeated 429s. */
const MIN_SHARE = 1 / 4;
/** Share of the rate that each successful poll restores. */
const RECOVERY_SHARE = 1 / 40;

/**
 * Spaces polls evenly and limits them to half of the read bucket in every interval: the other half is always available
 * to the user's calls. A 429 halves the rate; each success restores a little of it.
 */
export class PollRate {
  readonly #rate: RateLimit;
  /** Maximum polls in one interval. */
  readonly #half: number;
  /** How many of them may be sent without spacing. */
  readonly #burst: number;
  #share = 1;
  /** When the next poll starts at even spacing; it may start up to a burst earlier. */
  #evenAt = Number.NEGATIVE_INFINITY;
  #pausedUntil = Number.NEGATIVE_INFINITY;
  #throttledAt = Number.NEGATIVE_INFINITY;

  constructor(rate: RateLimit) {
    this.#rate = rate;
    this.#half = Math.max(1, Math.floor(rate.limit / 2));
    this.#burst = Math.max(1, Math.round(this.#half * BURST_SHARE));
  }

  /** Milliseconds between two polls of one target, if one round over all targets takes `polls` polls. */
  period(polls: number): number {
    return Math.max(MIN_PERIOD_MS, Math.min(MAX_PERIOD_MS, (polls * this.#spacing()) / MODEST_SHARE));
  }

  /** Milliseconds until a poll may start. */
  wait(): number {
    const now = performance.now();
    // Use the spacing of the full rate: the wider spacing after a 429 would let polls start earlier.
    const early = (this.#burst - 1) * this.#spacing(1);
    return Math.max(0, this.#pausedUntil - now, this.#evenAt - early - now);
  }

  /** Counts a poll. */
  consume(): void {
    this.#evenAt = Math.max(this.#evenAt, performance.now()) + this.#spacing();
  }

  /** Delays the next poll by at least `ms`, as the service asked (`Retry-After`). */
  pause(ms: number): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, performance.now() + ms);
  }

  /** Halves the rate after a 429, unless the poll started before the last halving: one overload counts once. */
  onThrottled(startedAt: number): void {
    if (startedAt < this.#throttledAt) return;
    this.#throttledAt = performance.now();
    this.#share = Math.max(MIN_SHARE, this.#share / 2);
  }

  onSuccess(): void {
    this.#share = Math.min(1, this.#share + RECOVERY_SHARE);
  }

  /** Returns the time between polls. At the full rate, an interval that begins with a burst uses half the bucket. */
  #spacing(share = this.#share): number {
    return this.#rate.interval / (this.#half - this.#burst + 1) / share;
  }
}
