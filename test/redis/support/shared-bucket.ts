import { expect } from 'vitest';
import type { AcquireOptions, RateLimiter } from '../../../src/client/rate-limit/rate-limiter.ts';
import { type RedisLimiterOptions, redisLimiter } from '../../../src/redis/index.ts';
import type { Bucket } from '../../../src/spec/limits.ts';
import { eventually } from '../../support/eventually.ts';
import type { ClientKind, Clients } from '../../support/redis-clients.ts';
import type { RedisServer } from '../../support/redis-server.ts';

/** A limit with a short interval. */
export const READ = { limit: 3, interval: 400 } as const;
const MARGIN = 50;
/** Interval plus margin, in milliseconds. */
export const WINDOW = READ.interval + MARGIN;

let prefixes = 0;

/** A rate bucket in Redis under its own prefix, which several limiters share. */
interface Shared {
  readonly prefix: string;
  readonly inspect: Clients['ioredis'];
  /** Names of the callers that were granted a permit, in order, with the times of the grants. */
  readonly granted: { readonly name: string; readonly at: number }[];
  names(): string[];
  /** Creates a limiter with its own connection, like that of another process. */
  process(kind?: ClientKind, options?: RedisLimiterOptions): Promise<RateLimiter>;
  acquire(limiter: RateLimiter, name: string, options?: Partial<AcquireOptions>, bucket?: Bucket): Promise<void>;
  /** Returns the key of the bucket, which must be the only one in use. */
  key(): Promise<string>;
}

/** Creates a bucket that limiters can share. */
export async function share(server: RedisServer): Promise<Shared> {
  const prefix = `test-${prefixes++}`;
  const granted: Shared['granted'] = [];
  const inspect = await server.connect('ioredis');
  return {
    prefix,
    inspect,
    granted,
    names: () => granted.map(({ name }) => name),
    async process(kind = 'redis', options = {}) {
      return redisLimiter(await server.connect(kind), {
        rateLimits: { read: READ },
        margin: MARGIN,
        prefix,
        ...options,
      });
    },
    async acquire(limiter, name, options = {}, bucket = 'read') {
      await limiter.acquire(bucket, { scope: 'scope', priority: 'foreground', ...options });
      granted.push({ name, at: performance.now() });
    },
    async key() {
      const keys = await inspect.keys(`${prefix}:*`);
      expect(keys).toHaveLength(1);
      return keys[0] ?? '';
    },
  };
}

/** Waits until a limiter has written the bucket to Redis. */
export const written = ({ inspect, prefix }: Shared): Promise<void> =>
  eventually(async () => expect(await inspect.keys(`${prefix}:*`)).toHaveLength(1));

/** How much later than it happened a permit may be noted, on a busy machine. */
const NOTED_LATE_MS = 5;

/** Expects at least an interval between each permit and the one `limit` places before it. */
export function expectSpaced(
  { granted }: Shared,
  { limit, interval }: { readonly limit: number; readonly interval: number },
) {
  const intervals = granted.slice(limit).map(({ at }, before) => at - (granted[before]?.at ?? 0));
  expect(Math.min(...intervals)).toBeGreaterThanOrEqual(interval - NOTED_LATE_MS);
}
