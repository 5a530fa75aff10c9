import { abortable } from './abort.ts';

/** Runs one flight for all who ask meanwhile, detached from their aborts. */
export function singleFlight<T>(): (work: () => Promise<T>, signal?: AbortSignal) => Promise<T> {
  let flight: Promise<T> | undefined;
  return (work, signal) => {
    if (!flight) {
      const started = work().finally(() => {
        flight = undefined;
      });
      // Every caller may have aborted by the time it fails.
      started.catch(() => {});
      flight = started;
    }
    return abortable(flight, signal);
  };
}

/** Runs work that shares a key one after another, in the order of the calls. */
export type Mutex = <R>(key: string, work: () => Promise<R>) => Promise<R>;

/** Creates a mutex of this process. Keys that nobody holds are forgotten. */
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
