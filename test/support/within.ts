/** Time for work that takes some seconds on a quiet machine, such as that of a process. */
const LIMIT_MS = 150_000;

const realTimers = { setTimeout, clearTimeout };

/** Settles as `work` does. If it never does, the error says what the test waited for. */
export async function within<T>(work: PromiseLike<T>, what: () => string): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const fail = (): void => reject(new Error(`Waited ${LIMIT_MS / 1_000} s for ${what()}`));
  const timer = realTimers.setTimeout(fail, LIMIT_MS);
  try {
    return await Promise.race([work, late]);
  } finally {
    realTimers.clearTimeout(timer);
  }
}
