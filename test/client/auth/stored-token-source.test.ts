import { describe, expect, it, vi } from 'vitest';
import { apiToken, memoryTokenStore, type StoredToken } from '../../../src/index.ts';
import { credentials, startBench } from '../../support/sandbox.ts';
import { failureOf } from '../../support/server.ts';
import { DAY, inDays, issuedStatuses, storeOf } from '../support/issued-tokens.ts';

describe('a token in a store', () => {
  it('is used by one account at one service only', async () => {
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
      message: 'The token store contains a token of another account.',
      advice: 'Use one store for each token source.',
    });
    const staging = apiToken(credentials, { store, baseUrl: `${url}/staging` });
    expect(await failureOf(staging.get({}))).toMatchObject({
      message: `The token store contains a token of the service ${url}, not of ${url}/staging.`,
      advice: 'Use one store for each token source.',
    });
    const ada = { ...credentials, email: credentials.email.toUpperCase() };
    await connect({ token: apiToken(ada, { store }) }).webhooks.list();
    expect(await store.load()).toEqual(held);
    expect(issuedStatuses(sandbox.log)).toEqual([200]);
  });

  it.each([
    ['load', 'so the client issues a new token and keeps it in memory only: disk full'],
    ['save', 'Each start of the program issues another token, and an account can have only ten such tokens: disk full'],
  ])('survives a store whose `%s` fails, with a warning', async (method, message) => {
    const { connect, sandbox } = await startBench();
    const warn = vi.fn();
    const logger = { warn, error() {}, info() {}, debug() {} };
    const saved = vi.fn(() => Promise.resolve());
    const store = storeOf(undefined, { save: saved, [method]: () => Promise.reject(new Error('disk full')) });
    const client = connect({ token: apiToken(credentials, { store }), logger, logLevel: 'warn' });
    await client.webhooks.list();
    await client.webhooks.list();
    expect(issuedStatuses(sandbox.log)).toEqual([200]);
    expect(warn.mock.calls.map(([message]) => message)).toEqual([expect.stringContaining(message)]);
    // What could not be read may be somebody else's.
    expect(saved).not.toHaveBeenCalled();
  });

  it('is replaced at most once a minute where each replacement is refused, in any process', async ({
    onTestFinished,
  }) => {
    vi.useFakeTimers({ toFake: ['Date'] });
    onTestFinished(() => void vi.useRealTimers());
    const { connect, sandbox } = await startBench({ faults: [{ on: 'audiences.list', status: 401 }] });
    const store = memoryTokenStore();
    const list = async (): Promise<number> => {
      const client = connect({ token: apiToken(credentials, { store }) });
      expect(await failureOf(client.audiences.list())).toMatchObject({
        name: 'AuthenticationError',
        message: expect.stringContaining('The service also refused a new token'),
      });
      return issuedStatuses(sandbox.log).length;
    };
    for (let call = 0; call < 8; call++) expect(await list()).toBe(2);
    for (const [minutes, total] of [
      [0.9, 2],
      [0.2, 3],
      [0.9, 3],
      [0.2, 4],
    ] as const) {
      vi.setSystemTime(Date.now() + minutes * 60_000);
      expect(await list()).toBe(total);
    }
  });

  it('a token in a store that had expired when it was issued, by a clock that is ahead, is used until it is refused', async ({
    onTestFinished,
  }) => {
    const { account, connect, sandbox } = await startBench();
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 366 * DAY });
    onTestFinished(() => void vi.useRealTimers());
    const store = memoryTokenStore();
    for (let call = 0; call < 12; call++) {
      await connect({ token: apiToken(credentials, { store }) }).webhooks.list();
    }
    expect(issuedStatuses(sandbox.log)).toEqual([200]);
    account.revokeTokens('api');
    await connect({ token: apiToken(credentials, { store }) }).webhooks.list();
    expect(issuedStatuses(sandbox.log)).toEqual([200, 200]);
  });

  it('is replaced after each revocation', async ({ onTestFinished }) => {
    vi.useFakeTimers({ toFake: ['Date'] });
    onTestFinished(() => void vi.useRealTimers());
    const { client, connect, sandbox } = await startBench();
    const source = connect({ token: apiToken(credentials, { store: memoryTokenStore() }) });
    for (let round = 1; round <= 2; round++) {
      expect(await source.webhooks.list()).toEqual([]);
      await client.auth.revokeApiTokens(credentials);
      await Promise.all(Array.from({ length: 5 }, () => source.webhooks.list()));
      expect(issuedStatuses(sandbox.log)).toHaveLength(round + 1);
      vi.setSystemTime(Date.now() + 60_000);
    }
  });

  it('is not issued again when its store cannot be read but the token in memory is valid', async () => {
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
    expect(issuedStatuses(sandbox.log)).toEqual([]);
    expect(warn).toHaveBeenCalledWith(
      expect.stringContaining('the client uses the existing token while it is valid: gone'),
    );
  });

  it('a token that the service refuses to issue beside ten others rejects with an error that names the fix', async () => {
    const { account, connect } = await startBench();
    for (let at = 0; at < 9; at++) account.token('api');
    const error = await failureOf(
      connect({ token: apiToken(credentials, { store: memoryTokenStore() }) }).audiences.create({ name: 'A' }),
    );
    expect(error).toMatchObject({ name: 'ValidationError', outcome: 'not-sent', local: false });
    expect(String(error)).toContain('client.auth.revokeApiTokens');
  });
});
