import { describe, expect, it } from 'vitest';
import { credentials, HOUR, MINUTE, startSandbox } from '../support/sandbox-calls.ts';

describe('rate buckets', () => {
  it.each([
    ['read', 120, 'GET', '/api/v2/webhooks/index', true],
    ['write', 30, 'POST', '/api/v2/audiences/9/delete', true],
    ['login', 180, 'POST', '/api/v2/auth/login', false],
    ['mint', 10, 'POST', '/api/v2/auth/mcp-token/revoke', false],
  ] as const)('%s: %i a minute, then 429 with Retry-After', async (_, limit, method, path, bearer) => {
    const one = startSandbox();
    const send = () =>
      one.call(
        method,
        path,
        bearer ? { token: one.token, ...(method === 'POST' && { body: {} }) } : { body: credentials },
      );
    for (let at = 0; at < limit; at++) {
      expect((await send()).status).not.toBe(429);
      if (at === 0) await one.sandbox.advance(10_000);
    }
    const refused = await send();
    expect(refused.status).toBe(429);
    expect(refused.headers.get('retry-after')).toBe('50');
    await one.sandbox.advance(50_000);
    expect((await send()).status).not.toBe(429);
    expect((await send()).status).toBe(429);
  });

  it('of logins and mints are kept per address, whatever token comes along', async () => {
    const one = startSandbox({ limits: { login: { limit: 2, interval: MINUTE } } });
    const login = (at: number) => one.call('POST', '/api/v2/auth/login', { body: credentials, token: `x${at}` });
    const answers = await Promise.all([1, 2, 3].map(login));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 429]);
  });

  it('are kept for each token by itself', async () => {
    const one = startSandbox({ limits: { read: { limit: 1, interval: MINUTE } } });
    const other = one.account.token('api');
    const statuses = [one.token, one.token, other].map((token) => one.call('GET', '/api/v2/webhooks/index', { token }));
    expect((await Promise.all(statuses)).map(({ status }) => status)).toEqual([200, 429, 200]);
  });
});

describe('the build budget', () => {
  it('is 60 an hour and 300 a day for an organization; a refusal creates nothing', async () => {
    const one = startSandbox({ limits: { write: { limit: 10_000, interval: MINUTE } } });
    const colleague = one.sandbox.accounts.create({ email: 'bob@example.com', password: 'x' }).token('api');
    const usage = async () =>
      (await one.call('GET', `/api/v2/usage?yearmonth=${month()}`, { token: one.token })).body.data.build_budget;
    const month = () => new Date(one.sandbox.now()).toISOString().slice(0, 7);
    const listed = async () =>
      (await one.call('GET', '/api/v2/audiences/index?per_page=100', { token: one.token })).body.data.length;
    for (let at = 0; at < 60; at++) expect((await one.create(one.token)).status).toBe(200);
    const refused = await one.create(colleague);
    expect(refused.status).toBe(429);
    expect(refused.headers.get('retry-after')).toBe('3600');
    expect(await listed()).toBe(60);
    expect(await usage()).toEqual({
      hour: { limit: 60, used: 60 },
      day: { limit: 300, used: 60 },
      retry_after_seconds: 3600,
    });
    for (let hour = 1; hour < 5; hour++) {
      await one.sandbox.advance(HOUR);
      for (let at = 0; at < 60; at++) expect((await one.create(one.token)).status).toBe(200);
    }
    await one.sandbox.advance(HOUR);
    expect((await one.create(one.token)).headers.get('retry-after')).toBe(String(19 * 3600));
    await one.sandbox.advance(19 * HOUR);
    expect((await one.create(one.token)).status).toBe(200);
  });

  it('is not spent by what is refused for other reasons', async () => {
    const one = startSandbox({ limits: { buildsPerHour: 1 } });
    await one.create(one.token, undefined, { project_id: 5 });
    expect((await one.create(one.token)).status).toBe(200);
    expect((await one.create(one.token)).status).toBe(429);
  });
});
