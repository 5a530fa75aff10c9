import { describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { suiteRedis } from '../support/redis-server.ts';
import { clientOf, startServer } from '../support/server.ts';
import { share, WINDOW } from './support/shared-bucket.ts';

const redis = suiteRedis();

/** A bucket on a real server, by the clock of the server. */
async function shareHere() {
  const [client, inspect] = [await redis().connect('redis'), await redis().connect('ioredis')];
  const shared = share(() => client);
  return {
    ...shared,
    inspect,
    /** Returns the key of the bucket, which must be the only one in use. */
    async key(): Promise<string> {
      const keys = await inspect.keys(`${shared.prefix}:*`);
      expect(keys).toHaveLength(1);
      return keys[0] ?? '';
    },
  };
}

describe('the key of a bucket', () => {
  it('contains no token, in its name or in its value', async () => {
    const shared = await shareHere();
    const server = await startServer([{ data: [] }]);
    const token = 'a-token-that-nobody-may-see';
    const client = clientOf(server, { token, limiter: shared.process() });
    await Promise.all([client.webhooks.list(), client.audiences.list()]);
    const key = await shared.key();
    // Two permits, and their number.
    expect(await shared.inspect.zcard(key)).toBeGreaterThanOrEqual(3);
    expect(JSON.stringify([key, await shared.inspect.zrangebyscore(key, '-inf', '+inf')])).not.toContain(token);
    expect(key).toMatch(/^test-\d+:limit:\{read:[0-9a-f]{16}\}$/);
  });

  it('expires after its last use, and not before the end of a pause', async () => {
    const shared = await shareHere();
    const limiter = shared.process();
    await shared.acquire(limiter, 'first');
    const key = await shared.key();
    const left = await shared.inspect.pttl(key);
    expect(left).toBeGreaterThan(WINDOW);
    expect(left).toBeLessThan(2 * WINDOW + 5_000);
    limiter.pause('read', 'scope', 60_000);
    await eventually(async () => expect(await shared.inspect.pttl(key)).toBeGreaterThan(60_000));
  });

  it('does not block a bucket when the clock of the server was set back', async () => {
    const shared = await shareHere();
    const limiter = shared.process();
    await shared.acquire(limiter, 'first');
    const key = await shared.key();
    const inAnHour = Date.now() + 3_600_000;
    for (const member of ['a', 'b', 'c']) await shared.inspect.zadd(key, String(inAnHour), member);
    await shared.acquire(limiter, 'second');
    expect(shared.names()).toEqual(['first', 'second']);
    expect(await shared.inspect.zcount(key, inAnHour, '+inf')).toBe(0);
  });
});
