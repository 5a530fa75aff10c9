import type { StoredToken, TokenStore } from '../auth/index.ts';
import { readStoredToken } from '../auth/index.ts';
import { AudienceError } from '../errors/audience-error.ts';
import { integer, optional, optionChecker, requiredString } from '../util/options.ts';
import { type RedisClient, type Script, scriptRunner } from './commands.ts';
import { createRedisLock } from './lock.ts';
import { retryingRunner } from './retrying-runner.ts';

/** Options of {@link redisTokenStore}. */
export interface RedisTokenStoreOptions {
  /** The key in Redis; one for each account (each user, with OAuth) and kind of token. */
  readonly key: string;
  /** How long a process that was killed or stopped while it held the lock blocks the others. Milliseconds. @default 10000 */
  readonly lease?: number | undefined;
}

const checkOptions = optionChecker<RedisTokenStoreOptions>('redisTokenStore', {
  key: requiredString,
  lease: optional(integer(100, 3_600_000)),
});

/** How long Redis is retried. */
const TIMEOUT_MS = 10_000;

const GET: Script = { source: "return redis.call('GET', KEYS[1])" };

/** Replaces one value by another. Harmless when it runs late, from a client's queue, after others have saved. */
const COMPARE_AND_SET: Script = {
  source: `
local current = redis.call('GET', KEYS[1]) or ''
if current ~= ARGV[1] and current ~= ARGV[2] then return 0 end
if ARGV[2] == '' then redis.call('DEL', KEYS[1]) else redis.call('SET', KEYS[1], ARGV[2]) end
return 1`,
};

/**
 * Creates a token store in Redis that processes on any number of machines share: a token is issued or renewed once for
 * all of them. Takes a connected client or cluster of `redis` (node-redis) or `ioredis`, and does not close it.
 *
 * The token is kept in clear text and without an expiry. Its lock is the key `{<key>}:lock`, which the holder renews;
 * the lock of a process that was killed expires after `lease`. A token that Redis has lost is issued again; a lost OAuth
 * grant needs a new sign-in.
 *
 * Loading and saving retry for ten seconds, and taking the lock for two minutes; then they reject with an
 * {@link AudienceError} with the code `token-unavailable`, which contains no token.
 *
 * @throws {ConfigurationError} naming the option and the fix.
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
    return new AudienceError(message, { code: 'token-unavailable', cause });
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

/** In a cluster, the lock is where the token is, unless the key has a hash tag (`{…}`). */
const lockKey = (key: string): string => (/^[^{]*\{[^}]+\}/.test(key) ? `${key}:lock` : `{${key}}:lock`);

function parse(value: string, key: string): StoredToken {
  const token = readStoredToken(value);
  if (token) return token;
  // The parser's error is left out, because it quotes what it has read.
  const message = `The key ${JSON.stringify(key)} in Redis does not hold a token. Delete it, or use another key.`;
  throw new AudienceError(message, { code: 'token-unavailable' });
}
