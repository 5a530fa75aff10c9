/** Time between two looks is off by up to a tenth, so that clients do not march in step. */
const JITTER = 0.1;

/** When something was looked at, and when it is due again. Times are those of `performance.now()`. */
export class Turn {
  /** When the last look that could have shown it began. */
  looked: number | undefined;
  #jitter = 1;
  #heldUntil = Number.NEGATIVE_INFINITY;
  #under: AbortController | undefined;

  /** Whether a look is under way. */
  get busy(): boolean {
    return this.#under !== undefined;
  }

  /** When the next look is due; `undefined` before the first. */
  due(period: number): number | undefined {
    return this.looked === undefined ? undefined : Math.max(this.#heldUntil, this.looked + period * this.#jitter);
  }

  /** The service asked for time: no look for `ms`. */
  hold(ms: number): void {
    this.#heldUntil = performance.now() + ms;
  }

  /** Takes a look. A failed one counts, too: the next is due as after any other. */
  async take<R>(look: (signal: AbortSignal) => PromiseLike<R>): Promise<Taken<R>> {
    const under = new AbortController();
    const began = performance.now();
    this.#under = under;
    this.looked = began;
    this.#jitter = 1 - JITTER + 2 * JITTER * Math.random();
    try {
      const result = await look(under.signal);
      return under.signal.aborted ? { began, aborted: true } : { began, result };
    } catch (error) {
      return under.signal.aborted ? { began, aborted: true } : { began, error };
    } finally {
      if (this.#under === under) this.#under = undefined;
    }
  }

  /** Ends a look under way: nobody wants to know any more. */
  abort(): void {
    this.#under?.abort();
    this.#under = undefined;
  }
}

/** What came of a look that began at `began`. */
export type Taken<R> =
  | { readonly began: number; readonly result: R }
  | { readonly began: number; readonly error: unknown }
  | { readonly began: number; readonly aborted: true };
