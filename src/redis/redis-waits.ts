import type { SharedWaits } from '../client/index.ts';
import { optionChecker, requiredOption } from '../util/options.ts';
import type { RedisClient } from './commands.ts';
import { FleetMember } from './fleet-member.ts';
import { createWaitStore } from './wait-store.ts';

/** Options of {@link redisWaits}. */
export interface RedisWaitsOptions {
  /** Prefix of the keys, which also name the service. The processes of one account use the same one. */
  readonly prefix: string;
}

const checkOptions = optionChecker<RedisWaitsOptions>('redisWaits', {
  // Braces in the prefix would replace the hash tag, which selects the slot of the keys in a cluster.
  prefix: requiredOption(
    (value) => typeof value === 'string' && /^[^{}]+$/.test(value),
    'must be a non-empty string without braces',
  ),
});

/**
 * Creates what processes need to wait as one: one of them polls for all, and each receives the states of its jobs. Takes
 * a connected client or cluster of `redis` (node-redis) or `ioredis`, and does not close it.
 *
 * While Redis is not available, each process polls for itself.
 *
 * @throws {ConfigurationError} naming the option and the fix.
 *
 * @example
 * const shared = redisWaits(redis, { prefix: 'audience' });
 * const client = new AudienceClient({ baseUrl, token, limiter: redisLimiter(redis), waits: { shared } });
 */
export function redisWaits(redis: RedisClient, options: RedisWaitsOptions): SharedWaits {
  const { prefix } = checkOptions(options);
  return {
    store: 'redis',
    attach(scheduler, baseUrl, warn) {
      scheduler.observer = new FleetMember(createWaitStore(redis, prefix, baseUrl), scheduler, warn);
    },
    holdOf: (baseUrl) => createWaitStore(redis, prefix, baseUrl).budget,
  };
}
