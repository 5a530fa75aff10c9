import type { Logger } from '../util/log.ts';

/** While Redis is away, it is tried again after this. Milliseconds. */
const PROBE = 500;

/** While somebody waits, a try fails more often than this. Milliseconds. */
const LATELY = 2_000;

/** Between tries that are further apart, Redis may have answered others. Milliseconds. */
const UNWATCHED = 4_000;

/** One that has had nothing to ask for so long will not tell that Redis is there again. Milliseconds. */
const FORGOTTEN = 60_000;

/** Holds that end within this of each other are one. Milliseconds. */
const SAME_HOLD = 1_000;

/** Shorter holds are not worth a word. Milliseconds. */
const LONG_HOLD = 5_000;

/** One that asks Redis. */
interface Asker {
  /** Whether it has nothing to ask for now. */
  idle(): boolean;
}

/** What those that ask one Redis find out together, and what is told of it. */
export class Outage {
  readonly #logger: Pick<Logger, 'warn'>;
  readonly #meanwhile: string;
  /** Those that got no answer when they last asked, and when that was. */
  readonly #without = new Map<Asker, number>();
  #since: number | undefined;
  #failedAt = Number.NEGATIVE_INFINITY;
  #heldUntil = Number.NEGATIVE_INFINITY;

  /** `meanwhile` says what is done while Redis is away. */
  constructor(logger: Pick<Logger, 'warn'>, meanwhile: string) {
    this.#logger = logger;
    this.#meanwhile = meanwhile;
  }

  /** One has got no answer; tells since when nobody has got any, on the monotonic clock. */
  failed(asker: Asker, error: unknown): number {
    if (this.#without.size === 0) {
      const reason = error instanceof Error ? error.message : String(error);
      this.#warn(
        `Redis does not answer as it should, so rate limits are not shared, and ${this.#meanwhile}: ${reason}`,
      );
    }
    const now = performance.now();
    if (now - this.#failedAt >= UNWATCHED) this.#since = undefined;
    this.#failedAt = now;
    this.#without.set(asker, now);
    this.#since ??= now;
    return this.#since;
  }

  /** One has got an answer. */
  end(asker: Asker): void {
    this.#since = undefined;
    if (this.#without.size === 0) return;
    const wasWithout = this.#without.delete(asker);
    const now = performance.now();
    for (const [other, failedAt] of this.#without) {
      if ((wasWithout || now - failedAt >= FORGOTTEN) && other.idle()) this.#without.delete(other);
    }
    if (this.#without.size === 0) this.#warn('Redis answers again; rate limits are shared.');
  }

  /** Redis holds a bucket back, because it may not know of all that was sent. */
  held(ms: number): void {
    const until = performance.now() + ms;
    if (ms < LONG_HOLD || until < this.#heldUntil + SAME_HOLD) return;
    this.#heldUntil = until;
    const seconds = Math.ceil(ms / 1_000);
    this.#warn(`Redis may not know of all requests that were sent, as after a start: the next wait for ${seconds} s.`);
  }

  #warn(message: string): void {
    try {
      this.#logger.warn(message);
    } catch {
      // A broken logger must not break a call.
    }
  }
}

/** Whether Redis answers one that asks it: of a cluster, a part may be away. */
export class Health {
  readonly #outage: Outage;
  readonly #asker: Asker;
  #downSince: number | undefined;
  #probeAt = Number.NEGATIVE_INFINITY;
  #failedAt = Number.NEGATIVE_INFINITY;

  constructor(outage: Outage, asker: Asker) {
    this.#outage = outage;
    this.#asker = asker;
  }

  /** Since when it has not answered, on the monotonic clock; `undefined` while it does. */
  get downSince(): number | undefined {
    return this.#downSince;
  }

  /** Whether a try has failed just now, so that Redis is still away. */
  get failedLately(): boolean {
    return performance.now() - this.#failedAt < LATELY;
  }

  /** Milliseconds until it may be tried again. */
  get probeIn(): number {
    return Math.max(0, this.#probeAt - performance.now());
  }

  failed(error: unknown): void {
    const now = performance.now();
    const since = this.#outage.failed(this.#asker, error);
    if (now - this.#failedAt >= UNWATCHED) this.#downSince = undefined;
    this.#downSince ??= since;
    this.#failedAt = now;
    this.#probeAt = now + PROBE;
  }

  /** Tells whether it was away. */
  answered(): boolean {
    const wasDown = this.#downSince !== undefined;
    this.#downSince = undefined;
    this.#outage.end(this.#asker);
    return wasDown;
  }
}
