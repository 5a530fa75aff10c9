import { describe, expect, it } from 'vitest';
import { credentials, DAY, startSandbox } from '../support/sandbox-calls.ts';

describe('tokens', () => {
  const ping = (api: ReturnType<typeof startSandbox>, token: string) =>
    api.call('GET', '/api/v2/webhooks/index', { token }).then(({ status }) => status);

  it('a login revokes the previous login token', async () => {
    const api = startSandbox();
    const login = async () => (await api.call('POST', '/api/v2/auth/login', { body: credentials })).body.data.token;
    const first = await login();
    const second = await login();
    expect(await ping(api, first)).toBe(401);
    expect(await ping(api, second)).toBe(200);
    expect(await ping(api, api.token)).toBe(200);
  });

  it.each(['api', 'mcp'] as const)('tokens of kind %s live 365 days, at most ten at a time', async (kind) => {
    const api = startSandbox();
    const path = `/api/v2/auth/${kind}-token`;
    const issue = () => api.call('POST', path, { body: credentials });
    const alive = async (token: string): Promise<boolean> =>
      kind === 'api'
        ? (await ping(api, token)) === 200
        : api.account.tokens().some(({ id }) => token.startsWith(`${id}|`));
    api.account.token(kind);
    const { body } = await issue();
    expect(Date.parse(body.data.expires_at)).toBe(Math.floor((api.sandbox.now() + 365 * DAY) / 1_000) * 1_000);
    expect(body.data.expires_at).toMatch(/\+00:00$/);
    while (api.account.tokens().filter((token) => token.kind === kind).length < 10) api.account.token(kind);
    const refused = await issue();
    expect(refused.status).toBe(422);
    expect(refused.body.message).toContain('limit of 10 active');
    expect(refused.body.message).toContain(`${path}/revoke`);
    api.sandbox.setLimits({ activeTokens: 11 });
    expect((await issue()).status).toBe(200);
    await api.sandbox.advance(365 * DAY - 1);
    expect(await alive(body.data.token)).toBe(true);
    await api.sandbox.advance(1);
    expect(await alive(body.data.token)).toBe(false);
    expect((await issue()).status).toBe(200);
  });

  it('API and MCP tokens survive logins and logouts; a password change revokes every kind', async () => {
    const api = startSandbox();
    for (const kind of ['login', 'mcp'] as const) api.account.token(kind);
    const kinds = () => api.account.tokens().map(({ kind }) => kind);
    await api.call('POST', '/api/v2/auth/login', { body: credentials });
    expect(kinds()).toEqual(['api', 'mcp', 'login']);
    api.account.logout();
    expect(kinds()).toEqual(['api', 'mcp']);
    api.account.token('login');
    api.account.changePassword('new');
    expect([kinds(), api.account.password]).toEqual([[], 'new']);
    expect((await api.call('POST', '/api/v2/auth/login', { body: credentials })).status).toBe(401);
  });

  it('a revocation ends all tokens of its kind', async () => {
    const api = startSandbox();
    api.account.token('api');
    api.account.token('mcp');
    const revoke = async (kind: string) =>
      (await api.call('POST', `/api/v2/auth/${kind}-token/revoke`, { body: credentials })).body.data;
    expect(await revoke('api')).toEqual({ revoked: 2 });
    expect(await revoke('mcp')).toEqual({ revoked: 1 });
    expect(await revoke('mcp')).toEqual({ revoked: 0 });
    expect(await ping(api, api.token)).toBe(401);
  });

  it('malformed credentials are a 422', async () => {
    const api = startSandbox();
    const { status, body } = await api.call('POST', '/api/v2/auth/login', { body: { email: 'x' } });
    expect(status).toBe(422);
    expect(Object.keys(body.errors)).toEqual(['email', 'password']);
    expect((await api.call('POST', '/api/v2/auth/api-token', { body: 'x' })).status).toBe(422);
    expect(
      (await api.call('POST', '/api/v2/auth/api-token/revoke', { body: { ...credentials, password: 'no' } })).status,
    ).toBe(401);
  });

  it('the console issues at most ten tokens, too', () => {
    const { account } = startSandbox();
    for (let index = 0; index < 9; index++) account.token('api');
    expect(() => account.token('api')).toThrow(/10 valid api tokens/);
  });

  it('two accounts cannot have the same email', () => {
    const { sandbox } = startSandbox();
    expect(() => sandbox.accounts.create(credentials)).toThrow(/already exists/);
  });
});
