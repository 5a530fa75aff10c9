import type { RateLimit } from '../spec/limits.ts';

/** Looks that may follow one another at once, out of twenty. */
const BURST = 1 / 20;
/** Looks at one job, or one page, are at least so far apart. Milliseconds. */
const SHORTEST_PERIOD = 2_000;
/** No period is longer, as far as half of the bucket goes. Milliseconds. */
const LONGEST_PERIOD = 6_000;
/** Of that half, so much has to do up to there: with all jitter, a quarter of the bucket. */
const MODEST = 0.45;
/** The share is never cut below this part. */
const LEAST_SHARE = 1 / 4;
/** What each look that goes well gives back of a share that was cut. */
const EASE = 1 / 40;

/**
 * When waits may look: evenly, and in no interval at more than half of the read bucket, so that the
 * other half is always the user's. A 429 halves that, and each success gives a little back.
 */
export class Pace {
  readonly #rate: RateLimit;
  /** Looks allowed in one interval, and how many of them at once. */
  readonly #half: number;
  readonly #burst: number;
  #share = 1;
  /** When the next look would be due if all came evenly; it may come up to a burst earlier. */
  #even = Number.NEGATIVE_INFINITY;
  #heldUntil = Number.NEGATIVE_INFINITY;
  #cutAt = Number.NEGATIVE_INFINITY;

  constructor(rate: RateLimit) {
    this.#rate = rate;
    this.#half = Math.max(1, Math.floor(rate.limit / 2));
    this.#burst = Math.max(1, Math.round(this.#half * BURST));
  }

  /** Milliseconds after which something is looked at again, where one round takes `looks` looks. */
  period(looks: number): number {
    return Math.max(SHORTEST_PERIOD, Math.min(LONGEST_PERIOD, (looks * this.#spacing()) / MODEST));
  }

  /** Milliseconds until a look may start. */
  wait(): number {
    const now = performance.now();
    // A cut spreads looks, but leaves the burst as it is: a wider one would reach into the past.
    const early = (this.#burst - 1) * this.#spacing(1);
    return Math.max(0, this.#heldUntil - now, this.#even - early - now);
  }

  /** A look is sent. */
  spend(): void {
    this.#even = Math.max(this.#even, performance.now()) + this.#spacing();
  }

  /** The service asked for time: no look for `ms`. */
  hold(ms: number): void {
    this.#heldUntil = Math.max(this.#heldUntil, performance.now() + ms);
  }

  /** A look that started at `since` was refused for coming too often; those of one time count once. */
  cut(since: number): void {
    if (since < this.#cutAt) return;
    this.#cutAt = performance.now();
    this.#share = Math.max(LEAST_SHARE, this.#share / 2);
  }

  /** A look went well. */
  ease(): void {
    this.#share = Math.min(1, this.#share + EASE);
  }

  /** With a burst at its head, an interval holds half of the bucket exactly. */
  #spacing(share = this.#share): number {
    return this.#rate.interval / (this.#half - this.#burst + 1) / share;
  }
}
