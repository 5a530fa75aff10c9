import pRetry from 'p-retry';
import { sleep } from './abort.ts';

/** Bounds of the random delay between attempts, in milliseconds. */
export interface Backoff {
  /** Minimum delay between attempts, in milliseconds. @default 500 ms */
  readonly min: number;
  /** Maximum delay between attempts, in milliseconds. @default 30000 ms */
  readonly max: number;
}

/**
 * Returns the delay before the nth retry (from 1), in milliseconds: random between `min` and `min · 2^n`, at most
 * `max`.
 */
export function backoffDelay(n: number, { min, max }: Backoff, random: () => number): number {
  const top = Math.max(min, Math.min(max, min * 2 ** n));
  return min + random() * (top - min);
}

export interface RetryOptions {
  /**
   * Returns the delay before the next attempt in milliseconds, or `undefined` to give up. `retries` is the number of
   * retries so far.
   */
  delayAfter(error: Error, retries: number): number | undefined | Promise<number | undefined>;
  /** Signal that ends the delay between two attempts. The promise rejects with the reason of the signal. */
  readonly signal?: AbortSignal | undefined;
  /** Error of the first attempt, if the caller has already made this attempt. */
  readonly failed?: Error;
}

/**
 * Runs `attempt` until it succeeds or `delayAfter` gives up. Rejects with the error of the last attempt. `delayAfter`
 * replaces the delays of p-retry, which do not take `Retry-After` into account.
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
