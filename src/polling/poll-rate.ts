import type { RateLimit } from '../spec/limits.ts';

/** Share of the polls of one interval that may follow one another immediately. */
const BURST_SHARE = 1 / 20;
/** Shortest period between two polls of one target. */
const MIN_PERIOD_MS = 2_000;
/** Longest period, as far as half of the bucket suffices for it. */
const MAX_PERIOD_MS = 6_000;
/** Part of that half that is used before the period reaches its maximum: with all jitter, a quarter of the bucket. */
const MODEST_SHARE = 0.45;
/** The least that 429s leave of the rate. */
const MIN_SHARE = 1 / 4;
/** Part of the rate that each successful poll gives back. */
const RECOVERY_SHARE = 1 / 40;

/**
 * The rate of polls: even, and in no interval more than half of the read bucket, so that the other half is always the
 * user's. A 429 halves it; each success gives a little back.
 */
export class PollRate {
  readonly #rate: RateLimit;
  /** Polls in one interval, and how many of them may follow one another immediately. */
  readonly #half: number;
  readonly #burst: number;
  #share = 1;
  /** When the next poll would be due if all came evenly; it may come up to a burst earlier. */
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
    // Throttling spreads polls, but leaves the burst as it is: a wider one would reach into the past.
    const early = (this.#burst - 1) * this.#spacing(1);
    return Math.max(0, this.#pausedUntil - now, this.#evenAt - early - now);
  }

  /** Counts a poll that is sent now. */
  consume(): void {
    this.#evenAt = Math.max(this.#evenAt, performance.now()) + this.#spacing();
  }

  /** Lets no poll start for `ms`: the service asked for the pause. */
  pause(ms: number): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, performance.now() + ms);
  }

  /** Halves the rate after a 429 for a poll that started at `startedAt`; those of one time count once. */
  onThrottled(startedAt: number): void {
    if (startedAt < this.#throttledAt) return;
    this.#throttledAt = performance.now();
    this.#share = Math.max(MIN_SHARE, this.#share / 2);
  }

  onSuccess(): void {
    this.#share = Math.min(1, this.#share + RECOVERY_SHARE);
  }

  /** With a burst at its beginning, an interval holds exactly half of the bucket. */
  #spacing(share = this.#share): number {
    return this.#rate.interval / (this.#half - this.#burst + 1) / share;
  }
}
