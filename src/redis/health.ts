import type { Logger } from '../transport/log.ts';

/** Who has to know when Redis goes or comes back. */
interface Listener {
  wake(): void;
}

/** While Redis is away, it is tried again after this. Milliseconds. */
const PROBE = 500;

/** While somebody waits, a try fails more often than this. Milliseconds. */
const LATELY = 2_000;

/** Whether Redis answers. */
export class Health {
  readonly #logger: Pick<Logger, 'warn'>;
  readonly #listeners: () => Iterable<Listener>;
  #downSince: number | undefined;
  #probeAt = Number.NEGATIVE_INFINITY;
  #failedAt = Number.NEGATIVE_INFINITY;

  constructor(logger: Pick<Logger, 'warn'>, listeners: () => Iterable<Listener>) {
    this.#logger = logger;
    this.#listeners = listeners;
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

  /** Tells whether it is time to try; until the answer is here, nobody else tries. */
  takeProbe(): boolean {
    if (this.#downSince === undefined || this.probeIn > 0) return false;
    this.#probeAt = performance.now() + PROBE;
    return true;
  }

  failed(error: unknown): void {
    this.#failedAt = performance.now();
    this.#probeAt = this.#failedAt + PROBE;
    if (this.#downSince !== undefined) return;
    this.#downSince = this.#failedAt;
    const reason = error instanceof Error ? error.message : String(error);
    this.#warn(`Redis does not answer, so rate limits are not shared: ${reason}`);
    for (const listener of this.#listeners()) listener.wake();
  }

  answered(): void {
    if (this.#downSince === undefined) return;
    this.#downSince = undefined;
    this.#warn('Redis answers again; rate limits are shared.');
    for (const listener of this.#listeners()) listener.wake();
  }

  #warn(message: string): void {
    try {
      this.#logger.warn(message);
    } catch {
      // A broken logger must not break a call.
    }
  }
}
