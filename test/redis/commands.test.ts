import { Redis } from 'ioredis';
import { createClient } from 'redis';
import { expect, it } from 'vitest';
import { type RedisClient, redisLimiter } from '../../src/redis/index.ts';

it('the type of a Redis client accepts clients of both packages without an adapter', () => {
  const node: RedisClient = createClient();
  const io: RedisClient = new Redis({ lazyConnect: true });
  expect([node, io]).toHaveLength(2);
});

it('redisLimiter refuses the promise of a client, which JavaScript allows', () => {
  const connecting: unknown = Promise.resolve(createClient());
  expect(() => Reflect.apply(redisLimiter, undefined, [connecting])).toThrow(
    expect.objectContaining({ advice: 'You passed a promise: await the client first.' }),
  );
});
