import { checkNames } from '../client/option-names.ts';
import { check } from '../errors/audience-error.ts';
import { checkLimits } from '../rate-limit/check-limits.ts';
import type { RateLimiter } from '../rate-limit/rate-limiter.ts';
import type { Bucket, RateLimit, RateLimits } from '../spec/limits.ts';
import type { Optional } from '../util/input-types.ts';
import type { Logger } from '../util/log.ts';
import { type RedisClient, type RunScript, scriptRunner } from './commands.ts';
import { Outage } from './health.ts';
import { within } from './patient.ts';
import { SharedLane } from './redis-bucket.ts';
import { sharedLog } from './reserve.ts';

/** Options of {@link redisLimiter}. */
export interface RedisLimiterOptions {
  /** The service's limits; a bucket given replaces that bucket only. @default those of the specification */
  readonly rateLimits?: Optional<RateLimits> | undefined;
  /**
   * How much longer than its interval a bucket's window is kept. Requests that arrive closer together than they left
   * must not exceed the limit: more than the network's latency varies. Milliseconds. @default 1000
   */
  readonly margin?: number | undefined;
  /** Begins the keys. Processes that share limits have the same. @default 'audience-activation' */
  readonly prefix?: string | undefined;
  /**
   * How many processes share the limits: while Redis is away, each takes that part of them. Without it, requests wait
   * for Redis.
   */
  readonly fallback?: { readonly processes: number } | undefined;
  /** Is warned when Redis does not answer, and when it does again. @default console */
  readonly logger?: Pick<Logger, 'warn'> | undefined;
}

const NAMES: Readonly<Record<keyof RedisLimiterOptions, true>> = {
  rateLimits: true,
  margin: true,
  prefix: true,
  fallback: true,
  logger: true,
};

/** An answer of Redis that takes longer is none. Milliseconds. */
const ANSWER_TIME = 1_000;

/** Timers are never that late in a process that runs. Milliseconds. */
const LEAST_PATIENCE = 50;

/**
 * Keeps the limits of a token by one log in Redis, for all processes that use it: exact in every window, in about one
 * operation for each request.
 *
 * @throws {ConfigurationError} naming the option and the fix.
 * @example
 * const limiter = redisLimiter(redis, { fallback: { processes: 6 } });
 * const client = new AudienceClient({ baseUrl, token, limiter });
 */
export function redisLimiter(redis: RedisClient, options: RedisLimiterOptions = {}): RateLimiter {
  const { margin = 1_000, prefix = 'audience-activation', fallback, logger = console } = options;
  checkNames(options, NAMES, 'redisLimiter');
  checkOptions(margin, prefix, fallback);
  const limits = checkLimits(options.rateLimits ?? {});
  // What is left of the margin is for the network.
  const patience = Math.max(LEAST_PATIENCE, margin / 2);
  const lanes = new Map<string, SharedLane>();
  const outage = new Outage(logger, fallback ? 'each process takes its part of them' : 'requests wait until it does');
  const log = sharedLog(inTime(scriptRunner(redis)));

  function lane(bucket: Bucket, scope: string): SharedLane {
    // The braces keep a bucket in one slot of a cluster.
    const key = `${prefix}:limit:{${bucket}:${scope}}`;
    const known = lanes.get(key);
    if (known) return known;
    for (const [name, other] of lanes) if (other.idle()) lanes.delete(name);
    const rate = limits[bucket];
    const span = Math.ceil(rate.interval + margin);
    const share = fallback && shareOf({ limit: rate.limit, interval: span }, fallback.processes);
    const created = new SharedLane({ log, outage, key, limit: rate.limit, span, patience, share });
    lanes.set(key, created);
    return created;
  }

  return {
    acquire: (bucket, { scope, ...request }) => lane(bucket, scope).acquire(request),
    pause: (bucket, scope, ms) => lane(bucket, scope).pause(ms),
  };
}

/** What TypeScript would refuse, and what it cannot. */
function checkOptions(margin: number, prefix: string, fallback: RedisLimiterOptions['fallback']): void {
  check(Number.isFinite(margin) && margin >= 0, '`margin` must be a number of 0 or more.');
  // Braces of its own would decide about the slot of a cluster.
  check(typeof prefix === 'string' && /^[^{}]+$/.test(prefix), '`prefix` must be a text without braces.');
  const { processes } = fallback ?? { processes: 1 };
  check(Number.isInteger(processes) && processes > 0, '`fallback.processes` must be a whole number of 1 or more.');
}

/** A process's part of a limit; where there are more processes than slots, one slot in a longer time. */
function shareOf({ limit, interval }: RateLimit, processes: number): RateLimit {
  const part = Math.floor(limit / processes);
  return part > 0 ? { limit: part, interval } : { limit: 1, interval: interval * Math.ceil(processes / limit) };
}

/** Clients queue commands while they are not connected: whoever waits for a slot does not wait for that. */
function inTime(run: RunScript): RunScript {
  const late = (): Error => new Error(`no answer within ${ANSWER_TIME} ms`);
  return (...script) => within(run(...script), ANSWER_TIME, late);
}
