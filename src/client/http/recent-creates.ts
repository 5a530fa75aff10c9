/** How long a resource may be invisible after its create was confirmed (assumed), in milliseconds. */
const INVISIBLE_MS = 10_000;

/** Resources that a client has created within the last seconds. */
export class RecentCreates {
  /** Times of the creates on the monotonic clock, in order. */
  readonly #times = new Map<string, number>();

  /** Records that a create was confirmed. */
  add(name: string, id: number): void {
    const now = performance.now();
    for (const [key, at] of this.#times) {
      if (now - at < INVISIBLE_MS) break;
      this.#times.delete(key);
    }
    this.#times.delete(`${name} ${id}`);
    this.#times.set(`${name} ${id}`, now);
  }

  /** Returns whether a read may not find the resource yet. */
  has(name: string, id: number): boolean {
    const at = this.#times.get(`${name} ${id}`) ?? Number.NEGATIVE_INFINITY;
    return performance.now() - at < INVISIBLE_MS;
  }
}
