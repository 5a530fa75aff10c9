import { describe, expect, it } from 'vitest';
import { credentials, HOUR, MINUTE, startSandbox } from './support/sandbox-calls.ts';

describe('rate buckets', () => {
  it.each([
    ['read', 120, 'GET', '/api/v2/webhooks/index', 'api'],
    ['write', 30, 'POST', '/api/v2/audiences/9/delete', 'api'],
    ['mcp', 120, 'POST', '/api/v2/mcp', 'mcp'],
    ['login', 180, 'POST', '/api/v2/auth/login', undefined],
    ['mint', 10, 'POST', '/api/v2/auth/mcp-token/revoke', undefined],
  ] as const)(
    'the bucket %s allows %i requests a minute, then returns 429 with Retry-After',
    async (_, limit, method, path, kind) => {
      const api = startSandbox();
      const token = kind && api.account.token(kind);
      const body = method === 'POST' ? credentials : undefined;
      const send = () => api.call(method, path, { ...(token && { token }), body });
      for (let index = 0; index < limit; index++) {
        expect((await send()).status).not.toBe(429);
        if (index === 0) await api.sandbox.advance(10_000);
      }
      const refused = await send();
      expect(refused.status).toBe(429);
      expect(refused.headers.get('retry-after')).toBe('50');
      await api.sandbox.advance(50_000);
      expect((await send()).status).not.toBe(429);
      expect((await send()).status).toBe(429);
    },
  );

  it('logins and mints count per address, whatever token is sent', async () => {
    const api = startSandbox({ limits: { login: { limit: 2, interval: MINUTE } } });
    const login = (index: number) => api.call('POST', '/api/v2/auth/login', { body: credentials, token: `x${index}` });
    const responses = await Promise.all([1, 2, 3].map(login));
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 429]);
  });

  it('each token has its own buckets', async () => {
    const api = startSandbox({ limits: { read: { limit: 1, interval: MINUTE } } });
    const other = api.account.token('api');
    const statuses = [api.token, api.token, other].map((token) => api.call('GET', '/api/v2/webhooks/index', { token }));
    expect((await Promise.all(statuses)).map(({ status }) => status)).toEqual([200, 429, 200]);
  });
});

describe('the build budget', () => {
  it('an organization may build 60 times an hour and 300 times a day; a refusal creates nothing', async () => {
    const api = startSandbox({ limits: { write: { limit: 10_000, interval: MINUTE } } });
    const colleague = api.sandbox.accounts.create({ email: 'bob@example.com', password: 'x' }).token('api');
    const usage = async () =>
      (await api.call('GET', `/api/v2/usage?yearmonth=${month()}`, { token: api.token })).body.data.build_budget;
    const month = () => new Date(api.sandbox.now()).toISOString().slice(0, 7);
    const listed = async () =>
      (await api.call('GET', '/api/v2/audiences/index?per_page=100', { token: api.token })).body.data.length;
    for (let index = 0; index < 60; index++) expect((await api.create(api.token)).status).toBe(200);
    const refused = await api.create(colleague);
    expect(refused.status).toBe(429);
    expect(refused.headers.get('retry-after')).toBe('3600');
    expect(await listed()).toBe(60);
    expect(await usage()).toEqual({
      hour: { limit: 60, used: 60 },
      day: { limit: 300, used: 60 },
      retry_after_seconds: 3600,
    });
    for (let hour = 1; hour < 5; hour++) {
      await api.sandbox.advance(HOUR);
      for (let index = 0; index < 60; index++) expect((await api.create(api.token)).status).toBe(200);
    }
    await api.sandbox.advance(HOUR);
    expect((await api.create(api.token)).headers.get('retry-after')).toBe(String(19 * 3600));
    await api.sandbox.advance(19 * HOUR);
    expect((await api.create(api.token)).status).toBe(200);
  });

  it('a create that is refused for another reason does not use the build budget', async () => {
    const api = startSandbox({ limits: { buildsPerHour: 1 } });
    await api.create(api.token, undefined, { project_id: 5 });
    expect((await api.create(api.token)).status).toBe(200);
    expect((await api.create(api.token)).status).toBe(429);
  });
});
