import { beforeAll, describe, expect, it, vi } from 'vitest';
import { type RedisLimiterOptions, redisLimiter } from '../../src/redis/index.ts';
import type { Bucket } from '../../src/spec/limits.ts';
import { eventually } from '../support/eventually.ts';
import { type Clients, KINDS } from '../support/redis-clients.ts';
import { startRedis, suiteRedis } from '../support/redis-server.ts';
import { failureOf } from '../support/server.ts';
import { expectSpaced, READ, SPAN, share, warm, written } from '../support/shared-bucket.ts';

const redis = suiteRedis();

beforeAll(async () => warm(await redis().connect('ioredis'), 3));

const runs = async (inspect: Clients['ioredis']): Promise<number> => {
  const stats = await inspect.info('commandstats');
  return [...stats.matchAll(/cmdstat_eval(?:sha)?:calls=(\d+)/g)].reduce((sum, [, calls]) => sum + Number(calls), 0);
};

describe.each(KINDS)('limiters on clients of %s', (kind) => {
  it('grant no more together than one may', async () => {
    const shared = await share(redis());
    const limiters = await Promise.all([1, 2, 3].map(() => shared.process(kind)));
    await Promise.all(limiters.flatMap((limiter) => [1, 2, 3].map((at) => shared.ask(limiter, String(at)))));
    expect(shared.granted).toHaveLength(9);
    expectSpaced(shared, READ);
  });

  it('ask once for all who come together', async () => {
    const shared = await share(redis());
    // An answer that comes late, as from a machine that stalls, would be asked for again.
    const limiter = await shared.process(kind, { margin: 1_000 });
    await shared.ask(limiter, 'loads the script', { scope: 'another' });
    const before = await runs(shared.inspect);
    await Promise.all([1, 2, 3].map((at) => shared.ask(limiter, String(at))));
    expect((await runs(shared.inspect)) - before).toBe(1);
  });

  it('go on when the server has lost its scripts', async () => {
    const shared = await share(redis());
    const limiter = await shared.process(kind);
    await shared.ask(limiter, 'before');
    await shared.inspect.script('FLUSH');
    await shared.ask(limiter, 'after');
    await shared.ask(limiter, 'again');
    await shared.ask(limiter, 'late');
    expect(shared.names()).toEqual(['before', 'after', 'again', 'late']);
    expectSpaced(shared, READ);
  });

  it('hold all of them when one is told to', async () => {
    const shared = await share(redis());
    const [one, other] = [await shared.process(kind), await shared.process(kind)];
    const began = performance.now();
    one.pause('read', 'scope', 700);
    await written(shared);
    await Promise.all([shared.ask(one, 'own'), shared.ask(other, 'other')]);
    for (const { at } of shared.granted) expect(at - began).toBeGreaterThanOrEqual(690);
  });
});

describe('a shared bucket', () => {
  it('serves foreground before background', async () => {
    const shared = await share(redis());
    const [one, other] = [await shared.process(), await shared.process('ioredis')];
    await Promise.all([1, 2, 3].map((at) => shared.ask(one, `first ${at}`)));
    const background = [1, 2].map((at) => shared.ask(one, `background ${at}`, { priority: 'background' }));
    // The background has asked, and waits.
    await shared.inspect.ping();
    const foreground = [1, 2].map((at) => shared.ask(one, `own ${at}`));
    foreground.push(...[1, 2].map((at) => shared.ask(other, `other ${at}`)));
    await Promise.all([...background, ...foreground]);
    const waited = shared.names().slice(3);
    expect(waited.findLastIndex((name) => name.startsWith('o'))).toBeLessThan(4);
    expect(waited.slice(4)).toEqual(['background 1', 'background 2']);
    expectSpaced(shared, READ);
  });

  it('gets back the slots of calls that are aborted', async () => {
    const shared = await share(redis());
    const [one, other] = [await shared.process(), await shared.process('ioredis')];
    await Promise.all([1, 2, 3].map((at) => shared.ask(one, String(at))));
    const controller = new AbortController();
    const aborted = [1, 2, 3].map((at) => failureOf(shared.ask(one, `x${at}`, { signal: controller.signal })));
    const key = await shared.key();
    const slots = (): Promise<number> => shared.inspect.zcount(key, 1, '+inf');
    await eventually(async () => expect(await slots()).toBe(6));
    controller.abort('gone');
    expect(await Promise.all(aborted)).toEqual(['gone', 'gone', 'gone']);
    await eventually(async () => expect(await slots()).toBeLessThanOrEqual(3));
    await Promise.all([4, 5, 6].map((at) => shared.ask(other, String(at))));
    const [first] = shared.granted;
    // The second window is not lost to those who have gone.
    expect((shared.granted.at(-1)?.at ?? 0) - (first?.at ?? 0)).toBeLessThan(2 * SPAN);
    expectSpaced(shared, READ);
  });

  it('takes none for who has gone before', async () => {
    const shared = await share(redis());
    const limiter = await shared.process();
    await expect(shared.ask(limiter, 'gone', { signal: AbortSignal.abort('gone') })).rejects.toBe('gone');
    expect(await shared.inspect.keys(`${shared.prefix}:*`)).toEqual([]);
  });

  it('refuses at once who would not wait for the end of a pause, with its end', async () => {
    const shared = await share(redis());
    const [one, other] = [await shared.process(), await shared.process('ioredis')];
    const began = Date.now();
    one.pause('read', 'scope', 60_000);
    // Until the other can know.
    await written(shared);
    const refused = await Promise.all([one, other].map((each) => failureOf(shared.ask(each, 'x', { maxWait: 1_000 }))));
    for (const error of refused) expect(error).toMatchObject({ name: 'PauseTooLongError', retryAt: expect.any(Date) });
    for (const error of refused) {
      const { retryAt } = error instanceof Error && 'retryAt' in error ? error : {};
      const left = retryAt instanceof Date ? retryAt.getTime() - began : 0;
      expect(left).toBeGreaterThan(59_000);
      expect(left).toBeLessThan(61_000);
    }
  });

  it('is kept for each bucket and token by itself', async () => {
    const shared = await share(redis());
    const limiter = await shared.process('redis', { rateLimits: { read: READ, write: READ } });
    const places: [string, Bucket][] = [
      ['one', 'read'],
      ['one', 'write'],
      ['other', 'read'],
    ];
    const began = performance.now();
    await Promise.all(
      places.flatMap(([scope, bucket]) => [1, 2, 3].map((at) => shared.ask(limiter, `${at}`, { scope }, bucket))),
    );
    expect((shared.granted.at(-1)?.at ?? 0) - began).toBeLessThan(SPAN);
    expect(await shared.inspect.keys(`${shared.prefix}:*`)).toHaveLength(3);
  });

  it('is not shared under another prefix', async () => {
    const [mine, yours] = [await share(redis()), await share(redis())];
    const [one, other] = [await mine.process(), await yours.process()];
    const began = performance.now();
    await Promise.all([1, 2, 3].flatMap(() => [mine.ask(one, ''), yours.ask(other, '')]));
    expect(performance.now() - began).toBeLessThan(SPAN);
    const keys = await mine.inspect.keys('*');
    expect(keys.filter((key) => key.startsWith(`${mine.prefix}:`))).toHaveLength(1);
    expect(keys.filter((key) => key.startsWith(`${yours.prefix}:`))).toHaveLength(1);
  });
});

describe('without Redis', () => {
  it('each takes its part, and tells of it, until Redis is there again', async () => {
    const server = await startRedis();
    const shared = await share(server);
    const warn = vi.fn<(message: string) => void>();
    const options = { fallback: { processes: 3 }, logger: { warn } };
    const limiters = [await shared.process('redis', options), await shared.process('ioredis', options)];
    await Promise.all(limiters.map((limiter) => shared.ask(limiter, 'shared')));
    await server.kill();
    const local = limiters.flatMap((limiter, at) => [1, 2].map((nth) => shared.ask(limiter, `${at}, ${nth}`)));
    await Promise.all(local);
    // One each, then one each a span later.
    expect(shared.names().slice(2, 4).toSorted()).toEqual(['0, 1', '1, 1']);
    expect(warn).toHaveBeenCalledTimes(2);
    expect(warn).toHaveBeenCalledWith(expect.stringContaining('not shared'));
    await server.restart();
    await Promise.all(limiters.flatMap((limiter) => [1, 2].map(() => shared.ask(limiter, 'again'))));
    expect(warn).toHaveBeenCalledTimes(4);
    expect(warn).toHaveBeenLastCalledWith(expect.stringContaining('again'));
    expectSpaced(shared, READ);
  });

  it('who has no part waits for it', async () => {
    const server = await startRedis();
    const shared = await share(server);
    const warn = vi.fn<(message: string) => void>();
    const limiter = await shared.process('redis', { logger: { warn } });
    await shared.ask(limiter, 'before');
    await server.kill();
    const waiting = shared.ask(limiter, 'after');
    const controller = new AbortController();
    const given = failureOf(shared.ask(limiter, 'impatient', { signal: controller.signal }));
    await vi.waitFor(() => expect(warn).toHaveBeenCalled(), { timeout: 5_000 });
    controller.abort('impatient');
    expect(await given).toBe('impatient');
    expect(shared.names()).toEqual(['before']);
    await server.restart();
    await waiting;
    expect(shared.names()).toEqual(['before', 'after']);
  });
});

describe('redisLimiter', () => {
  it('says what is wrong with its options', async () => {
    const client = await redis().connect('redis');
    const wrong: [string, RedisLimiterOptions][] = [
      ['margin', { margin: -1 }],
      ['margin', { margin: Number.NaN }],
      ['margin', { margin: Number.POSITIVE_INFINITY }],
      ['fallback.processes', { fallback: { processes: 0 } }],
      ['fallback.processes', { fallback: { processes: 1.5 } }],
      ['rateLimits.read', { rateLimits: { read: { limit: 0, interval: 1_000 } } }],
      ['rateLimits.read', { rateLimits: { read: { limit: 1, interval: 0 } } }],
      ['prefix', { prefix: '' }],
      ['prefix', { prefix: 'two{slots}' }],
    ];
    for (const [name, options] of wrong) {
      const problem = expect.objectContaining({ name: 'ConfigurationError', message: expect.stringContaining(name) });
      expect(() => redisLimiter(client, options), name).toThrow(problem);
    }
    for (const [name, text] of [
      ['fallback.processes', '{"fallback":{}}'],
      ['fallback', '{"fallBack":{"processes":2}}'],
    ] as const) {
      expect(() => redisLimiter(client, JSON.parse(text)), text).toThrow(name);
    }
    const notRedis = JSON.parse('{}');
    expect(() => redisLimiter(notRedis)).toThrow(expect.objectContaining({ name: 'ConfigurationError' }));
  });
});
