/** Periods vary by up to a tenth, so that clients do not poll in step. */
const JITTER = 0.1;

/** The outcome of a poll that began at `startedAt`. */
export type PollOutcome<R> =
  | { readonly startedAt: number; readonly result: R }
  | { readonly startedAt: number; readonly error: unknown };

/** Polls of one target: when the next one is due, and the one in flight. Times are those of `performance.now()`. */
export class PollTimer {
  readonly createdAt = performance.now();
  /** When its last poll began. */
  startedAt = Number.NEGATIVE_INFINITY;
  /** When the last poll that could have shown the target began; another target's may have. */
  polledAt: number | undefined;
  #jitter = 1;
  #pausedUntil = Number.NEGATIVE_INFINITY;
  /** Aborts the poll in flight, if there is one. */
  inFlight: AbortController | undefined;

  /** When the next poll is due, with `period` between the beginnings of two polls. */
  due(period: number): number {
    const next = this.polledAt === undefined ? this.createdAt : this.polledAt + period * this.#jitter;
    return Math.max(this.#pausedUntil, next);
  }

  /** Lets no poll be due for `ms`: the service asked for the pause. */
  pause(ms: number): void {
    this.#pausedUntil = performance.now() + ms;
  }

  /** Sends a poll; resolves with its outcome, or `undefined` if it was aborted. The next one is due after a period in any case. */
  async run<R>(poll: (signal: AbortSignal) => PromiseLike<R>): Promise<PollOutcome<R> | undefined> {
    const controller = new AbortController();
    const { signal } = controller;
    const startedAt = performance.now();
    this.inFlight = controller;
    this.startedAt = startedAt;
    this.polledAt = startedAt;
    this.#jitter = 1 - JITTER + 2 * JITTER * Math.random();
    try {
      const result = await poll(signal);
      return signal.aborted ? undefined : { startedAt, result };
    } catch (error) {
      return signal.aborted ? undefined : { startedAt, error };
    } finally {
      if (this.inFlight === controller) this.inFlight = undefined;
    }
  }

  /** Aborts the poll in flight. */
  abort(): void {
    this.inFlight?.abort();
    this.inFlight = undefined;
  }
}
