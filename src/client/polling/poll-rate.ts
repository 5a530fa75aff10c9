import type { RateLimit } from '../../spec/limits.ts';

/** The interval is kept a little longer than the service's: polls may arrive closer together than they were sent. */
const MARGIN = 1.005;
/** Part of the polls of one interval that is kept back from urgent polls. */
const RESERVE = 1 / 2;
/** Minimum period between two polls of one target. */
const MIN_PERIOD_MS = 2_000;
/** Maximum period, unless half of the bucket is too small for it. */
const MAX_PERIOD_MS = 6_000;
/** Share of the polls' half that shorter periods than the maximum may use: with all jitter, a quarter of the bucket. */
const MODEST_SHARE = 0.45;
/** Minimum share of the rate that remains after 429s. */
const MIN_SHARE = 1 / 4;
/** Share of the rate that each successful poll gives back after a 429. */
const RECOVERY_SHARE = 1 / 40;
/** Number of job ends in a row that polls found before a webhook did; webhooks then count as stopped. */
const MAX_MISSED_COMPLETIONS = 2;
/** Time for which webhooks count as healthy after a webhook has ended a job. */
const HEALTHY_FOR_MS = 3_600_000;

/**
 * The rate of polls: at most half of the read bucket in any interval, so that the other half is always the user's, and
 * evenly spaced unless a poll is urgent. A 429 halves the rate; each success gives a little back.
 */
export class PollRate {
  readonly #interval: number;
  /** Maximum polls in one interval. */
  readonly #half: number;
  #share = 1;
  /** When the polls of the last interval were sent. */
  readonly #sentAt: number[] = [];
  #nextAt = Number.NEGATIVE_INFINITY;
  #pausedUntil = Number.NEGATIVE_INFINITY;
  #throttledAt = Number.NEGATIVE_INFINITY;

  constructor({ limit, interval }: RateLimit) {
    this.#interval = interval * MARGIN;
    this.#half = Math.max(1, Math.floor(limit / 2));
  }

  /** Returns the period between two polls of one target. Milliseconds. */
  period(targets: number): number {
    return Math.max(MIN_PERIOD_MS, Math.min(MAX_PERIOD_MS, (targets * this.evenSpacing) / MODEST_SHARE));
  }

  /** Milliseconds between two polls that are spread evenly. */
  get evenSpacing(): number {
    return this.#interval / this.#most;
  }

  /** Returns the milliseconds until a poll may be sent; 0 if it may be sent now. */
  wait(isUrgent: boolean): number {
    const now = performance.now();
    const pause = this.#pausedUntil - now;
    const { left, returns } = this.#credit(now);
    if (isUrgent && left > this.#most * RESERVE) return Math.max(0, pause);
    return Math.max(0, pause, left > 0 ? 0 : (returns[0] ?? 0), this.#nextAt - now);
  }

  /** Counts a poll that is sent now. */
  consume(): void {
    const now = performance.now();
    this.#sentAt.push(now);
    const { left, returns } = this.#credit(now);
    // After a burst, the spacing is longer, so that credit never runs out before earlier polls leave the interval.
    const spacings = returns.map((ms, at) => ms / (left + at + 1));
    this.#nextAt = now + Math.max(this.evenSpacing, ...spacings);
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

  get #most(): number {
    return Math.max(1, Math.floor(this.#half * this.#share));
  }

  /** Returns the polls that may be sent now, and the milliseconds until each of the earlier ones leaves the interval. */
  #credit(now: number): { readonly left: number; readonly returns: readonly number[] } {
    while (now - (this.#sentAt[0] ?? now) >= this.#interval) this.#sentAt.shift();
    const left = Math.max(0, this.#most - this.#sentAt.length);
    const counted = this.#sentAt.slice(this.#sentAt.length - this.#most + left);
    return { left, returns: counted.map((at) => at + this.#interval - now) };
  }
}

/** Tracks whether webhooks report the ends of jobs. */
export class WebhookHealth {
  #receivedAt = Number.NEGATIVE_INFINITY;
  #missed = 0;

  /** True while webhooks report job ends reliably: polling is then only a fallback. */
  get healthy(): boolean {
    return this.#missed < MAX_MISSED_COMPLETIONS && performance.now() - this.#receivedAt < HEALTHY_FOR_MS;
  }

  /** Records that a webhook ended a job. */
  received(): void {
    this.#receivedAt = performance.now();
    this.#missed = 0;
  }

  /** Records that a poll found the end of a job before a webhook did. */
  missedCompletion(): void {
    this.#missed++;
  }
}
