import type { Bucket } from '../../spec/limits.ts';

/** The queue of a rate bucket that a request waits in. */
export type Priority = 'foreground' | 'background';

/** A request that needs a permit of a rate bucket. */
export interface AcquireOptions {
  /** Owner of the bucket: a fingerprint of the token, or one name for buckets kept per client IP. */
  readonly scope: string;
  /** Background requests (waits, usage checks) yield to foreground ones. */
  readonly priority: Priority;
  /** Ends the wait for the permit, which rejects with the signal's own reason. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Maximum pause to wait for, in milliseconds. A limiter that knows of a longer one may reject immediately with an
   * error that carries `retryAt: Date`.
   */
  readonly maxWait?: number | undefined;
  /** Called if the request has to wait, with a function that returns the milliseconds until its permit is expected. */
  readonly onQueued?: ((timeLeft: () => number) => void) | undefined;
}

/**
 * Grants permits to requests so that no rate bucket exceeds its limit. The built-in limiter serves one process; pass
 * another one to share limits among processes.
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
   * Takes a permit and returns true, if the request may be sent immediately. Only the client's own limiter has it: a
   * limiter that a user has wrapped must see every request.
   */
  tryAcquire?(bucket: Bucket, scope: string): boolean;
}

/** The permits of a rate bucket within its interval. */
export interface PermitLog {
  /** Returns the milliseconds until a permit may be free for a request with `ahead` requests before it. */
  wait(ahead: number, priority: Priority): number;
  /** Takes permits for at most `waiting` requests; returns their number, 0 if none is free. Never rejects. */
  take(waiting: number, priority: Priority): number | Promise<number>;
  /** Takes a permit immediately and returns true, if one is free; for logs of one process. */
  takeFree?(): boolean;
  /** Returns whether no permit counts any more. */
  isEmpty(): boolean;
  /** Records that the service has paused the bucket; for logs of several processes. */
  pause?(ms: number): void;
}
