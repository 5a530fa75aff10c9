import { ConfigurationError } from '../errors/audience-error.ts';
import { type Bucket, RATE_LIMITS, type RateLimit, type RateLimits } from '../spec/limits.ts';
import type { Optional } from '../util/input-types.ts';
import { type Priority, RateLimitBucket } from './rate-limit-bucket.ts';

/** A request that needs a permit of a rate bucket. */
export interface AcquireOptions {
  /** Owner of the bucket: a fingerprint of the token, or one name for buckets kept per client IP. */
  readonly scope: string;
  /** Background requests (waits, usage checks) yield to foreground ones. */
  readonly priority: Priority;
  readonly signal?: AbortSignal | undefined;
  /**
   * Maximum pause to wait for, in milliseconds. A limiter that knows of a longer one may reject immediately with an
   * error that carries `retryAt: Date`.
   */
  readonly maxWait?: number | undefined;
}

/**
 * Grants permits to requests so that no rate bucket exceeds its limit. The built-in one serves one process; pass your
 * own to share limits among several.
 */
export interface RateLimiter {
  /** Resolves when the request may be sent immediately. */
  acquire(bucket: Bucket, options: AcquireOptions): Promise<void>;
  /** Pauses a bucket after a 429, for `ms` milliseconds. */
  pause(bucket: Bucket, scope: string, ms: number): void;
}

/**
 * Creates a limiter for several clients of this process that use one token, such as a client and a connection of
 * `connectMcp`: without it each keeps the limits separately. Processes share limits by `redisLimiter`.
 *
 * @param rateLimits The service's limits; each bucket that is set replaces that bucket only.
 * @throws {ConfigurationError} naming the bucket that is wrong.
 * @example
 * const limiter = memoryLimiter();
 * const [one, other] = [new AudienceClient({ token, limiter }), new AudienceClient({ token, limiter })];
 */
export function memoryLimiter(rateLimits: Optional<RateLimits> = {}): RateLimiter {
  return createRateLimiter(mergeRateLimits(rateLimits));
}

/** Creates the limiter of one process. `false` grants every permit immediately, except during a pause. */
export function createRateLimiter(limits: RateLimits | false): RateLimiter {
  const buckets = new Map<string, RateLimitBucket>();

  function bucketOf(name: Bucket, scope: string): RateLimitBucket {
    const key = `${name} ${scope}`;
    const existing = buckets.get(key);
    if (existing) return existing;
    // Tokens are replaced: an idle bucket holds nothing that a new one would not.
    for (const [other, bucket] of buckets) if (bucket.isIdle) buckets.delete(other);
    const created = new RateLimitBucket(limits === false ? undefined : limits[name]);
    buckets.set(key, created);
    return created;
  }

  return {
    acquire: (bucket, options) => bucketOf(bucket, options.scope).acquire(options),
    pause: (bucket, scope, ms) => bucketOf(bucket, scope).pause(ms),
  };
}

/** Whether a value is the name of a rate bucket. */
export function isBucket(name: string): name is Bucket {
  return Object.hasOwn(RATE_LIMITS, name);
}

/**
 * Returns the service's limits with those that are set by the user.
 *
 * @throws {ConfigurationError} naming the bucket that is wrong.
 */
export function mergeRateLimits(changes: Optional<RateLimits>): RateLimits {
  const limits = { ...RATE_LIMITS };
  for (const [bucket, rate] of Object.entries<RateLimit | undefined>(changes)) {
    if (rate === undefined) continue;
    if (!isBucket(bucket)) {
      const buckets = Object.keys(RATE_LIMITS).join(', ');
      throw new ConfigurationError(`\`rateLimits.${bucket}\` is not a rate bucket. Use ${buckets}.`);
    }
    if (!Number.isInteger(rate?.limit) || rate.limit < 1 || !(rate.interval > 0 && Number.isFinite(rate.interval))) {
      const message = `\`rateLimits.${bucket}\` must have an integer \`limit\` of 1 or more and an \`interval\` above 0.`;
      throw new ConfigurationError(message);
    }
    limits[bucket] = rate;
  }
  return limits;
}
