/**
 * Shares rate limits, tokens and webhook events among processes with Redis.
 *
 * @module audience-activation/redis
 */

export type { IoRedis, NodeRedis, RedisClient } from './commands.ts';
export { type RedisDedupeOptions, redisDedupe } from './redis-dedupe.ts';
export { type RedisLimiterOptions, redisLimiter } from './redis-limiter.ts';
export { type RedisTokenStoreOptions, redisTokenStore } from './redis-token-store.ts';
