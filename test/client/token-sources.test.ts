import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { apiToken, loginToken, mcpToken, memoryTokenStore, type TokenStore } from '../../src/index.ts';
import { credentials, startBench } from '../support/sandbox.ts';
import { failureOf } from '../support/server.ts';
import { DAY, inDays, issuedStatuses, logins, storeOf } from './support/issued-tokens.ts';

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
      message: 'The token store contains a token of kind "api", not "mcp".',
      advice: 'Use one store for each token source.',
    });
    expect(await store.load()).toEqual(held);
  });

  it('issues one token for many starts and keeps the token in the store', async () => {
    const { connect, sandbox } = await startBench();
    const store = memoryTokenStore();
    for (let start = 0; start < 20; start++) {
      const client = connect({ token: apiToken(credentials, { store }) });
      await Promise.all([client.webhooks.list(), client.webhooks.list()]);
    }
    expect(issuedStatuses(sandbox.log)).toEqual([200]);
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
      expect(issuedStatuses(sandbox.log)).toHaveLength(expected);
    }
  });

  it('continues with a token that is still valid when the renewal fails', async () => {
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

  it('uses a newer token that a sibling has put into the store', async () => {
    const { account, connect, sandbox } = await startBench();
    const store = storeOf({ token: account.token('api'), expiresAt: inDays(300) });
    const client = connect({ token: apiToken(credentials, { store }) });
    await client.webhooks.list();
    account.changePassword('changed');
    await store.save({ token: account.token('api'), expiresAt: inDays(300) });
    expect(await client.webhooks.list()).toEqual([]);
    expect(issuedStatuses(sandbox.log)).toEqual([]);
  });

  it('does not try a failed early renewal again before every call', async () => {
    const { account, connect, sandbox } = await startBench();
    for (let at = 0; at < 8; at++) account.token('api');
    const store = storeOf({ token: account.token('api'), expiresAt: inDays(3) });
    const client = connect({ token: apiToken(credentials, { store }) });
    for (let at = 0; at < 5; at++) await client.webhooks.list();
    expect(issuedStatuses(sandbox.log)).toEqual([422]);
  });

  it('continues with a token in memory while the lock for its early renewal is not available', async () => {
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
    const daysAgo = (days: number) => new Date(Date.now() - days * DAY).toISOString();
    for (const [lived, left, expected] of [
      [2, 3, 0],
      [4, 1, 1],
    ] as const) {
      const store = storeOf({ token, expiresAt: inDays(left), mintedAt: daysAgo(lived) });
      await connect({ token: apiToken(credentials, { store }) }).webhooks.list();
      expect(issuedStatuses(sandbox.log)).toHaveLength(expected);
    }
  });

  it('replaces a stored token that no header can carry', async () => {
    const { connect, sandbox } = await startBench();
    const store = storeOf({ token: 'stored token\n', expiresAt: inDays(300) });
    await connect({ token: apiToken(credentials, { store }) }).webhooks.list();
    expect(issuedStatuses(sandbox.log)).toEqual([200]);
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

  it('`apiToken` with a base URL uses the client that it is passed to', async () => {
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
});

it.each([apiToken, mcpToken, loginToken])('%o works without a client when it has a base URL', async (create) => {
  const { url, sandbox } = await startBench();
  const source = create(credentials, { store: memoryTokenStore(), baseUrl: url });
  expect(await source.get({})).toBe(await source.get({}));
  const endpoint = { apiToken: 'api-token', mcpToken: 'mcp-token', loginToken: 'login' }[create.name];
  expect(sandbox.log).toMatchObject([{ path: `/api/v2/auth/${endpoint}`, status: 200 }]);
});

describe('loginToken', () => {
  it('`loginToken` with a store logs in once for all clients that share the store, also after another login', async () => {
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

  it('`loginToken` with a store logs in again as often as other logins end its token', async () => {
    const { account, connect, sandbox } = await startBench();
    const client = connect({ token: loginToken(credentials, { store: memoryTokenStore() }) });
    for (let round = 0; round < 8; round++) {
      expect(await client.webhooks.list()).toEqual([]);
      account.token('login');
    }
    expect(logins(sandbox.log)).toHaveLength(8);
  });

  it('`loginToken` with a store keeps its token between starts, however old the token is', async () => {
    const { account, connect, sandbox } = await startBench();
    const store = storeOf({ token: account.token('login'), mintedAt: inDays(-3_000) });
    await connect({ token: loginToken(credentials, { store }) }).webhooks.list();
    expect(logins(sandbox.log)).toEqual([]);
  });

  it('`loginToken` with a store mentions no maximum of tokens when its login is refused', async () => {
    const { url } = await startBench();
    const source = loginToken({ email: 'nobody', password: 'secret' }, { store: memoryTokenStore(), baseUrl: url });
    expect(String(await failureOf(source.get({})))).not.toContain('revoke');
  });

  it('refuses a store without methods', () => {
    expect(() => loginToken(credentials, JSON.parse('{ "store": {} }'))).toThrow(/`store`/);
  });
});
