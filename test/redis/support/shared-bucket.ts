import { expect } from 'vitest';
import type { AcquireOptions, RateLimiter } from '../../../src/client/rate-limit/permits.ts';
import { type RedisClient, type RedisLimiterOptions, redisLimiter } from '../../../src/redis/index.ts';
import type { Bucket } from '../../../src/spec/limits.ts';

/** A limit with a short interval. */
export const READ = { limit: 3, interval: 400 } as const;
const MARGIN = 50;
/** Interval plus margin, in milliseconds. */
export const WINDOW = READ.interval + MARGIN;

let prefixes = 0;

/** A rate bucket in Redis under its own prefix, which several limiters share. */
interface Shared {
  readonly prefix: string;
  /** Names of the callers that were granted a permit, in order, with the times of the grants. */
  readonly granted: { readonly name: string; readonly at: number }[];
  names(): string[];
  /** Creates a limiter on a client of its own, like that of another process. */
  process(options?: RedisLimiterOptions): RateLimiter;
  acquire(limiter: RateLimiter, name: string, options?: Partial<AcquireOptions>, bucket?: Bucket): Promise<void>;
}

/** Creates a bucket that limiters can share. */
export function share(connect: () => RedisClient): Shared {
  const prefix = `test-${prefixes++}`;
  const granted: Shared['granted'] = [];
  return {
    prefix,
    granted,
    names: () => granted.map(({ name }) => name),
    process: (options = {}) =>
      redisLimiter(connect(), { rateLimits: { read: READ }, margin: MARGIN, prefix, ...options }),
    async acquire(limiter, name, options = {}, bucket = 'read') {
      await limiter.acquire(bucket, { scope: 'scope', priority: 'foreground', ...options });
      granted.push({ name, at: performance.now() });
    },
  };
}

/** Expects at least an interval between each permit and the one `limit` places before it. */
export function expectSpaced(
  { granted }: Shared,
  { limit, interval }: { readonly limit: number; readonly interval: number },
) {
  const intervals = granted.slice(limit).map(({ at }, before) => at - (granted[before]?.at ?? 0));
  // Redis has whole milliseconds.
  expect(Math.min(...intervals)).toBeGreaterThanOrEqual(interval - 1);
}
