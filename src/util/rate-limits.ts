import { ConfigurationError } from '../errors/audience-error.ts';
import { type Bucket, RATE_LIMITS, type RateLimit, type RateLimits } from '../spec/limits.ts';
import type { Optional } from '../spec/wire-values.ts';

/** Returns whether a value is the name of a rate bucket. */
export function isBucket(name: string): name is Bucket {
  return Object.hasOwn(RATE_LIMITS, name);
}

/**
 * Returns the default rate limits with the user's changes.
 *
 * @throws {ConfigurationError} for an unknown bucket or an invalid limit.
 */
export function mergeRateLimits(changes: Optional<RateLimits>): RateLimits {
  const limits = { ...RATE_LIMITS };
  for (const [bucket, rate] of Object.entries<RateLimit | undefined>(changes)) {
    if (rate === undefined) continue;
    if (!isBucket(bucket)) {
      const buckets = Object.keys(RATE_LIMITS).join(', ');
      throw new ConfigurationError(`\`rateLimits.${bucket}\` is not a rate bucket.`, { advice: `Use ${buckets}.` });
    }
    if (!Number.isInteger(rate?.limit) || rate.limit < 1 || !(rate.interval > 0 && Number.isFinite(rate.interval))) {
      const message = `\`rateLimits.${bucket}\` must have an integer \`limit\` of 1 or more and a finite \`interval\` above 0 in milliseconds.`;
      throw new ConfigurationError(message);
    }
    limits[bucket] = rate;
  }
  return limits;
}
