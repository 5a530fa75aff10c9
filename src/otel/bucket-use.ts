import type { Bucket, RateLimit } from '../spec/limits.ts';

/** Counts the requests of each rate bucket in its last interval. */
export class BucketUse {
  readonly #windows = new Map<string, Window>();

  /** Counts a request. Counts clients with different limits of a bucket separately. */
  add(bucket: Bucket, rate: RateLimit): void {
    const key = `${bucket} ${rate.limit} ${rate.interval}`;
    const window = this.#windows.get(key) ?? new Window(bucket, rate);
    this.#windows.set(key, window);
    window.add();
  }

  /** Returns the used share of each bucket's limit. If clients have different limits, returns the largest share. */
  shares(): ReadonlyMap<Bucket, number> {
    const shares = new Map<Bucket, number>();
    for (const window of this.#windows.values()) {
      shares.set(window.bucket, Math.max(shares.get(window.bucket) ?? 0, window.share()));
    }
    return shares;
  }
}

class Window {
  readonly bucket: Bucket;
  readonly #rate: RateLimit;
  /** Times of the latest requests, in a ring buffer of twice the limit. */
  readonly #sentAt: number[] = [];
  #next = 0;

  constructor(bucket: Bucket, rate: RateLimit) {
    this.bucket = bucket;
    this.#rate = rate;
  }

  add(): void {
    this.#sentAt[this.#next] = performance.now();
    this.#next = (this.#next + 1) % Math.max(1, 2 * this.#rate.limit);
  }

  share(): number {
    const since = performance.now() - this.#rate.interval;
    return this.#sentAt.filter((sentAt) => sentAt > since).length / Math.max(1, this.#rate.limit);
  }
}
