import { expect, vi } from 'vitest';
import type { AcquireOptions, RateLimiter } from '../../src/rate-limit/rate-limiter.ts';
import { type RedisLimiterOptions, redisLimiter } from '../../src/redis/index.ts';
import type { Bucket } from '../../src/spec/limits.ts';
import { eventually } from './eventually.ts';
import type { ClientKind, Clients } from './redis-clients.ts';
import type { RedisServer } from './redis-server.ts';

/** A bucket that is soon free again. */
export const READ = { limit: 3, interval: 400 } as const;
const MARGIN = 50;
export const SPAN = READ.interval + MARGIN;

let prefixes = 0;

/** A bucket under a prefix of its own. */
interface Shared {
  readonly prefix: string;
  readonly inspect: Clients['ioredis'];
  /** Names of those that were granted a slot, in their order, and when. */
  readonly granted: { readonly name: string; readonly at: number }[];
  names(): string[];
  /** Another limiter with a connection of its own, as another process has it. */
  process(kind?: ClientKind, options?: RedisLimiterOptions): Promise<RateLimiter>;
  ask(limiter: RateLimiter, name: string, options?: Partial<AcquireOptions>, bucket?: Bucket): Promise<void>;
  /** The key of the one bucket in use. */
  key(): Promise<string>;
}

/** A bucket of limiters that share it. */
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
    async ask(limiter, name, options = {}, bucket = 'read') {
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

/** Waits until a server holds nothing back any more, as one does that has started just now. */
export async function warm(client: Clients['ioredis'], seconds = 2): Promise<void> {
  const uptime = async (): Promise<number> => Number(/uptime_in_seconds:(\d+)/.exec(await client.info('server'))?.[1]);
  await vi.waitFor(async () => expect(await uptime()).toBeGreaterThanOrEqual(seconds), {
    timeout: 10_000,
    interval: 100,
  });
}

/** Waits until a process has told Redis something. */
export const written = ({ inspect, prefix }: Shared): Promise<void> =>
  eventually(async () => expect(await inspect.keys(`${prefix}:*`)).toHaveLength(1));

/** Each slot of a limit is so long after the one that many places before it. */
export function expectSpaced(
  { granted }: Shared,
  { limit, interval }: { readonly limit: number; readonly interval: number },
) {
  const spans = granted.slice(limit).map(({ at }, before) => at - (granted[before]?.at ?? 0));
  expect(Math.min(...spans)).toBeGreaterThanOrEqual(interval);
}
