import { beforeAll, describe, expect, it, vi } from 'vitest';
import { redisLimiter } from '../../src/redis/index.ts';
import { eventually } from '../support/eventually.ts';
import { suiteRedis } from '../support/redis-server.ts';
import { clientOf, startServer } from '../support/server.ts';
import { expectSpaced, READ, SPAN, share, warm } from '../support/shared-bucket.ts';

const redis = suiteRedis();

beforeAll(async () => warm(await redis().connect('ioredis')));

describe('keys', () => {
  it('hold no token, in their names or in what they hold', async () => {
    const shared = await share(redis());
    const server = await startServer([{ data: [] }]);
    const token = 'a-token-that-nobody-may-see';
    const client = clientOf(server, { token, limiter: await shared.process() });
    await Promise.all([client.webhooks.list(), client.audiences.list()]);
    const key = await shared.key();
    expect(await shared.inspect.zcard(key)).toBeGreaterThanOrEqual(2);
    expect(JSON.stringify([key, await shared.inspect.zrangebyscore(key, '-inf', '+inf')])).not.toContain(token);
    expect(key).toMatch(/^test-\d+:limit:\{read:[0-9a-f]{16}\}$/);
  });

  it('are gone some time after the last use', async () => {
    const shared = await share(redis());
    const limiter = await shared.process();
    await shared.ask(limiter, 'one');
    const key = await shared.key();
    const left = await shared.inspect.pttl(key);
    expect(left).toBeGreaterThan(SPAN);
    expect(left).toBeLessThan(2 * SPAN + 5_000);
    limiter.pause('read', 'scope', 60_000);
    await eventually(async () => expect(await shared.inspect.pttl(key)).toBeGreaterThan(60_000));
  });

  it('that hold something else are begun anew', async () => {
    const shared = await share(redis());
    const limiter = await shared.process();
    await shared.ask(limiter, 'one');
    const key = await shared.key();
    await shared.inspect.set(key, 'garbage');
    await Promise.all([1, 2, 3].map((at) => shared.ask(limiter, `after ${at}`)));
    expectSpaced(shared, READ);
    expect(await shared.inspect.type(key)).toBe('zset');
    await shared.inspect.set(key, 'garbage');
    const other = await shared.process();
    const began = performance.now();
    limiter.pause('read', 'scope', 700);
    await eventually(async () => expect(await shared.inspect.type(key)).toBe('zset'));
    await shared.ask(other, 'after the pause');
    expect(performance.now() - began).toBeGreaterThanOrEqual(690);
  });

  it('are kept, and let go, on a server that does not tell since when it is up', async () => {
    const shared = await share(redis());
    await shared.inspect.acl('SETUSER', 'restricted', 'on', 'nopass', '~*', '+@all', '-@dangerous');
    const client = await redis().connect('ioredis');
    await client.auth('restricted', 'any');
    const warn = vi.fn();
    const options = {
      rateLimits: { read: READ },
      margin: SPAN - READ.interval,
      prefix: shared.prefix,
      logger: { warn },
    };
    const limiter = redisLimiter(client, options);
    const began = performance.now();
    await shared.ask(limiter, 'one');
    expect(performance.now() - began).toBeGreaterThanOrEqual(SPAN);
    await Promise.all([2, 3, 4, 5].map((at) => shared.ask(limiter, String(at))));
    expectSpaced(shared, READ);
    expect(await shared.inspect.pttl(await shared.key())).toBeGreaterThan(0);
    expect(warn).not.toHaveBeenCalled();
  });

  it('with slots that are far ahead hold everybody back for a span', async () => {
    const shared = await share(redis());
    const limiter = await shared.process();
    await shared.ask(limiter, 'one');
    await shared.inspect.zadd(await shared.key(), String(Date.now() + 3_600_000), 'of a clock that was an hour ahead');
    const began = performance.now();
    await shared.ask(limiter, 'two');
    expect(performance.now() - began).toBeGreaterThanOrEqual(SPAN);
    expect(performance.now() - began).toBeLessThan(SPAN + 3_000);
  });

  it('that were lost hold everybody back for a span', async () => {
    const shared = await share(redis());
    const [one, other] = [await shared.process(), await shared.process('ioredis')];
    await Promise.all([1, 2, 3].map((at) => shared.ask(one, `before ${at}`)));
    await shared.inspect.flushall();
    await shared.ask(one, 'after 1');
    await Promise.all([shared.ask(other, 'after 2'), shared.ask(other, 'after 3')]);
    expect(shared.granted).toHaveLength(6);
    expectSpaced(shared, READ);
  });

  it('that were lost in the millisecond in which they were begun are missed all the same', async () => {
    const late: Promise<void>[] = [];
    for (let round = 0; round < 10; round++) {
      const shared = await share(redis());
      const limiter = await shared.process('ioredis');
      await shared.ask(limiter, 'before');
      await shared.inspect.flushdb();
      const again = shared.ask(limiter, 'after');
      late.push(again.then(() => expectSpaced(shared, { limit: 1, interval: READ.interval })));
    }
    await Promise.all(late);
  });
});
