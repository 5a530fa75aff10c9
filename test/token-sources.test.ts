import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { apiToken, loginToken, mcpToken, memoryTokenStore, type StoredToken, type TokenStore } from '../src/index.ts';
import { credentials, startBench } from './support/sandbox.ts';
import { failureOf } from './support/server.ts';

const mints = (log: readonly { path: string; status: number }[]): number[] =>
  log.filter(({ path }) => path.endsWith('/api-token')).map(({ status }) => status);

const logins = (log: readonly { path: string; status: number }[]): number[] =>
  log.filter(({ path }) => path.endsWith('/login')).map(({ status }) => status);

const DAY = 86_400_000;
const inDays = (days: number): string => new Date(Date.now() + days * DAY).toISOString();

function storeOf(token: StoredToken | undefined, trouble: Partial<TokenStore> = {}): TokenStore {
  const store = memoryTokenStore();
  void store.save(token);
  return { ...store, ...trouble };
}

describe('apiToken', () => {
  it('does not use the store of another source, and leaves it alone', async () => {
    const { connect } = await startBench();
    const store = memoryTokenStore();
    const api = connect({ token: apiToken(credentials, { store }) });
    await api.webhooks.list();
    const held = await store.load();
    const mcp = connect({ mcpToken: mcpToken(credentials, { store }) });
    expect(await failureOf(mcp.mcp.send({ jsonrpc: '2.0', id: 1, method: 'ping' }))).toMatchObject({
      code: 'configuration-invalid',
      message: 'The token store holds a token of kind "api", not "mcp": give each token source a store of its own.',
    });
    expect(await store.load()).toEqual(held);
  });

  it('mints once for many starts and keeps the token in the store', async () => {
    const { connect, sandbox } = await startBench();
    const store = memoryTokenStore();
    for (let start = 0; start < 20; start++) {
      const client = connect({ token: apiToken(credentials, { store }) });
      await Promise.all([client.webhooks.list(), client.webhooks.list()]);
    }
    expect(mints(sandbox.log)).toEqual([200]);
    expect(await store.load()).toMatchObject({ token: expect.any(String), expiresAt: expect.any(String) });
  });

  it('renews a token that expires within 7 days', async () => {
    const { account, connect, sandbox } = await startBench();
    const token = account.token('api');
    for (const [days, expected] of [
      [8, 0],
      [6, 1],
    ] as const) {
      const store = storeOf({ token, expiresAt: inDays(days) });
      await connect({ token: apiToken(credentials, { store }) }).webhooks.list();
      expect(mints(sandbox.log)).toHaveLength(expected);
    }
  });

  it('goes on with a token that is still valid when the renewal fails', async () => {
    const { account, connect } = await startBench();
    const token = account.token('api');
    account.changePassword('another one');
    const fresh = account.token('api');
    const warn = vi.fn();
    const logger = { warn, error() {}, info() {}, debug() {} };
    const store = storeOf({ token: fresh, expiresAt: inDays(3) });
    const client = connect({ token: apiToken(credentials, { store }), logger, logLevel: 'warn' });
    expect(await client.webhooks.list()).toEqual([]);
    expect(warn).toHaveBeenCalledOnce();
    expect(warn.mock.calls[0]?.[0]).not.toContain(token);
  });

  it('replaces a rejected token, once for all callers', async () => {
    const { connect, sandbox } = await startBench();
    const store = storeOf({ token: 'revoked-token', expiresAt: inDays(300) });
    const client = connect({ token: apiToken(credentials, { store }) });
    await Promise.all(Array.from({ length: 20 }, () => client.webhooks.list()));
    expect(mints(sandbox.log)).toEqual([200]);
  });

  it('uses a newer token that a sibling has put into the store', async () => {
    const { account, connect, sandbox } = await startBench();
    const store = storeOf({ token: account.token('api'), expiresAt: inDays(300) });
    const client = connect({ token: apiToken(credentials, { store }) });
    await client.webhooks.list();
    account.changePassword('changed');
    await store.save({ token: account.token('api'), expiresAt: inDays(300) });
    expect(await client.webhooks.list()).toEqual([]);
    expect(mints(sandbox.log)).toEqual([]);
  });

  it('does not try a failed early renewal again before every call', async () => {
    const { account, connect, sandbox } = await startBench();
    for (let at = 0; at < 8; at++) account.token('api');
    const store = storeOf({ token: account.token('api'), expiresAt: inDays(3) });
    const client = connect({ token: apiToken(credentials, { store }) });
    for (let at = 0; at < 5; at++) await client.webhooks.list();
    expect(mints(sandbox.log)).toEqual([422]);
  });

  it('goes on with a token in memory while the lock for its early renewal is not to be had', async () => {
    const { account, connect } = await startBench();
    const locks = vi.fn(() => Promise.reject(new Error('away')));
    const store = storeOf({ token: account.token('api'), expiresAt: inDays(8) });
    const warn = vi.fn();
    const logger = { warn, error() {}, info() {}, debug() {} };
    const shared: TokenStore = { ...store };
    const client = connect({ token: apiToken(credentials, { store: shared }), logger, logLevel: 'warn' });
    await client.webhooks.list();
    Object.assign(shared, { withLock: locks });
    vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 2 * DAY);
    onTestFinished(() => void vi.restoreAllMocks());
    expect(await client.webhooks.list()).toEqual([]);
    expect(await client.webhooks.list()).toEqual([]);
    expect(locks).toHaveBeenCalledOnce();
    expect(warn.mock.calls.map(([message]) => message)).toEqual([expect.stringContaining('away')]);
    account.changePassword('another one');
    expect(await failureOf(client.webhooks.list())).toMatchObject({ code: 'token-unavailable' });
  });

  it('renews a token of a short life in its last quarter', async () => {
    const { account, connect, sandbox } = await startBench();
    const token = account.token('api');
    const minted = (days: number) => new Date(Date.now() - days * DAY).toISOString();
    for (const [lived, left, expected] of [
      [2, 3, 0],
      [4, 1, 1],
    ] as const) {
      const store = storeOf({ token, expiresAt: inDays(left), mintedAt: minted(lived) });
      await connect({ token: apiToken(credentials, { store }) }).webhooks.list();
      expect(mints(sandbox.log)).toHaveLength(expected);
    }
  });

  it('replaces a stored token that no header can carry', async () => {
    const { connect, sandbox } = await startBench();
    const store = storeOf({ token: 'stored token\n', expiresAt: inDays(300) });
    await connect({ token: apiToken(credentials, { store }) }).webhooks.list();
    expect(mints(sandbox.log)).toEqual([200]);
  });

  it('needs a store', () => {
    const options = JSON.parse('{}');
    expect(() => apiToken(credentials, options)).toThrow(/`store`/);
    expect(() => apiToken(credentials, options.none)).toThrow(/`store`/);
  });

  it('serves the clients that are left when one is closed', async () => {
    const { connect } = await startBench();
    const token = apiToken(credentials, { store: memoryTokenStore() });
    const [one, two] = [connect({ token }), connect({ token })];
    await one.close();
    expect(await two.webhooks.list()).toEqual([]);
    await two.close();
    expect(await failureOf(two.webhooks.list())).toMatchObject({ code: 'client-closed' });
  });

  it('with a base URL uses the client it is given to', async () => {
    const { connect, url } = await startBench();
    let sent = 0;
    const fetch = (input: Request | URL | string, init?: RequestInit): Promise<Response> => {
      sent++;
      return globalThis.fetch(input, init);
    };
    const token = apiToken(credentials, { store: memoryTokenStore(), baseUrl: `${url}/` });
    await connect({ token, fetch }).webhooks.list();
    expect(sent).toBe(2);
  });

  it('is of one account and one service', async () => {
    const { connect, sandbox, url } = await startBench();
    const store = memoryTokenStore();
    await connect({ token: apiToken(credentials, { store }) }).webhooks.list();
    const held = await store.load();
    expect(JSON.stringify(held)).not.toContain(credentials.email);
    const other = { email: 'grace@example.com', password: 'correct horse' };
    sandbox.accounts.create(other);
    const grace = connect({ token: apiToken(other, { store }) });
    expect(await failureOf(grace.webhooks.list())).toMatchObject({
      code: 'configuration-invalid',
      message: 'The token store holds a token of another account: give each token source a store of its own.',
    });
    const staging = apiToken(credentials, { store, baseUrl: `${url}/staging` });
    expect(await failureOf(staging.get({}))).toMatchObject({
      message: `The token store holds a token of the service ${url}, not of ${url}/staging: give each token source a store of its own.`,
    });
    const ada = { ...credentials, email: credentials.email.toUpperCase() };
    await connect({ token: apiToken(ada, { store }) }).webhooks.list();
    expect(await store.load()).toEqual(held);
    expect(mints(sandbox.log)).toEqual([200]);
  });

  it.each([
    ['load', 'cannot be read; a new token is minted, and kept in memory only: disk full'],
    ['save', 'cannot be written; the token is kept in memory only: disk full'],
  ])('survives a store whose `%s` fails, with a warning', async (method, told) => {
    const { connect, sandbox } = await startBench();
    const warn = vi.fn();
    const logger = { warn, error() {}, info() {}, debug() {} };
    const saved = vi.fn(() => Promise.resolve());
    const store = storeOf(undefined, { save: saved, [method]: () => Promise.reject(new Error('disk full')) });
    const client = connect({ token: apiToken(credentials, { store }), logger, logLevel: 'warn' });
    await client.webhooks.list();
    await client.webhooks.list();
    expect(mints(sandbox.log)).toEqual([200]);
    expect(warn.mock.calls.map(([message]) => message)).toEqual([expect.stringContaining(told)]);
    // What could not be read may be somebody else's.
    expect(saved).not.toHaveBeenCalled();
  });

  it('does not use up the tokens of the account where each is refused, in any process', async ({ onTestFinished }) => {
    vi.useFakeTimers({ toFake: ['Date'] });
    onTestFinished(() => void vi.useRealTimers());
    const { connect, sandbox } = await startBench({ faults: [{ on: 'audiences.list', status: 401 }] });
    const store = memoryTokenStore();
    const list = async (): Promise<number> => {
      const client = connect({ token: apiToken(credentials, { store }) });
      expect(await failureOf(client.audiences.list())).toMatchObject({
        name: 'AuthenticationError',
        message: expect.stringContaining('Asking for another token has not helped'),
      });
      return mints(sandbox.log).length;
    };
    const made = [];
    for (let call = 0; call < 8; call++) made.push(await list());
    expect(made).toEqual([2, 3, 4, 5, 5, 5, 5, 5]);
    for (const [minutes, total] of [
      [1, 6],
      [1, 6],
      [1, 7],
      [3.9, 7],
      [0.2, 8],
    ] as const) {
      vi.setSystemTime(Date.now() + minutes * 60_000);
      expect(await list()).toBe(total);
    }
    // One that has lasted was good.
    vi.setSystemTime(Date.now() + 3_600_000);
    expect(await list()).toBe(9);
    expect(await store.load()).toMatchObject({ renewals: 1 });
  });

  it('is renewed each time that it was revoked', async () => {
    const { client, connect, sandbox } = await startBench();
    const source = connect({ token: apiToken(credentials, { store: memoryTokenStore() }) });
    for (let round = 1; round <= 4; round++) {
      expect(await source.webhooks.list()).toEqual([]);
      await client.auth.revokeApiTokens(credentials);
      await Promise.all(Array.from({ length: 20 }, () => source.webhooks.list()));
      expect(mints(sandbox.log)).toHaveLength(round + 1);
    }
  });

  it('is not minted anew because its store cannot be read, while the one in memory lives', async () => {
    const { account, connect, sandbox } = await startBench();
    const warn = vi.fn();
    const logger = { warn, error() {}, info() {}, debug() {} };
    let load = (): Promise<StoredToken> => Promise.resolve({ token: account.token('api'), expiresAt: inDays(7.5) });
    const store = storeOf(undefined, { load: () => load() });
    const source = connect({ token: apiToken(credentials, { store }), logger, logLevel: 'warn' });
    await source.webhooks.list();
    load = () => Promise.reject(new Error('gone'));
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + DAY });
    await source.webhooks.list();
    vi.useRealTimers();
    expect(mints(sandbox.log)).toEqual([]);
    expect(warn).toHaveBeenCalledWith(expect.stringContaining('the present token is used while it lives: gone'));
  });

  it('says how to revoke when ten tokens are live already', async () => {
    const { account, connect } = await startBench();
    for (let at = 0; at < 9; at++) account.token('api');
    const error = await failureOf(
      connect({ token: apiToken(credentials, { store: memoryTokenStore() }) }).audiences.create({}),
    );
    expect(error).toMatchObject({ name: 'ValidationError', outcome: 'not-sent', local: false });
    expect(String(error)).toContain('client.auth.revokeApiTokens');
  });

  it('works without a client when it has a base URL', async () => {
    const { url, sandbox } = await startBench();
    const source = apiToken(credentials, { store: memoryTokenStore(), baseUrl: url });
    const token = await source.get({});
    expect(await source.get({})).toBe(token);
    expect(mints(sandbox.log)).toEqual([200]);
  });
});

describe('mcpToken', () => {
  it('mints a token of its own kind', async () => {
    const { url, sandbox } = await startBench();
    await mcpToken(credentials, { store: memoryTokenStore(), baseUrl: url }).get({});
    expect(sandbox.log.at(-1)).toMatchObject({ path: '/api/v2/auth/mcp-token', status: 200 });
  });
});

describe('loginToken', () => {
  it('logs in again when another login has ended the token', async () => {
    const { connect, sandbox } = await startBench();
    const first = connect({ credentials });
    await first.webhooks.list();
    await connect({ token: loginToken(credentials) }).webhooks.list();
    expect(await first.webhooks.list()).toEqual([]);
    expect(sandbox.log.map(({ path, status }) => `${path.split('/').at(-1)} ${status}`)).toEqual([
      'login 200',
      'index 200',
      'login 200',
      'index 200',
      'index 401',
      'login 200',
      'index 200',
    ]);
  });

  it('with a store is one for all that share it, also after it was ended', async () => {
    const { account, connect, sandbox } = await startBench();
    const store = memoryTokenStore();
    const fleet = Array.from({ length: 10 }, () => connect({ token: loginToken(credentials, { store }) }));
    const listAll = () => Promise.all(fleet.map((client) => client.webhooks.list()));
    await listAll();
    expect(logins(sandbox.log)).toEqual([200]);
    expect(await store.load()).toMatchObject({ token: expect.any(String), kind: 'login' });
    account.token('login');
    await listAll();
    expect(logins(sandbox.log)).toEqual([200, 200]);
  });

  it('with a store is kept between starts, however old it is', async () => {
    const { account, connect, sandbox } = await startBench();
    const store = storeOf({ token: account.token('login'), mintedAt: inDays(-3_000) });
    await connect({ token: loginToken(credentials, { store }) }).webhooks.list();
    expect(logins(sandbox.log)).toEqual([]);
  });

  it('with a store says nothing of a cap on tokens when it is refused', async () => {
    const { url } = await startBench();
    const source = loginToken({ email: 'nobody', password: 'secret' }, { store: memoryTokenStore(), baseUrl: url });
    expect(String(await failureOf(source.get({})))).not.toContain('revoke');
  });

  it('works without a client when it has a base URL', async () => {
    const { url, sandbox } = await startBench();
    const source = loginToken(credentials, { baseUrl: url });
    expect(await source.get({})).toBe(await source.get({}));
    expect(logins(sandbox.log)).toEqual([200]);
  });

  it('refuses what is no store', () => {
    expect(() => loginToken(credentials, JSON.parse('{ "store": {} }'))).toThrow(/`store`/);
  });
});
