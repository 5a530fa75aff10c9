import pRetry from 'p-retry';
import { sleep } from './abort.ts';

/** Random waits between attempts, in milliseconds. */
export interface Backoff {
  /** Minimum delay between attempts, in milliseconds. @default 500 ms */
  readonly min: number;
  /** Maximum delay between attempts, in milliseconds. @default 30000 ms */
  readonly max: number;
}

/** Returns the wait before the nth retry (from 1): random in [min, min(max, min · 2^n)]. */
export function backoffDelay(n: number, { min, max }: Backoff, random: () => number): number {
  const top = Math.max(min, Math.min(max, min * 2 ** n));
  return min + random() * (top - min);
}

/** Options of the retry loop. */
export interface RetryOptions {
  /**
   * Returns the wait before the next attempt in milliseconds, or `undefined` to give up. `retries` is the number of
   * retries so far.
   */
  delayAfter(error: Error, retries: number): number | undefined | Promise<number | undefined>;
  /** Signal that ends the wait between two attempts. The promise rejects with the reason of the signal. */
  readonly signal?: AbortSignal | undefined;
  /** Error of the first attempt, if the caller has made it. */
  readonly failed?: Error;
}

/**
 * Runs `attempt` until it succeeds or `delayAfter` gives up; rejects with the error of the last attempt. Does not use
 * the waits of p-retry, because `Retry-After` replaces them and the jitter is documented.
 */
export function withRetries<T>(attempt: () => Promise<T>, { delayAfter, signal, failed }: RetryOptions): Promise<T> {
  return pRetry((n) => (failed && n === 1 ? Promise.reject(failed) : attempt()), {
    retries: Number.POSITIVE_INFINITY,
    minTimeout: 0,
    ...(signal && { signal }),
    shouldRetry: async ({ error, attemptNumber }) => {
      const delay = await delayAfter(error, attemptNumber - 1);
      if (delay === undefined) return false;
      await sleep(delay, signal);
      return true;
    },
  });
}
