import type { Bucket } from '../../spec/limits.ts';

/** The queue of a rate bucket in which a request waits. */
export type Priority = 'foreground' | 'background';

/** A request that needs a permit of a rate bucket. */
export interface AcquireOptions {
  /** Owner of the bucket: a fingerprint of the token, or `ip` for the buckets that the service counts per client IP. */
  readonly scope: string;
  /** Background requests (polls, and the client's own reads of the build budget) yield to foreground requests. */
  readonly priority: Priority;
  /** Signal that aborts `acquire`, which then rejects with the reason of the signal. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Maximum pause to wait for, in milliseconds. If a pause is longer, a limiter may reject immediately with an error
   * that has a `retryAt: Date`.
   */
  readonly maxWait?: number | undefined;
  /**
   * Called if the request has to wait. Receives a function that returns the expected number of milliseconds until the
   * request gets its permit.
   */
  readonly onQueued?: ((timeLeft: () => number) => void) | undefined;
}

/**
 * Grants permits to requests so that no rate bucket exceeds its limit. The built-in limiter serves one process. To
 * share limits among processes, pass another limiter, such as `redisLimiter`.
 */
export interface RateLimiter {
  /** Resolves when the client may send the request. */
  acquire(bucket: Bucket, options: AcquireOptions): Promise<void>;
  /** Pauses a bucket after a 429, for `ms` milliseconds. */
  pause(bucket: Bucket, scope: string, ms: number): void;
}

export interface ClientLimiter extends RateLimiter {
  /**
   * If a permit is free, acquires the permit and returns true. Only the client's own limiter has this method, because a
   * user's limiter must see every request.
   */
  tryAcquire?(bucket: Bucket, scope: string): boolean;
}

/** The permits of a rate bucket within its interval. */
export interface PermitLog {
  /** Returns the milliseconds until a permit may be free for a request that has `ahead` requests before it. */
  wait(ahead: number, priority: Priority): number;
  /** Acquires up to `waiting` permits. Returns the number of acquired permits, which may be 0. Never rejects. */
  take(waiting: number, priority: Priority): number | Promise<number>;
  /**
   * If a permit is free, acquires the permit immediately and returns true. Only logs of one process have this method.
   */
  takeFree?(): boolean;
  /** Returns whether no permit was acquired in the current interval. */
  isEmpty(): boolean;
  /** Records that the service has paused the bucket. Only logs of several processes have this method. */
  pause?(ms: number): void;
}
