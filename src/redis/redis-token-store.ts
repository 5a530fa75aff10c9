import type { StoredToken, TokenStore } from '../auth/token-source.ts';
import { readStoredToken } from '../auth/token-source.ts';
import { checkNames } from '../client/option-names.ts';
import { AudienceError, ConfigurationError } from '../errors/audience-error.ts';
import { type RedisClient, type Script, scriptRunner } from './commands.ts';
import { type Lock, withRedisLock } from './lock.ts';
import { patientRunner } from './patient.ts';

/** Options of {@link redisTokenStore}. */
export interface RedisTokenStoreOptions {
  /** The key in Redis; one for each account (each user, with OAuth) and kind of token. */
  readonly key: string;
  /** A process that died over a renewal, or stopped, keeps the others waiting for so long. Milliseconds. @default 10000 */
  readonly lease?: number | undefined;
}

const NAMES: Readonly<Record<keyof RedisTokenStoreOptions, true>> = { key: true, lease: true };

/** What is wrong with Redis for longer than this is an error. Milliseconds. */
const LIMIT = 10_000;

const LEASE = { usual: 10_000, shortest: 100, longest: 3_600_000 } as const;

const GET: Script = { source: "return redis.call('GET', KEYS[1])" };

/**
 * Writes over what it is told of only, else tells what there is: one that was given up may be run later, when others
 * have saved. What is no text counts as nothing.
 */
const WRITE: Script = {
  source: `
local held = redis.pcall('GET', KEYS[1])
if type(held) ~= 'string' then held = '' end
local sum = redis.sha1hex(held)
if sum == ARGV[2] then
  if ARGV[1] == '' then redis.call('DEL', KEYS[1]) else redis.call('SET', KEYS[1], ARGV[1]) end
  return 1
end
if held == ARGV[1] and held ~= '' then return 1 end
return sum`,
};

/** What {@link WRITE} tells of what there is. */
const SUM = /^[\da-f]{40}$/;

/**
 * A store in Redis, which all processes of all machines may share: a token is minted, or renewed,
 * once for all of them. It takes a connected client of `redis` (node-redis) or of `ioredis`, of a
 * cluster, too, which stays yours to close.
 *
 * The token is kept as it is, in clear text, and without an expiry: what has expired is renewed, and
 * OAuth needs what else is kept with it. The lock is a key beside it, `{<key>}:lock`, that its holder
 * keeps alive; that of a process which was killed lapses after `lease`. What Redis has lost is minted
 * anew; a lost OAuth grant wants a new sign-in.
 *
 * What cannot be read or written within ten seconds, or a lock that is not to be had within two minutes, is an
 * {@link AudienceError} with the code `token-unavailable`, which quotes nothing that was sent.
 *
 * @throws {ConfigurationError} for a key that is empty, a lease out of range, or what is no client.
 *
 * @example
 * const redis = await createClient({ url }).on('error', console.error).connect();
 * const store = redisTokenStore(redis, { key: 'audience:token:me@example.com' });
 * const client = new AudienceClient({ baseUrl, token: apiToken(credentials, { store }) });
 */
export function redisTokenStore(redis: RedisClient, options: RedisTokenStoreOptions): TokenStore {
  const { key, lease } = checkOptions(options);
  const patient = patientRunner(redis, { limit: LIMIT, fail: unavailable });
  const lock: Lock = { client: redis, patient, run: scriptRunner(redis), key: lockOf(key), lease };
  return {
    load: async () => parse(await patient(GET, key, []), key),
    async save(token) {
      const text = token ? JSON.stringify(token) : '';
      const until = performance.now() + LIMIT;
      let held = '';
      do held = String(await patient(WRITE, key, [text, held], until));
      while (SUM.test(held));
    },
    withLock: (work) => withRedisLock(lock, work),
  };
}

function checkOptions(options: RedisTokenStoreOptions): { readonly key: string; readonly lease: number } {
  const { key, lease = LEASE.usual }: Partial<RedisTokenStoreOptions> = options ?? {};
  checkNames(options ?? {}, NAMES, 'redisTokenStore');
  if (typeof key !== 'string' || key.trim() === '') {
    throw new ConfigurationError('`redisTokenStore` needs a `key`: a text that is not empty, one for each account.');
  }
  if (!(Number.isInteger(lease) && lease >= LEASE.shortest && lease <= LEASE.longest)) {
    throw new ConfigurationError(`\`lease\` must be whole milliseconds, ${LEASE.shortest} to ${LEASE.longest}.`);
  }
  return { key, lease };
}

/** In a cluster, the lock is where the token is, unless the key names another part that decides (`{…}`). */
const lockOf = (key: string): string => (/^[^{]*\{[^}]+\}/.test(key) ? `${key}:lock` : `{${key}}:lock`);

function unavailable(cause: Error): AudienceError {
  return new AudienceError(`The token store in Redis is not available: ${cause.message}`, {
    code: 'token-unavailable',
    cause,
  });
}

function parse(text: unknown, key: string): StoredToken | undefined {
  if (text === null || text === undefined) return undefined;
  const token = readStoredToken(String(text));
  if (token) return token;
  // Without the parser's own error, which quotes what it has read.
  const message = `The key ${JSON.stringify(key)} in Redis holds no token: delete it, or name another key.`;
  throw new AudienceError(message, { code: 'token-unavailable' });
}
