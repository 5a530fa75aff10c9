import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { redisTokenStore } from '../../src/redis/index.ts';
import { signIn, startOAuthBench } from '../support/oauth.ts';
import { end, HOUR } from '../support/oauth-processes.ts';
import { KINDS } from '../support/redis-clients.ts';
import { suiteRedis } from '../support/redis-server.ts';
import { credentials, startBench } from '../support/sandbox.ts';
import { ask } from '../support/started-process.ts';
import { runs } from '../support/volume.ts';
import { startManyOnRedis, startOnRedis } from './redis-processes.ts';

const PROCESSES = runs(12, 50);

describe('processes with a token store on Redis', () => {
  const kind = 'ioredis' as const;
  const redis = suiteRedis();
  const settings = (key: string, lease?: number) => ({ kind, redisUrl: redis().url, key, ...(lease && { lease }) });

  it('refresh an expired OAuth token once when four of them need it', async () => {
    const { url, sandbox, clientWith, exchanges } = await startOAuthBench();
    const store = redisTokenStore(await redis().connect(kind), { key: 'grant' });
    await signIn(clientWith(store));
    await sandbox.advance(HOUR);
    const before = await store.load();
    const options = { ...settings('grant'), baseUrl: url };
    const children = await startManyOnRedis(4, options);
    expect(await Promise.all(children.map((child) => ask(child, 'call')))).toEqual(Array(4).fill(200));
    expect(exchanges()).toEqual([200, 200]);
    expect((await store.load())?.token).not.toBe(before?.token);
  });

  it('take the lock within its lease when the holder is killed', async () => {
    const lease = 5_000;
    const child = await startOnRedis({ ...settings('killed', lease), hold: 60_000 });
    expect(await ask(child, 'hold')).toBe('held');
    const probe = await redis().connect('redis');
    // The time that is left grows only when the holder renews the lock.
    let left = await probe.pTTL('{killed}:lock');
    const growth = async (): Promise<number> => {
      const before = left;
      left = await probe.pTTL('{killed}:lock');
      return left - before;
    };
    await expect.poll(growth, { timeout: 60_000 }).toBeGreaterThan(0);
    child.kill('SIGKILL');
    await end(child);
    const store = redisTokenStore(await redis().connect(kind), { key: 'killed', lease });
    await store.withLock(async () => {});
  });

  it('do not release the lock of another after they were stopped while they held it', async () => {
    const lease = 600;
    const child = await startOnRedis({ ...settings('stopped', lease), hold: 1_500 });
    expect(await ask(child, 'hold')).toBe('held');
    child.kill('SIGSTOP');
    const [mine, other] = [await redis().connect(kind), await redis().connect(kind)];
    const order: string[] = [];
    // The lock of the stopped process expires.
    await redisTokenStore(mine, { key: 'stopped', lease: 30_000 }).withLock(async () => {
      const done = once(child, 'message');
      const third = redisTokenStore(other, { key: 'stopped', lease }).withLock(async () => void order.push('third'));
      child.kill('SIGCONT');
      expect((await done)[0]).toBe('done');
      // The third would have taken the lock by now if the first had released it.
      await new Promise((resolve) => setTimeout(resolve, lease));
      expect(order).toEqual([]);
      order.push('second');
      void third;
    });
    await expect.poll(() => order).toEqual(['second', 'third']);
    expect(await ask(child, 'hold')).toBe('held');
  });
});

describe(`${PROCESSES} processes, half of them with each client,`, () => {
  const redis = suiteRedis();

  it('issue one token when they start together', async () => {
    const { sandbox, url } = await startBench();
    const shared = { redisUrl: redis().url, key: 'many', baseUrl: url, credentials };
    const halves = KINDS.map((kind) => startManyOnRedis(PROCESSES / KINDS.length, { ...shared, kind }));
    const children = (await Promise.all(halves)).flat();
    const tokens = await Promise.all(children.map((child) => ask(child, 'issueToken')));
    expect(sandbox.log.map(({ path, status }) => `${path} ${status}`)).toEqual(['/api/v2/auth/api-token 200']);
    const stored = await redisTokenStore(await redis().connect('redis'), { key: 'many' }).load();
    expect(tokens).toEqual(Array(PROCESSES).fill(stored?.token));
  });
});
