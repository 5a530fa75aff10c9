import { inspect } from 'node:util';
import { describe, expect, it, vi } from 'vitest';
import { AudienceClient, apiToken, loginToken, mcpToken } from '../../src/index.ts';
import { redisTokenStore } from '../../src/redis/index.ts';
import { KINDS } from '../support/redis-clients.ts';
import { startRedis, suiteRedis } from '../support/redis-server.ts';
import { credentials, startBench } from '../support/sandbox.ts';
import { failureOf, quick } from '../support/server.ts';

const SECRET = 'canary-of-a-token-0123456789';
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

describe.each(KINDS)('redisTokenStore on %s', (kind) => {
  const redis = suiteRedis();
  const storeOf = async (key: string, lease?: number) => redisTokenStore(await redis().connect(kind), { key, lease });

  it('keeps a token and its unknown fields without an expiry until it is removed', async () => {
    const [first, second] = [await storeOf('kept'), await storeOf('kept')];
    expect(await first.load()).toBeUndefined();
    const token = { token: SECRET, expiresAt: '2026-01-01T00:00:00.000Z', oauth: { 'Ä"\\': [null, 1] } };
    await first.save(token);
    expect(await second.load()).toEqual(token);
    const script = "return redis.call('PTTL', KEYS[1])";
    const client = await redis().connect('redis');
    expect(await client.eval(script, { keys: ['kept'], arguments: [] })).toBe(-1);
    await second.save(undefined);
    expect(await first.load()).toBeUndefined();
  });

  it('serves apiToken, mcpToken and loginToken, each with its own key', async () => {
    const { url, sandbox } = await startBench();
    for (const source of [apiToken, mcpToken, loginToken]) {
      const options = { baseUrl: url, store: await storeOf(source.name) };
      const token = await source(credentials, options).get({});
      expect(await source(credentials, { ...options, store: await storeOf(source.name) }).get({})).toBe(token);
    }
    expect(sandbox.log.map(({ path }) => path.split('/').at(-1))).toEqual(['api-token', 'mcp-token', 'login']);
  });

  it('keeps its lock while work takes longer than the lease', async () => {
    const [first, second] = [await storeOf('long', 2_000), await storeOf('long', 2_000)];
    const done: string[] = [];
    let waiting: Promise<unknown> | undefined;
    await first.withLock(async () => {
      waiting = second.withLock(async () => void done.push('two'));
      await sleep(3_000);
      done.push('one');
    });
    await waiting;
    expect(done).toEqual(['one', 'two']);
  });

  it('releases its lock when work fails, and rejects with its error', async () => {
    const [first, second] = [await storeOf('fails', 60_000), await storeOf('fails', 60_000)];
    const failure = new Error('no');
    expect(await failureOf(first.withLock(() => Promise.reject(failure)))).toBe(failure);
    expect(await second.withLock(async () => 'next')).toBe('next');
  });

  it('queues a thousand callers of a process, of which one polls Redis', async () => {
    const [holder, client] = [await storeOf('line'), await redis().connect(kind)];
    const commands = vi.fn();
    const name = 'evalSha' in client ? 'evalSha' : 'evalsha';
    const counted = new Proxy(client, {
      get(target, property) {
        if (property === name) commands();
        const value: unknown = Reflect.get(target, property, target);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
    let inside = 0;
    let most = 0;
    const work = async (): Promise<void> => {
      most = Math.max(most, ++inside);
      await Promise.resolve();
      inside--;
    };
    let callers: Promise<unknown> = Promise.resolve();
    await holder.withLock(async () => {
      const store = redisTokenStore(counted, { key: 'line' });
      callers = Promise.all(Array.from({ length: 1_000 }, () => store.withLock(work)));
      commands.mockClear();
      await sleep(500);
      expect(commands.mock.calls.length).toBeLessThan(30);
    });
    await callers;
    expect(most).toBe(1);
  });

  it('issues another token after a restart that lost the first one', async () => {
    const server = await startRedis();
    const { url, sandbox } = await startBench();
    const client = await server.connect(kind);
    const connect = () => {
      const token = apiToken(credentials, { store: redisTokenStore(client, { key: 'lost' }) });
      return new AudienceClient({ baseUrl: url, token, ...quick });
    };
    const first = connect();
    expect(await first.webhooks.list()).toEqual([]);
    await server.kill();
    expect(await first.webhooks.list()).toEqual([]);
    const second = connect();
    const list = second.webhooks.list();
    await server.restart();
    expect(await list).toEqual([]);
    const issues = sandbox.log.filter(({ path }) => path.endsWith('api-token'));
    expect(issues).toHaveLength(2);
    await Promise.all([first.close(), second.close()]);
  });

  it('returns the result of work during which Redis failed, for a moment or for good', async () => {
    const server = await startRedis();
    const store = redisTokenStore(await server.connect(kind), { key: 'away', lease: 150 });
    const again = async () => {
      await server.restart();
      await sleep(300);
      return 'again';
    };
    expect(await store.withLock(again)).toBe('again');
    const paused = async () => {
      server.pause();
      await sleep(300);
      return 'paused';
    };
    expect(await store.withLock(paused)).toBe('paused');
    server.resume();
    expect(await store.withLock(async () => 'next')).toBe('next');
    const gone = async () => {
      await server.kill();
      await sleep(300);
      return 'gone';
    };
    expect(await store.withLock(gone)).toBe('gone');
  });

  it('takes its lock again after a restart that lost it', async () => {
    const server = await startRedis();
    const clients = [await server.connect(kind), await server.connect(kind)];
    const [mine, other] = clients.map((client) => redisTokenStore(client, { key: 'retaken', lease: 300 }));
    const order: string[] = [];
    let waiting: Promise<unknown> | undefined;
    await mine?.withLock(async () => {
      await server.restart();
      // The holder takes its lock again when it is connected again.
      const probe = await server.connect('redis');
      await expect.poll(() => probe.get('{retaken}:lock')).toMatch(/-/);
      waiting = other?.withLock(async () => void order.push('other'));
      await sleep(900);
      order.push('mine');
    });
    await waiting;
    expect(order).toEqual(['mine', 'other']);
  });

  it('names the problem, and never the token', async () => {
    const client = await redis().connect(kind);
    const store = redisTokenStore(client, { key: 'wrong' });
    const admin = await redis().connect('redis');
    await admin.lPush('wrong', SECRET);
    expect(await failureOf(store.load())).toMatchObject({
      name: 'AudienceError',
      code: 'token-unavailable',
      message: expect.stringContaining('WRONGTYPE'),
    });
    await admin.set('wrong', `{"token":"${SECRET}`);
    const broken = await failureOf(store.load());
    expect(broken).toMatchObject({ code: 'token-unavailable', message: expect.stringContaining('"wrong"') });
    expect(inspect(broken, { depth: 9, showHidden: true })).not.toContain(SECRET);
    await admin.sendCommand(['ACL', 'SETUSER', 'default', '-set']);
    const refused = await failureOf(store.save({ token: SECRET }));
    await admin.sendCommand(['ACL', 'SETUSER', 'default', '+set']);
    expect(refused).toMatchObject({ code: 'token-unavailable' });
    expect(String(refused)).toMatch(/ERR .* run this command/);
    expect(inspect(refused, { depth: 9, showHidden: true })).not.toContain(SECRET);
  });

  it('rejects immediately when its client was closed', async () => {
    const client = await redis().connect(kind);
    const store = redisTokenStore(client, { key: 'closed' });
    await client.quit();
    const failures = [await failureOf(store.load()), await failureOf(store.withLock(async () => {}))];
    for (const failure of failures) expect(failure).toMatchObject({ code: 'token-unavailable' });
    expect(String(failures[0])).toMatch(/closed/);
  });
});
