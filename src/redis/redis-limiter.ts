import { limiterOf, SlidingWindowLog } from '../client/index.ts';
import type { RateLimiter } from '../index.ts';
import type { RateLimit, RateLimits } from '../spec/limits.ts';
import type { Optional } from '../spec/wire-values.ts';
import { safely } from '../util/callbacks.ts';
import type { Logger } from '../util/log.ts';
import { anyOption, integer, nestedOptions, optionChecker, valueOption } from '../util/options.ts';
import { mergeRateLimits } from '../util/rate-limits.ts';
import { type RedisClient, scriptRunner } from './commands.ts';
import { SharedLog } from './shared-log.ts';

/** Options of {@link redisLimiter}. */
export interface RedisLimiterOptions {
  /**
   * Rate limits of the service, by bucket. Buckets that you do not set keep their defaults.
   * @default the limits of the specification
   */
  readonly rateLimits?: Optional<RateLimits> | undefined;
  /**
   * Milliseconds to add to the interval of each bucket. The margin must exceed the jitter of the network, because
   * requests may arrive closer together than the processes sent them.
   * @default 1000 ms
   */
  readonly margin?: number | undefined;
  /** Prefix of the Redis keys. Processes that share limits must use the same prefix. @default 'audience-activation' */
  readonly prefix?: string | undefined;
  /**
   * Lets each process use its share of the limits, the limit divided by `processes`, while Redis fails. Without this
   * option, requests wait until Redis responds.
   */
  readonly fallback?:
    | {
        /** Maximum number of processes that share the limits, at least 1. */
        readonly processes: number;
      }
    | undefined;
  /** Logger that receives a warning when Redis fails, and when Redis responds again. @default console */
  readonly logger?: Pick<Logger, 'warn'> | undefined;
}

const checkOptions = optionChecker<RedisLimiterOptions>('redisLimiter', {
  rateLimits: anyOption,
  margin: valueOption((value) => Number.isFinite(value) && Number(value) >= 0, 'must be a finite number of 0 or more'),
  // Braces in the prefix would replace the hash tag, which selects the key's slot in a cluster.
  prefix: valueOption(
    (value) => typeof value === 'string' && /^[^{}]+$/.test(value),
    'must be a non-empty string without braces',
  ),
  fallback: nestedOptions<NonNullable<RedisLimiterOptions['fallback']>>({ processes: integer(1) }),
  logger: anyOption,
});

const ignore = (): void => {};

/** Minimum of `maxDelayMs`, in milliseconds. Timers of a running process are rarely later than this. */
const MIN_DELAY_MS = 50;

/**
 * Creates a rate limiter that processes share: each bucket has a sliding-window log in Redis.
 *
 * @throws {ConfigurationError} for an invalid option.
 * @example
 * const limiter = redisLimiter(redis, { fallback: { processes: 6 } });
 * const client = new AudienceClient({ baseUrl, token, limiter });
 */
export function redisLimiter(redis: RedisClient, options: RedisLimiterOptions = {}): RateLimiter {
  const { margin = 1_000, prefix = 'audience-activation', fallback, logger = console } = checkOptions(options);
  const limits = mergeRateLimits(options.rateLimits ?? {});
  const run = scriptRunner(redis);
  const { acquire, pause } = limiterOf((name, scope, pauseHere) => {
    const { limit, interval } = limits[name];
    const window = Math.ceil(interval + margin);
    return new SharedLog({
      run,
      key: `${prefix}:limit:{${name}:${scope}}`,
      limit,
      window,
      // Half of the margin covers late timers, the other half covers network jitter.
      maxDelayMs: Math.max(MIN_DELAY_MS, margin / 2),
      local: fallback && new SlidingWindowLog(shareOf({ limit, interval: window }, fallback.processes)),
      pause: pauseHere,
      warn: (message) => safely(() => logger.warn(message), ignore),
    });
  });
  return { acquire, pause };
}

/**
 * Returns the share of one process in a limit. If there are more processes than permits, the share is one permit in a
 * longer interval.
 */
function shareOf({ limit, interval }: RateLimit, processes: number): RateLimit {
  const share = Math.floor(limit / processes);
  return share > 0 ? { limit: share, interval } : { limit: 1, interval: interval * Math.ceil(processes / limit) };
}
