import type { WindowLimit } from './service-limits.ts';

/** A sliding log: exact in every window, whatever its phase. */
export class SlidingLog {
  /** How many in any one interval; may be changed. */
  limit: number;
  readonly #interval: number;
  readonly #times: number[] = [];

  constructor({ limit, interval }: WindowLimit) {
    this.limit = limit;
    this.#interval = interval;
  }

  /** Milliseconds until one fits, without counting; a limit of 0 never lets one through. */
  wait(now: number): number {
    while (this.#times[0] !== undefined && this.#times[0] <= now - this.#interval) this.#times.shift();
    if (this.#times.length < this.limit) return 0;
    const freeing = this.#times[this.#times.length - this.limit];
    return freeing === undefined ? this.#interval : freeing + this.#interval - now;
  }

  /** Counts one at `now`; otherwise tells how many milliseconds until one fits. */
  take(now: number): number {
    const left = this.wait(now);
    if (left === 0) this.#times.push(now);
    return left;
  }

  /** How many the last interval holds. */
  count(now: number): number {
    this.wait(now);
    return this.#times.length;
  }
}
