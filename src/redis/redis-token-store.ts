import { readStoredToken } from '../client/index.ts';
import { AudienceError } from '../errors/audience-error.ts';
import type { StoredToken, TokenStore } from '../index.ts';
import { integer, optional, optionChecker, requiredString } from '../util/options.ts';
import { type RedisClient, type Script, scriptRunner } from './commands.ts';
import { createRedisLock } from './lock.ts';
import { CHECK_REDIS, retryingRunner } from './retrying-runner.ts';

/** Options of {@link redisTokenStore}. */
export interface RedisTokenStoreOptions {
  /**
   * The key of the token in Redis. Use a separate key for each kind of token and each account (with OAuth, for each
   * user).
   */
  readonly key: string;
  /**
   * Milliseconds until the lock of a process that was killed or suspended expires: an integer from 100 to 3600000.
   * @default 10000 ms
   */
  readonly lease?: number | undefined;
}

const checkOptions = optionChecker<RedisTokenStoreOptions>('redisTokenStore', {
  key: requiredString,
  lease: optional(integer(100, 3_600_000)),
});

const TIMEOUT_MS = 10_000;

const GET: Script = { source: "return redis.call('GET', KEYS[1])" };

/**
 * Replaces the value `ARGV[1]` with `ARGV[2]` (an empty string means no key), unless another value was saved meanwhile.
 * So a command that the Redis client sends late does no harm.
 */
const COMPARE_AND_SET: Script = {
  source: `
local current = redis.call('GET', KEYS[1]) or ''
if current ~= ARGV[1] and current ~= ARGV[2] then return 0 end
if ARGV[2] == '' then redis.call('DEL', KEYS[1]) else redis.call('SET', KEYS[1], ARGV[2]) end
return 1`,
};

/**
 * Creates a token store in Redis that processes on several machines share, so that one process issues or renews the
 * token for all. Takes a connected client or cluster of `redis` (node-redis) or `ioredis`, and does not close it.
 *
 * The store keeps the token in plain text and without an expiry. The lock is the key `{<key>}:lock`, or `<key>:lock` if
 * the key has a hash tag (`{…}`). The holder renews the lock, which expires after `lease` if the process was killed. If
 * Redis loses the token, the client issues a new token. If Redis loses an OAuth grant, the user must sign in again.
 *
 * While Redis fails, the store retries each command for ten seconds. It waits up to two minutes for a lock that another
 * process holds. Then its methods reject with an {@link AudienceError} with the code `token-unavailable`, which
 * contains no token.
 *
 * @throws {ConfigurationError} for an invalid option.
 *
 * @example
 * const redis = await createClient({ url }).on('error', console.error).connect();
 * const store = redisTokenStore(redis, { key: 'audience:token:me@example.com' });
 * const client = new AudienceClient({ baseUrl, token: apiToken(credentials, { store }) });
 */
export function redisTokenStore(redis: RedisClient, options: RedisTokenStoreOptions): TokenStore {
  const { key, lease: leaseMs = 10_000 } = checkOptions(options);
  const run = scriptRunner(redis);
  const runWithRetries = retryingRunner(redis, TIMEOUT_MS, (reason, cause) => {
    const message = `The token store in Redis is not available: ${reason}`;
    return new AudienceError(message, { code: 'token-unavailable', cause, advice: CHECK_REDIS });
  });
  return {
    async load() {
      const value = await runWithRetries(GET, key, []);
      return value === null || value === undefined ? undefined : parse(String(value), key);
    },
    async save(token) {
      const value = token ? JSON.stringify(token) : '';
      let reply: unknown;
      do {
        const current = String((await runWithRetries(GET, key, [])) ?? '');
        reply = await runWithRetries(COMPARE_AND_SET, key, [current, value], [value, current, token?.token]);
      } while (Number(reply) !== 1);
    },
    withLock: createRedisLock({ run, runWithRetries, key: lockKey(key), leaseMs }),
  };
}

/** Returns the key of the lock. A hash tag puts the lock into the same slot of a cluster as the token. */
const lockKey = (key: string): string => (/^[^{]*\{[^}]+\}/.test(key) ? `${key}:lock` : `{${key}}:lock`);

function parse(value: string, key: string): StoredToken {
  const token = readStoredToken(value);
  if (token) return token;
  // Do not quote the value, which may contain a token.
  const message = `The key ${JSON.stringify(key)} in Redis does not contain a token.`;
  throw new AudienceError(message, { code: 'token-unavailable', advice: 'Delete the key, or use another key.' });
}
