import { inspect } from 'node:util';
import { Redis } from 'ioredis';
import { createClient } from 'redis';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type RedisClient, redisDedupe, redisLimiter, redisTokenStore } from '../../src/redis/index.ts';
import { failureOf } from '../support/server.ts';
import { startVirtualTime } from '../support/virtual-time.ts';

const SECRET = 'canary-of-a-token-0123456789';

/** A client whose every command has this reply. */
const clientOf = (reply: () => Promise<unknown>): RedisClient => ({ evalsha: reply, eval: reply });

// Scripts are hashed at their first use, on another thread, which virtual time does not wait for.
beforeAll(async () => {
  const store = redisTokenStore(
    clientOf(async () => 1),
    { key: 'k' },
  );
  await store.withLock(() => failureOf(store.load()));
  await redisDedupe(
    clientOf(async () => 1),
    { prefix: 'p' },
  ).claim('e', 1);
});

function virtualTime() {
  const time = startVirtualTime();
  onTestFinished(() => time.end());
  return time;
}

describe('a script that is retried', () => {
  it('rejects all waiting callers after two minutes when others hold the lock', async () => {
    const time = virtualTime();
    const startedAt = performance.now();
    const store = redisTokenStore(
      clientOf(async () => 0),
      { key: 'mine' },
    );
    const waiting = [1, 2, 3].map(() => failureOf(store.withLock(async () => 'never')));
    for (const failure of await time.until(Promise.all(waiting))) {
      expect(failure).toMatchObject({ code: 'token-unavailable', message: expect.stringContaining('{mine}:lock') });
    }
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(120_000);
    expect(performance.now() - startedAt).toBeLessThan(121_000);
    expect(await time.timersLeft()).toBe(0);
  });

  it('rejects after ten seconds without a reply, or with a server that is not ready', async () => {
    const time = virtualTime();
    const loading = async () => {
      throw new Error('LOADING Redis is loading the dataset in memory');
    };
    for (const [reply, reason] of [
      [() => new Promise<never>(() => {}), /did not respond within 10 seconds/],
      [loading, /LOADING/],
    ] as const) {
      const startedAt = performance.now();
      const store = redisTokenStore(clientOf(reply), { key: 'mine' });
      const failure = await time.until(failureOf(store.load()));
      expect(failure).toMatchObject({ code: 'token-unavailable', message: expect.stringMatching(reason) });
      expect(performance.now() - startedAt).toBeLessThanOrEqual(10_001);
      expect(performance.now() - startedAt).toBeGreaterThan(9_000);
      expect(await time.timersLeft()).toBe(0);
    }
  });

  it('is retried when a cluster closes a client of a node, and rejects when the cluster is closed', async () => {
    for (const [message, open, closed] of [
      ['Disconnects client', { isOpen: true }, { isOpen: false }],
      ['Connection is closed.', { status: 'ready' }, { status: 'end' }],
    ] as const) {
      const token = { token: SECRET };
      let calls = 0;
      const failover = async () => {
        if (++calls === 1) throw new Error(message);
        return JSON.stringify(token);
      };
      const cluster = { ...clientOf(failover), ...open };
      expect(await redisTokenStore(cluster, { key: 'k' }).load()).toEqual(token);
      expect(calls).toBe(2);
      const nowhere = clientOf(() => Promise.reject(new Error('None of startup nodes is available')));
      const startedAt = performance.now();
      expect(await failureOf(redisTokenStore({ ...nowhere, ...closed }, { key: 'k' }).load())).toBeInstanceOf(Error);
      expect(performance.now() - startedAt).toBeLessThan(1_000);
    }
  });

  it('is not retried after a permanent error', async () => {
    let calls = 0;
    const refusing = async () => {
      calls++;
      throw new Error("NOPERM User default has no permissions to run the 'evalsha' command");
    };
    const failure = await failureOf(redisTokenStore(clientOf(refusing), { key: 'mine' }).load());
    expect(failure).toMatchObject({ message: expect.stringContaining('NOPERM') });
    expect(calls).toBe(1);
  });

  it('rejects without the token that servers and clients quote', async () => {
    for (const message of [
      `ERR unknown command 'evalsha', with args beginning with: 'ab' '1' 'k' '' '{"token":"${SECRET.slice(0, 12)}`,
      `ERR max request size exceeded, command was: ["set","k","{\\"token\\":\\"${SECRET}\\"}"]`,
      `ERR command was: set k ${SECRET}`,
    ]) {
      const command = { name: 'evalsha', args: [SECRET] };
      const evalsha = async (_sha: string, _keys: number, _key?: string, ...args: string[]) => {
        if (args.length === 0) return null;
        throw Object.assign(new Error(message), { command });
      };
      const store = redisTokenStore({ evalsha, eval: evalsha }, { key: 'k' });
      const failure = await failureOf(store.save({ token: SECRET }));
      expect(failure).toMatchObject({
        code: 'token-unavailable',
        message: expect.stringContaining(message.slice(0, 20)),
      });
      expect(inspect(failure, { depth: 9, showHidden: true })).not.toContain(SECRET.slice(0, 8));
    }
  });

  it('rejects with a reason when the error of the client has no message', async () => {
    const refused = Object.assign(new AggregateError([], ''), { code: 'ECONNREFUSED' });
    const time = virtualTime();
    const dedupe = redisDedupe(
      clientOf(() => Promise.reject(refused)),
      { prefix: 'p' },
    );
    const failure = await time.until(failureOf(dedupe.claim('e', 1_000)));
    expect(String(failure)).toContain('ECONNREFUSED');
    class TimeoutError extends Error {}
    const nameless = redisTokenStore(
      clientOf(() => Promise.reject(new TimeoutError())),
      { key: 'k' },
    );
    expect(String(await time.until(failureOf(nameless.load())))).toContain('TimeoutError');
    const odd = redisTokenStore(
      clientOf(() => Promise.reject('odd')),
      { key: 'k' },
    );
    expect(String(await failureOf(odd.load()))).toContain('Non-error was thrown');
  });
});

it('the Redis stores refuse invalid options', () => {
  const client = clientOf(async () => 0);
  const nothing = JSON.parse('{}');
  for (const [create, problem] of [
    [() => redisTokenStore(client, nothing), '`key` must be a non-empty string'],
    [() => redisTokenStore(client, nothing.none), 'The options of redisTokenStore must be an object'],
    [() => redisTokenStore(client, { key: ' ' }), '`key` must be a non-empty string'],
    [() => redisTokenStore(client, { key: 'k', lease: 99 }), '`lease` must be an integer of 100 to 3600000'],
    [() => redisTokenStore(client, { key: 'k', lease: 1_000.5 }), '`lease` must be an integer'],
    [() => redisTokenStore(nothing, { key: 'k' }), 'must be a connected client'],
    [() => redisDedupe(client, nothing.none), 'The options of redisDedupe must be an object'],
    [() => redisDedupe(client, { prefix: '' }), '`prefix` must be a non-empty string'],
    [() => redisDedupe(client, { prefix: 'p', window: 0 }), '`window` must be an integer of 1'],
    [() => redisDedupe(nothing, { prefix: 'p' }), 'must be a connected client'],
    [() => redisTokenStore(client, JSON.parse('{"key":"k","leaseMs":1000}')), '`leaseMs` is not an option'],
    [() => redisDedupe(client, JSON.parse('{"prefix":"p","windowMs":1000}')), '`windowMs` is not an option'],
  ] as const) {
    expect(create, problem).toThrow(
      expect.objectContaining({ code: 'configuration-invalid', message: expect.stringContaining(problem) }),
    );
  }
});

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
