import pRetry from 'p-retry';
import { sleep } from './abort.ts';

/** Random waits between attempts, in milliseconds. */
export interface Backoff {
  /** Minimum of every wait. @default 500 */
  readonly min: number;
  /** Maximum of every wait. @default 30000 */
  readonly max: number;
}

/** Returns the wait before the nth retry (from 1): random in [min, min(max, min · 2^n)]. */
export function backoffDelay(n: number, { min, max }: Backoff, random: () => number): number {
  const top = Math.max(min, Math.min(max, min * 2 ** n));
  return min + random() * (top - min);
}

/** How failed attempts are retried. */
export interface RetryOptions {
  /**
   * Returns the wait before the next attempt in milliseconds, or `undefined` to give up. `retries` is the number of
   * retries so far.
   */
  delayAfter(error: Error, retries: number): number | undefined;
  /** Ends the wait between two attempts; the result rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Runs `attempt` until it succeeds or `delayAfter` gives up; rejects with the error of the last attempt. Does not use
 * the waits of p-retry, because `Retry-After` replaces them and the jitter is documented.
 */
export function withRetries<T>(attempt: () => Promise<T>, { delayAfter, signal }: RetryOptions): Promise<T> {
  return pRetry(attempt, {
    retries: Number.POSITIVE_INFINITY,
    minTimeout: 0,
    ...(signal && { signal }),
    shouldRetry: async ({ error, attemptNumber }) => {
      const delay = delayAfter(error, attemptNumber - 1);
      if (delay === undefined) return false;
      await sleep(delay, signal);
      return true;
    },
  });
}

/** Limits how many retries a client makes while the service fails: a token bucket, as in the AWS SDKs. */
export interface RetryBudgetOptions {
  /** Tokens when full. @default 500 */
  readonly capacity?: number | undefined;
  /** Tokens that one retry takes; a retry that succeeds returns them. @default 5 */
  readonly cost?: number | undefined;
}

/** Tokens that a call adds when it succeeds without a retry. */
const REFILL = 1;

/**
 * The tokens left for retries of connection failures, timeouts and 5xx responses. In an outage they run out after
 * `capacity / cost` retries; calls are then not retried after such failures until others succeed.
 */
export class RetryBudget {
  readonly #capacity: number;
  readonly #cost: number;
  #tokens: number;

  /** `false` sets no limit. */
  constructor(options: RetryBudgetOptions | false = {}) {
    const { capacity = 500, cost = 5 } = options || { capacity: 0, cost: 0 };
    this.#capacity = capacity;
    this.#cost = cost;
    this.#tokens = capacity;
  }

  /** Takes the tokens for one retry; `false` when too few are left. */
  take(): boolean {
    if (this.#tokens < this.#cost) return false;
    this.#tokens -= this.#cost;
    return true;
  }

  /** Adds tokens for a call that succeeded. */
  onSuccess(retried: boolean): void {
    this.#tokens = Math.min(this.#capacity, this.#tokens + (retried ? this.#cost : REFILL));
  }
}
