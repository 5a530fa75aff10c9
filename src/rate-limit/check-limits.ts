import { ConfigurationError } from '../errors/audience-error.ts';
import { type Bucket, RATE_LIMITS, type RateLimit, type RateLimits } from '../spec/limits.ts';
import type { Optional } from '../util/input-types.ts';

/** Whether a value is the name of a bucket. */
export function isBucket(name: string): name is Bucket {
  return Object.hasOwn(RATE_LIMITS, name);
}

/**
 * The limits given, on top of those of the specification.
 *
 * @throws {ConfigurationError} naming the bucket that is wrong.
 */
export function checkLimits(given: Optional<RateLimits>): RateLimits {
  const limits = { ...RATE_LIMITS };
  for (const [bucket, rate] of Object.entries<RateLimit | undefined>(given)) {
    if (rate === undefined) continue;
    if (!isBucket(bucket)) {
      throw new ConfigurationError(
        `\`rateLimits.${bucket}\` is no bucket: use ${Object.keys(RATE_LIMITS).join(', ')}.`,
      );
    }
    if (!Number.isInteger(rate?.limit) || rate.limit < 1 || !(rate.interval > 0 && Number.isFinite(rate.interval))) {
      throw new ConfigurationError(
        `\`rateLimits.${bucket}\` needs an integer \`limit\` from 1 and an \`interval\` above 0.`,
      );
    }
    limits[bucket] = rate;
  }
  return limits;
}
