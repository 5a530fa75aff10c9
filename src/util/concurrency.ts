import { abortable } from './abort.ts';

/**
 * Returns a function by which callers share work: while the work of one caller runs, other callers wait for its result.
 * The abort of a caller ends only that caller's wait, not the work.
 */
export function singleFlight<T>(): (work: () => Promise<T>, signal?: AbortSignal) => Promise<T> {
  let flight: Promise<T> | undefined;
  return (work, signal) => {
    if (!flight) {
      const started = work().finally(() => {
        flight = undefined;
      });
      // Avoid an unhandled rejection if every caller has aborted when the work fails.
      started.catch(() => {});
      flight = started;
    }
    return abortable(flight, signal);
  };
}

/** Runs work that shares a key one after another, in the order of the calls. */
export type Mutex = <R>(key: string, work: () => Promise<R>) => Promise<R>;

/** Creates a mutex for this process. A key is removed when its last work has ended. */
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
