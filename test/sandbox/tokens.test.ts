import { describe, expect, it } from 'vitest';
import { credentials, DAY, MINUTE, startSandbox } from '../support/sandbox-calls.ts';

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

  it('live a year, ten at most of a kind', async () => {
    const one = startSandbox();
    const mint = () => one.call('POST', '/api/v2/auth/api-token', { body: credentials });
    const { body } = await mint();
    expect(Date.parse(body.data.expires_at) - one.sandbox.now()).toBeGreaterThan(365 * DAY - 2_000);
    expect(body.data.expires_at).toMatch(/\+00:00$/);
    for (let at = 0; at < 8; at++) expect((await mint()).status).toBe(200);
    await one.sandbox.advance(MINUTE);
    const refused = await mint();
    expect(refused.status).toBe(422);
    expect(refused.body.message).toMatch(/limit of 10 .* \/api\/v2\/auth\/api-token\/revoke/);
    expect(await ping(one, body.data.token)).toBe(200);
    await one.sandbox.advance(365 * DAY);
    expect(await ping(one, body.data.token)).toBe(401);
    expect((await mint()).status).toBe(200);
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
