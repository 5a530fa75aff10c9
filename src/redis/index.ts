/** @module audience-activation/redis */

export type { IoRedis, NodeRedis, RedisClient } from './commands.ts';
export { type RedisLimiterOptions, redisLimiter } from './limiter.ts';
