import { describe, expect, it } from 'vitest';
import { operations } from '../../../src/spec/operations.ts';
import { credentials, DAY, MINUTE, startSandbox } from '../support/sandbox-calls.ts';

const all = Object.entries(operations).map(([name, { method, path, token }]) => ({
  name,
  method,
  path: path.replace('{id}', '1').replace('{dataset}/{name}', 'common/countries'),
  token,
}));
const general = all.filter(({ token }) => token === 'general');
const exchanges = all.filter(({ token }) => token === 'none');

describe('every operation', () => {
  it.each(all)('$name returns 406 without Accept: application/json', async ({ method, path }) => {
    const { call, account } = startSandbox();
    const token = account.token(path.endsWith('/mcp') ? 'mcp' : 'api');
    const body = method === 'POST' ? { ...credentials } : undefined;
    const headers = { accept: 'text/html' };
    expect(await call(method, path, { token, headers, body })).toMatchObject({ status: 406, body: { code: 406 } });
  });

  it.each([...general, ...all.filter(({ token }) => token === 'mcp')])(
    '$name returns 401 without a token, with an invalid and with an expired one',
    async ({ method, path }) => {
      const { call, sandbox, account } = startSandbox();
      const body = method === 'POST' ? {} : undefined;
      expect((await call(method, path, { body })).status).toBe(401);
      expect((await call(method, path, { body, token: '1|nobody' })).status).toBe(401);
      const token = account.token(path.endsWith('/mcp') ? 'mcp' : 'api');
      await sandbox.advance(365 * DAY);
      expect((await call(method, path, { body, token })).status).toBe(401);
    },
  );

  it.each(exchanges)('$name requires no token', async ({ path }) => {
    const { call } = startSandbox();
    expect((await call('POST', path, { body: credentials })).status).toBe(200);
  });

  it.each(general)('$name counts in the bucket of its method, per token', async ({ method, path }) => {
    const [counted, other] = method === 'GET' ? (['read', 'write'] as const) : (['write', 'read'] as const);
    const none = { limit: 0, interval: MINUTE };
    const body = method === 'POST' ? {} : undefined;
    const refused = startSandbox({ limits: { [counted]: none } });
    expect((await refused.call(method, path, { token: refused.token, body })).status).toBe(429);
    const free = startSandbox({ limits: { [other]: none } });
    expect((await free.call(method, path, { token: free.token, body })).status).not.toBe(429);
  });
});

describe('resources of another account', () => {
  it.each(['audiences', 'estimates', 'activations', 'cohorts', 'projects', 'schedules'])(
    'an account does not see %s of another account',
    async (name) => {
      const { call, token, create, sandbox } = startSandbox();
      const audience_id = (await create(token)).body.data[0].id;
      sandbox.jobs.finish('audience', audience_id, 104);
      const path = `/api/v2/${name}`;
      const created = await call('POST', `${path}/create`, { token, body: { audience_id } });
      const { id } = created.body.data[0];
      const stranger = sandbox.accounts.create({ email: 'eve@example.com', password: 'x' }).token('api');
      expect((await call('GET', `${path}/${id}`, { token })).status).toBe(200);
      expect((await call('GET', `${path}/${id}`, { token: stranger })).status).toBe(404);
      if (name === 'estimates') return;
      expect((await call('GET', `${path}/index`, { token: stranger })).body.data).toEqual([]);
      expect((await call('POST', `${path}/${id}/delete`, { token: stranger, body: {} })).status).toBe(404);
      expect((await call('POST', `${path}/${id}/delete`, { token, body: {} })).status).toBe(200);
      expect((await call('GET', `${path}/${id}`, { token })).status).toBe(404);
    },
  );
});
