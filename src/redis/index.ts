/** @module audience-activation/redis */

export type { IoRedis, NodeRedis, RedisClient } from './commands.ts';
export { type RedisDedupeOptions, redisDedupe } from './dedupe.ts';
export { type RedisLimiterOptions, redisLimiter } from './limiter.ts';
export { type RedisTokenStoreOptions, redisTokenStore } from './tokens.ts';
