import type { WindowLimit } from './service-limits.ts';

/** Sliding-window log: enforces the limit in every interval, whenever the interval starts. */
export class SlidingWindow {
  /** Maximum count in any interval. May change. */
  limit: number;
  #interval: number;
  readonly #times: number[] = [];

  constructor({ limit, interval }: WindowLimit) {
    this.limit = limit;
    this.#interval = interval;
  }

  /** Changes limit and interval, and keeps the counts. */
  setLimit({ limit, interval }: WindowLimit): void {
    this.limit = limit;
    this.#interval = interval;
  }

  /** The limit and the counts as plain data. */
  get saved(): { readonly limit: number; readonly interval: number; readonly times: readonly number[] } {
    return { limit: this.limit, interval: this.#interval, times: this.#times };
  }

  static restore({ times, ...limit }: SlidingWindow['saved']): SlidingWindow {
    const window = new SlidingWindow(limit);
    window.#times.push(...times);
    return window;
  }

  /** Returns the milliseconds until the next request is allowed. With a limit of 0, returns the interval. */
  retryAfter(now: number): number {
    while (this.#times[0] !== undefined && this.#times[0] <= now - this.#interval) this.#times.shift();
    if (this.#times.length < this.limit) return 0;
    const oldest = this.#times[this.#times.length - this.limit];
    return oldest === undefined ? this.#interval : oldest + this.#interval - now;
  }

  /**
   * Counts a request and returns 0. If the limit is exhausted, returns the milliseconds until another request is
   * allowed.
   */
  consume(now: number): number {
    const wait = this.retryAfter(now);
    if (wait === 0) this.#times.push(now);
    return wait;
  }

  count(now: number): number {
    this.retryAfter(now);
    return this.#times.length;
  }
}
