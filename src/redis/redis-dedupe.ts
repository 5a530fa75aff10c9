import { ConnectionError } from '../errors/call-errors.ts';
import { integer, optional, optionChecker, requiredString } from '../util/options.ts';
import type { DedupeStore } from '../webhooks/index.ts';
import { type RedisClient, type Script, scriptRunner } from './commands.ts';
import { COMPARE_AND_DELETE } from './lock.ts';
import { CHECK_REDIS, retryingRunner } from './retrying-runner.ts';

/** Options of {@link redisDedupe}. */
export interface RedisDedupeOptions {
  /** Prefix of the Redis keys: `<prefix>:<event id>`. Receivers with different prefixes do not share events. */
  readonly prefix: string;
  /** Milliseconds for which the store keeps a completed event. @default 86400000 ms (24 hours) */
  readonly window?: number | undefined;
}

const DAY_MS = 86_400_000;

/** Maximum expiry in milliseconds. Much larger values would overflow in Redis. */
const MAX_EXPIRY_MS = 1e15;

const checkOptions = optionChecker<RedisDedupeOptions>('redisDedupe', {
  prefix: requiredString,
  window: optional(integer(1, MAX_EXPIRY_MS)),
});

/**
 * Milliseconds for which the store retries a command. A receiver responds within nine seconds, and sends two commands
 * per event.
 */
const TIMEOUT_MS = 4_000;

const CLAIMED = 1;
const DONE = 2;

/** Claims an event for a lease. A retry with the same lease also succeeds. */
const CLAIM: Script = {
  source: `
if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then return ${CLAIMED} end
local current = redis.call('GET', KEYS[1])
if current == ARGV[1] then return ${CLAIMED} end
if current == 'done' then return ${DONE} end
return 0`,
};

/**
 * Marks an event as done, even if its claim has expired, unless another receiver has claimed or completed the event
 * meanwhile.
 */
const COMPLETE: Script = {
  source: `
local current = redis.call('GET', KEYS[1])
if current == ARGV[1] or not current then redis.call('SET', KEYS[1], 'done', 'PX', ARGV[2]) end
return 1`,
};

/**
 * Creates a dedupe store for webhook events that the receivers of several processes share. Takes a connected client or
 * cluster of `redis` (node-redis) or `ioredis`, and does not close it. Each event has a separate key, which expires.
 *
 * While Redis is not available, claims fail after four seconds: the receiver responds with 503, and the service sends
 * the event again. If Redis loses its data, the receiver may handle an event again.
 *
 * @throws {ConfigurationError} for an invalid option.
 *
 * @example
 * const redis = await createClient({ url }).on('error', console.error).connect();
 * const dedupe = redisDedupe(redis, { prefix: 'audience:events' });
 * const receiver = createWebhookReceiver({ secrets, dedupe, on: { 'audience.completed': ({ data }) => save(data) } });
 */
export function redisDedupe(redis: RedisClient, options: RedisDedupeOptions): DedupeStore {
  const { prefix, window = DAY_MS } = checkOptions(options);
  const run = scriptRunner(redis);
  const runWithRetries = retryingRunner(redis, TIMEOUT_MS, (reason, cause) => {
    const message = `The store of webhook events in Redis is not available: ${reason}`;
    return new ConnectionError(message, { operation: 'redisDedupe', attempts: 1, cause, advice: CHECK_REDIS });
  });
  const keyOf = (id: string): string => `${prefix}:${id}`;
  return {
    async claim(id, leaseMs) {
      const lease = crypto.randomUUID();
      const expiry = Math.min(Math.max(1, Math.ceil(leaseMs)), MAX_EXPIRY_MS);
      try {
        const reply = Number(await runWithRetries(CLAIM, keyOf(id), [lease, expiry]));
        return reply === CLAIMED ? { lease } : reply === DONE ? 'done' : 'busy';
      } catch (error) {
        // Release the event, which this process does not handle: the Redis client may still send the claim from its
        // queue.
        run(COMPARE_AND_DELETE, keyOf(id), [lease]).catch(() => {});
        throw error;
      }
    },
    async complete(id, lease) {
      await runWithRetries(COMPLETE, keyOf(id), [lease, window]);
    },
    async release(id, lease) {
      await runWithRetries(COMPARE_AND_DELETE, keyOf(id), [lease]);
    },
  };
}
