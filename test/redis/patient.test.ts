import { inspect } from 'node:util';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type RedisClient, redisDedupe, redisTokenStore } from '../../src/redis/index.ts';
import { failureOf } from '../support/server.ts';
import { startVirtualTime } from '../support/virtual-time.ts';

const SECRET = 'canary-of-a-token-0123456789';

/** A client whose every command comes to this. */
const clientOf = (answer: () => Promise<unknown>): RedisClient => ({ evalsha: answer, eval: answer });

// Scripts are hashed at their first use, on another thread, for which virtual time does not wait.
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

function virtually() {
  const time = startVirtualTime();
  onTestFinished(() => time.end());
  return time;
}

describe('patience with Redis', () => {
  it('ends after two minutes with a lock that others hold, for all who wait', async () => {
    const time = virtually();
    const started = performance.now();
    const store = redisTokenStore(
      clientOf(async () => 0),
      { key: 'mine' },
    );
    const waiting = [1, 2, 3].map(() => failureOf(store.withLock(async () => 'never')));
    for (const failure of await time.until(Promise.all(waiting))) {
      expect(failure).toMatchObject({ code: 'token-unavailable', message: expect.stringContaining('{mine}:lock') });
    }
    expect(performance.now() - started).toBeGreaterThanOrEqual(120_000);
    expect(performance.now() - started).toBeLessThan(121_000);
    expect(await time.timersLeft()).toBe(0);
  });

  it('ends after ten seconds without an answer, or with a server that is not ready', async () => {
    const time = virtually();
    const loading = async () => {
      throw new Error('LOADING Redis is loading the dataset in memory');
    };
    for (const [answer, told] of [
      [() => new Promise<never>(() => {}), /has not answered for 10 seconds/],
      [loading, /LOADING/],
    ] as const) {
      const started = performance.now();
      const store = redisTokenStore(clientOf(answer), { key: 'mine' });
      const failure = await time.until(failureOf(store.load()));
      expect(failure).toMatchObject({ code: 'token-unavailable', message: expect.stringMatching(told) });
      expect(performance.now() - started).toBeLessThanOrEqual(10_001);
      expect(performance.now() - started).toBeGreaterThan(9_000);
      expect(await time.timersLeft()).toBe(0);
    }
  });

  it('ends after ten seconds for all who wait in line, too, and is not shared with who comes later', async () => {
    const time = virtually();
    const started = performance.now();
    const store = redisTokenStore(
      clientOf(() => new Promise<never>(() => {})),
      { key: 'mine' },
    );
    const waiting = [1, 2, 3].map(() => failureOf(store.withLock(async () => 'never')));
    const after = Promise.all(waiting).then(() => failureOf(store.withLock(async () => 'never')));
    for (const failure of await time.until(Promise.all(waiting))) {
      expect(failure).toMatchObject({ message: expect.stringContaining('has not answered for 10 seconds') });
    }
    expect(performance.now() - started).toBeLessThanOrEqual(10_001);
    expect(await time.until(after)).toMatchObject({ code: 'token-unavailable' });
    expect(performance.now() - started).toBeGreaterThan(19_000);
    expect(await time.timersLeft()).toBe(0);
  });

  it('outlasts clients that a cluster closes by itself, and ends when the cluster is closed', async () => {
    for (const [message, open, closed] of [
      ['Disconnects client', { isOpen: true }, { isOpen: false }],
      ['Connection is closed.', { status: 'ready' }, { status: 'end' }],
    ] as const) {
      const token = { token: SECRET };
      let asked = 0;
      const failover = async () => {
        if (++asked === 1) throw new Error(message);
        return JSON.stringify(token);
      };
      const cluster = { ...clientOf(failover), ...open };
      expect(await redisTokenStore(cluster, { key: 'k' }).load()).toEqual(token);
      expect(asked).toBe(2);
      const nowhere = clientOf(() => Promise.reject(new Error('None of startup nodes is available')));
      const started = performance.now();
      expect(await failureOf(redisTokenStore({ ...nowhere, ...closed }, { key: 'k' }).load())).toBeInstanceOf(Error);
      expect(performance.now() - started).toBeLessThan(1_000);
    }
  });

  it('is not needed for what stays as it is', async () => {
    let asked = 0;
    const refusing = async () => {
      asked++;
      throw new Error("NOPERM User default has no permissions to run the 'evalsha' command");
    };
    const failure = await failureOf(redisTokenStore(clientOf(refusing), { key: 'mine' }).load());
    expect(failure).toMatchObject({ message: expect.stringContaining('NOPERM') });
    expect(asked).toBe(1);
  });

  it('leaves out what servers and clients quote of a command', async () => {
    for (const message of [
      `ERR unknown command 'evalsha', with args beginning with: 'ab' '1' 'k' '{"token":"${SECRET.slice(0, 12)}`,
      `ERR max request size exceeded, command was: ["set","k","{\\"token\\":\\"${SECRET}\\"}"]`,
    ]) {
      const command = { name: 'evalsha', args: [SECRET] };
      const store = redisTokenStore(
        clientOf(() => Promise.reject(Object.assign(new Error(message), { command }))),
        {
          key: 'k',
        },
      );
      const failure = await failureOf(store.save({ token: SECRET }));
      expect(failure).toMatchObject({ code: 'token-unavailable', message: expect.stringContaining('ERR (') });
      expect(inspect(failure, { depth: 9, showHidden: true })).not.toContain(SECRET.slice(0, 8));
    }
  });

  it('names what has no text of its own', async () => {
    const refused = Object.assign(new AggregateError([], ''), { code: 'ECONNREFUSED' });
    const time = virtually();
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
    expect(String(await failureOf(odd.load()))).toContain('no error');
  });

  it('begins with options that can work', () => {
    const client = clientOf(async () => 0);
    const nothing = JSON.parse('{}');
    for (const make of [
      () => redisTokenStore(client, nothing),
      () => redisTokenStore(client, nothing.none),
      () => redisTokenStore(client, { key: ' ' }),
      () => redisTokenStore(client, { key: 'k', lease: 99 }),
      () => redisTokenStore(client, { key: 'k', lease: 1_000.5 }),
      () => redisTokenStore(nothing, { key: 'k' }),
      () => redisDedupe(client, nothing.none),
      () => redisDedupe(client, { prefix: '' }),
      () => redisDedupe(client, { prefix: 'p', window: 0 }),
      () => redisDedupe(nothing, { prefix: 'p' }),
      () => redisTokenStore(client, JSON.parse('{"key":"k","leaseMs":1000}')),
      () => redisDedupe(client, JSON.parse('{"prefix":"p","windowMs":1000}')),
    ]) {
      expect(make).toThrow(expect.objectContaining({ code: 'configuration-invalid' }));
    }
  });
});
