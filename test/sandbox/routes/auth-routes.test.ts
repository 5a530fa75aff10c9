import { describe, expect, it } from 'vitest';
import { credentials, DAY, startSandbox } from '../../support/sandbox-calls.ts';

const soon = { timeout: 1_000 };

describe('tokens', () => {
  const ping = (one: ReturnType<typeof startSandbox>, token: string) =>
    one.call('GET', '/api/v2/webhooks/index', { token }).then(({ status }) => status);

  it('of a login end the previous login', async () => {
    const one = startSandbox();
    const login = async () => (await one.call('POST', '/api/v2/auth/login', { body: credentials })).body.data.token;
    const first = await login();
    const second = await login();
    expect(await ping(one, first)).toBe(401);
    expect(await ping(one, second)).toBe(200);
    expect(await ping(one, one.token)).toBe(200);
  });

  it.each(['api', 'mcp'] as const)('of kind %s live 365 days, ten at most at once', soon, async (kind) => {
    const one = startSandbox();
    const path = `/api/v2/auth/${kind}-token`;
    const mint = () => one.call('POST', path, { body: credentials });
    const alive = async (token: string): Promise<boolean> =>
      kind === 'api'
        ? (await ping(one, token)) === 200
        : one.account.tokens().some(({ id }) => token.startsWith(`${id}|`));
    one.account.token(kind);
    const { body } = await mint();
    expect(Date.parse(body.data.expires_at)).toBe(Math.floor((one.sandbox.now() + 365 * DAY) / 1_000) * 1_000);
    expect(body.data.expires_at).toMatch(/\+00:00$/);
    while (one.account.tokens().filter((token) => token.kind === kind).length < 10) one.account.token(kind);
    const refused = await mint();
    expect(refused.status).toBe(422);
    expect(refused.body.message).toContain('limit of 10 active');
    expect(refused.body.message).toContain(`${path}/revoke`);
    await one.sandbox.advance(365 * DAY - 1);
    expect(await alive(body.data.token)).toBe(true);
    await one.sandbox.advance(1);
    expect(await alive(body.data.token)).toBe(false);
    expect((await mint()).status).toBe(200);
  });

  it('of kind api and mcp survive logins and logouts; a password change ends every kind', async () => {
    const one = startSandbox();
    for (const kind of ['login', 'mcp'] as const) one.account.token(kind);
    const kinds = () => one.account.tokens().map(({ kind }) => kind);
    await one.call('POST', '/api/v2/auth/login', { body: credentials });
    expect(kinds()).toEqual(['api', 'mcp', 'login']);
    one.account.logout();
    expect(kinds()).toEqual(['api', 'mcp']);
    one.account.token('login');
    one.account.changePassword('new');
    expect(kinds()).toEqual([]);
  });

  it('are revoked all at once, kind by kind', async () => {
    const one = startSandbox();
    one.account.token('api');
    one.account.token('mcp');
    const revoke = async (kind: string) =>
      (await one.call('POST', `/api/v2/auth/${kind}-token/revoke`, { body: credentials })).body.data;
    expect(await revoke('api')).toEqual({ revoked: 2 });
    expect(await revoke('mcp')).toEqual({ revoked: 1 });
    expect(await revoke('mcp')).toEqual({ revoked: 0 });
    expect(await ping(one, one.token)).toBe(401);
  });

  it('of scope mcp are not valid on general endpoints', async () => {
    const one = startSandbox();
    expect(await ping(one, one.account.token('mcp'))).toBe(401);
  });

  it('end with a password change; a logout ends the login token only', async () => {
    const one = startSandbox();
    const login = one.account.token('login');
    one.account.logout();
    expect([await ping(one, login), await ping(one, one.token)]).toEqual([401, 200]);
    one.account.changePassword('new');
    expect(await ping(one, one.token)).toBe(401);
    expect((await one.call('POST', '/api/v2/auth/login', { body: credentials })).status).toBe(401);
    expect(one.account.password).toBe('new');
  });

  it('are refused for malformed credentials with 422', async () => {
    const one = startSandbox();
    const { status, body } = await one.call('POST', '/api/v2/auth/login', { body: { email: 'x' } });
    expect(status).toBe(422);
    expect(Object.keys(body.errors)).toEqual(['email', 'password']);
    expect((await one.call('POST', '/api/v2/auth/api-token', { body: 'x' })).status).toBe(422);
    expect(
      (await one.call('POST', '/api/v2/auth/api-token/revoke', { body: { ...credentials, password: 'no' } })).status,
    ).toBe(401);
  });

  it('are ten at most from the console, too', () => {
    const { account } = startSandbox();
    for (let at = 0; at < 9; at++) account.token('api');
    expect(() => account.token('api')).toThrow(/10 live api tokens/);
  });

  it('belong to accounts with different emails', () => {
    const { sandbox } = startSandbox();
    expect(() => sandbox.accounts.create(credentials)).toThrow(/exists already/);
  });
});
