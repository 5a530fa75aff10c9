import { checkNames } from '../client/option-names.ts';
import { ConfigurationError } from '../errors/audience-error.ts';
import { ConnectionError } from '../errors/call-errors.ts';
import type { DedupeStore } from '../webhooks/dedupe.ts';
import { type RedisClient, type Script, scriptRunner } from './commands.ts';
import { patientRunner } from './patient.ts';

/** Options of {@link redisDedupe}. */
export interface RedisDedupeOptions {
  /** What the keys begin with: `<prefix>:<id of the event>`. Receivers with another one see events of their own. */
  readonly prefix: string;
  /** How long what is done is remembered. Milliseconds. @default 86400000 (24 hours) */
  readonly window?: number | undefined;
}

const NAMES: Readonly<Record<keyof RedisDedupeOptions, true>> = { prefix: true, window: true };

const DAY = 86_400_000;

/** What Redis can count down from. Milliseconds. */
const LONGEST = 1e15;

/** A receiver answers within nine seconds, and asks twice. Milliseconds. */
const LIMIT = 4_000;

const TAKEN = 1;
const DONE = 2;

/** Run twice with the same lease, it comes to the same. */
const CLAIM: Script = {
  source: `
if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then return ${TAKEN} end
local held = redis.call('GET', KEYS[1])
if held == ARGV[1] then return ${TAKEN} end
if held == 'done' then return ${DONE} end
return 0`,
};

/** A claim that has lapsed, and that nobody else has taken since, is done all the same. */
const COMPLETE: Script = {
  source: `
local held = redis.call('GET', KEYS[1])
if held == ARGV[1] or not held then redis.call('SET', KEYS[1], 'done', 'PX', ARGV[2]) end
return 1`,
};

const RELEASE: Script = {
  source: `
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0`,
};

/**
 * A memory in Redis of the events that are under way and done, for receivers in any number of
 * processes. It takes a connected client of `redis` (node-redis) or of `ioredis`, of a cluster, too, which stays
 * yours to close. Each event has a key of its own, which lapses.
 *
 * While Redis is away, claims fail: the receiver answers 503, and the event comes again. What Redis
 * has lost may be handled once more.
 *
 * @throws {ConfigurationError} for a prefix that is empty, a window out of range, or what is no client.
 *
 * @example
 * const redis = await createClient({ url }).on('error', console.error).connect();
 * const dedupe = redisDedupe(redis, { prefix: 'audience:events' });
 * const receiver = createWebhookReceiver({ secrets, dedupe, on: { 'audience.completed': ({ data }) => save(data) } });
 */
export function redisDedupe(redis: RedisClient, options: RedisDedupeOptions): DedupeStore {
  const { prefix, window } = checkOptions(options);
  const run = patientRunner(redis, { limit: LIMIT, fail: unavailable });
  const once = scriptRunner(redis);
  const keyOf = (id: string): string => `${prefix}:${id}`;
  return {
    async claim(id, leaseMs) {
      const lease = crypto.randomUUID();
      try {
        const answer = Number(await run(CLAIM, keyOf(id), [lease, Math.min(Math.max(1, Math.ceil(leaseMs)), LONGEST)]));
        return answer === TAKEN ? { lease } : answer === DONE ? 'done' : 'busy';
      } catch (error) {
        // What was given up may be done all the same, when there is a connection again, and nobody is at work then.
        void once(RELEASE, keyOf(id), [lease]).catch(() => {});
        throw error;
      }
    },
    async complete(id, lease) {
      await run(COMPLETE, keyOf(id), [lease, window]);
    },
    async release(id, lease) {
      await run(RELEASE, keyOf(id), [lease]);
    },
  };
}

function checkOptions(options: RedisDedupeOptions): { readonly prefix: string; readonly window: number } {
  const { prefix, window = DAY }: Partial<RedisDedupeOptions> = options ?? {};
  checkNames(options ?? {}, NAMES, 'redisDedupe');
  if (typeof prefix !== 'string' || prefix.trim() === '') {
    throw new ConfigurationError('`redisDedupe` needs a `prefix` for its keys: a text that is not empty.');
  }
  if (!(Number.isSafeInteger(window) && window > 0)) {
    throw new ConfigurationError('`window` must be whole milliseconds, more than none.');
  }
  return { prefix, window };
}

function unavailable(cause: Error): ConnectionError {
  const message = `Redis cannot be asked about events: ${cause.message}`;
  return new ConnectionError(message, { operation: 'redisDedupe', attempts: 1, cause });
}
