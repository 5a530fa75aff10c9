import type { Bucket } from '../../spec/limits.ts';

/** The queue of a rate bucket in which a request waits. */
export type Priority = 'foreground' | 'background';

/** A request that needs a permit of a rate bucket. */
export interface AcquireOptions {
  /**
   * Owner of the bucket: a fingerprint of the token, or the same name for all buckets that the service counts per
   * client IP.
   */
  readonly scope: string;
  /** Background requests (polls, usage reports) yield to foreground requests. */
  readonly priority: Priority;
  /** Signal that ends the wait for the permit. `acquire` rejects with the reason of the signal. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Maximum pause to wait for, in milliseconds. During a longer pause, a limiter may reject immediately with an error
   * that has `retryAt: Date`.
   */
  readonly maxWait?: number | undefined;
  /** Called if the request has to wait, with a function that returns the expected milliseconds until its permit. */
  readonly onQueued?: ((timeLeft: () => number) => void) | undefined;
}

/**
 * Grants permits to requests so that no rate bucket exceeds its limit. The built-in limiter serves one process. To
 * share limits among processes, pass another limiter.
 */
export interface RateLimiter {
  /** Resolves when the request may be sent immediately. */
  acquire(bucket: Bucket, options: AcquireOptions): Promise<void>;
  /** Pauses a bucket after a 429, for `ms` milliseconds. */
  pause(bucket: Bucket, scope: string, ms: number): void;
}

/** The limiter of a client. */
export interface ClientLimiter extends RateLimiter {
  /**
   * If the request may be sent immediately, takes a permit and returns true. Only the client's own limiter has this
   * method: a user's limiter must see every request.
   */
  tryAcquire?(bucket: Bucket, scope: string): boolean;
}

/** The permits of a rate bucket within its interval. */
export interface PermitLog {
  /** Returns the milliseconds until a permit may be free for a request with `ahead` requests before it. */
  wait(ahead: number, priority: Priority): number;
  /**
   * Takes permits for at most `waiting` requests. Returns the number of permits, 0 if no permit is free. Never rejects.
   */
  take(waiting: number, priority: Priority): number | Promise<number>;
  /** If a permit is free, takes it immediately and returns true. Only logs of one process have this method. */
  takeFree?(): boolean;
  /** Returns whether no permit is in the current interval. */
  isEmpty(): boolean;
  /** Records that the service has paused the bucket. Only logs of several processes have this method. */
  pause?(ms: number): void;
}
