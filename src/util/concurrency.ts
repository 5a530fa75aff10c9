import { settled } from './abort.ts';
import { Heartbeat, SILENCE_MS } from './heartbeat.ts';

/** Work of one caller for which other callers can wait, until it settles or is abandoned. */
export class SharedWork<T> {
  readonly result: Promise<T>;
  isSettled = false;
  readonly #heartbeat = new Heartbeat();

  constructor(work: () => Promise<T>) {
    this.result = work().finally(() => {
      this.#heartbeat.stop();
      this.isSettled = true;
    });
    // Avoid an unhandled rejection if every caller has aborted when the work fails.
    this.result.catch(() => {});
  }

  /** Resolves when the work has settled or was abandoned. Rejects with the reason of the signal. */
  async ended(signal?: AbortSignal): Promise<void> {
    // Check twice: after a sleep of the machine, this timer may fire before the heartbeat.
    for (let looks = 0; looks < 2 && !this.isSettled; looks = this.#heartbeat.isSilent ? looks + 1 : 0)
      await settled(this.result, SILENCE_MS, signal);
  }
}

/**
 * Returns a function with which callers share work: while the work of one caller runs, other callers wait for its
 * result. If a caller aborts, its wait ends, but not the work. If the work is abandoned, another caller starts it
 * again.
 */
export function singleFlight<T>(): (work: () => Promise<T>, signal?: AbortSignal) => Promise<T> {
  let flight: SharedWork<T> | undefined;
  return async (work, signal) => {
    for (;;) {
      if (!flight || flight.isSettled) flight = new SharedWork(work);
      const current = flight;
      await current.ended(signal);
      if (current.isSettled) return current.result;
      if (flight === current) flight = undefined;
    }
  };
}

/** Runs work with the same key one after another, in the order of the calls. */
export type Mutex = <R>(key: string, work: () => Promise<R>) => Promise<R>;

/** Creates a mutex for this process. Removes a key when its last work has ended. */
export function createMutex(): Mutex {
  const tails = new Map<string, Promise<unknown>>();
  return (key, work) => {
    const result = (tails.get(key) ?? Promise.resolve()).then(work);
    const tail = result
      .catch(() => {})
      .then(() => {
        if (tails.get(key) === tail) tails.delete(key);
      });
    tails.set(key, tail);
    return result;
  };
}
