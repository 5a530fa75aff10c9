import type { Bucket, RateLimits } from '../spec/limits.ts';
import { AbortScope, abortable } from '../util/abort.ts';
import type { Optional } from '../util/input-types.ts';
import { checkLimits } from './check-limits.ts';
import { Lane, type Priority } from './rate-limit-bucket.ts';
import { createSlidingLog, unlimited } from './sliding-window-log.ts';

/** What a limiter is told about a request that wants a slot. */
export interface AcquireOptions {
  /** Whose bucket: a fingerprint of the token, or the origin for buckets kept per client IP. */
  readonly scope: string;
  /** Background requests (waits, usage checks) yield to foreground ones. */
  readonly priority: Priority;
  readonly signal?: AbortSignal | undefined;
  /**
   * The longest pause that the call will sit out, in milliseconds. A limiter that knows of a
   * longer one may reject at once with an error that carries `retryAt: Date`.
   */
  readonly maxWait?: number | undefined;
}

/**
 * Grants slots to requests so that no bucket is overrun. The built-in one serves one process;
 * give your own to share limits among several.
 */
export interface RateLimiter {
  /** Resolves when the request may be sent at once. */
  acquire(bucket: Bucket, options: AcquireOptions): Promise<void>;
  /** Holds a bucket after a 429, for `ms` milliseconds. */
  pause(bucket: Bucket, scope: string, ms: number): void;
}

/** What a client's calls ask for slots: a limiter that takes their scopes, too. */
export interface Gatekeeper extends RateLimiter {
  acquire(
    bucket: Bucket,
    options: Omit<AcquireOptions, 'signal'> & { readonly signal?: AbortSignal | undefined },
  ): Promise<void>;
}

/** A limiter of the user's, which may ignore the signal: the call ends all the same. */
export function gatekeeperOf(limiter: RateLimiter): Gatekeeper {
  return {
    async acquire(bucket, { signal, ...options }) {
      const platform = signal instanceof AbortScope ? signal.signal : signal;
      return abortable(limiter.acquire(bucket, { ...options, ...(platform && { signal: platform }) }), signal);
    },
    pause: (bucket, scope, ms) => limiter.pause(bucket, scope, ms),
  };
}

/**
 * A limiter for several clients of this process that use one token, such as a client and a connection of `connectMcp`:
 * each would count by itself. Processes share limits by `redisLimiter`.
 *
 * @param rateLimits The service's limits; a bucket given replaces that bucket only.
 * @throws {ConfigurationError} naming the bucket that is wrong.
 * @example
 * const limiter = memoryLimiter();
 * const [one, other] = [new AudienceClient({ token, limiter }), new AudienceClient({ token, limiter })];
 */
export function memoryLimiter(rateLimits: Optional<RateLimits> = {}): RateLimiter {
  return createLimiter(checkLimits(rateLimits));
}

/** The limiter of one process. `limits: false` grants every slot at once, pauses excepted. */
export function createLimiter(limits: RateLimits | false): Gatekeeper {
  const lanes = new Map<string, Lane>();

  function lane(bucket: Bucket, scope: string): Lane {
    const key = `${bucket} ${scope}`;
    const known = lanes.get(key);
    if (known) return known;
    // Tokens come and go: an idle lane holds nothing that a new one would not.
    for (const [name, other] of lanes) if (other.idle()) lanes.delete(name);
    const created = new Lane(limits === false ? unlimited : createSlidingLog(limits[bucket]));
    lanes.set(key, created);
    return created;
  }

  return {
    acquire: (bucket, options) => lane(bucket, options.scope).acquire(options),
    pause: (bucket, scope, ms) => lane(bucket, scope).pause(ms),
  };
}
