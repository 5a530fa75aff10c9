import { describe, expect, it } from 'vitest';
import { AudienceClient } from '../../src/index.ts';
import { createSandbox } from '../../src/sandbox/index.ts';
import { operations } from '../../src/spec/operations.ts';
import { startBench } from '../support/sandbox.ts';
import { credentials, DAY, startSandbox } from './support/sandbox-calls.ts';

describe('the routes that the specification shows', () => {
  it('the operation table has the documented methods and paths literally', () => {
    const shown = Object.entries(operations)
      .filter(([, { documented }]) => documented)
      .map(([name, { method, path }]) => `${name} ${method} ${path}`);
    expect(shown).toEqual([
      'auth.login POST /api/v2/auth/login',
      'auth.createApiToken POST /api/v2/auth/api-token',
      'auth.revokeApiTokens POST /api/v2/auth/api-token/revoke',
      'auth.createMcpToken POST /api/v2/auth/mcp-token',
      'auth.revokeMcpTokens POST /api/v2/auth/mcp-token/revoke',
      'webhooks.list GET /api/v2/webhooks/index',
      'usage.get GET /api/v2/usage',
      'mcp.send POST /api/v2/mcp',
    ]);
  });
});

describe('the sandbox', () => {
  it('two sandboxes with the same seed create the same tokens and devices', async () => {
    const observe = async (seed: number) => {
      const api = startSandbox({ seed });
      const { id } = (await api.create(api.token)).body.data[0];
      api.sandbox.jobs.finish('audience', id, 104);
      const { body } = await api.call('GET', `/api/v2/audiences/${id}`, { token: api.token });
      return JSON.stringify([api.token, body.data[0].results_count]);
    };
    expect(await observe(7)).toBe(await observe(7));
    expect(await observe(7)).not.toBe(await observe(8));
  });

  it('an option set to `undefined` counts as absent', async () => {
    const bench = await startBench(
      {
        seed: undefined,
        start: undefined,
        origin: undefined,
        limits: { read: undefined, buildsPerHour: undefined, logLength: undefined },
        jobs: { duration: 0, outcome: undefined, devices: { eids: 900, scids: undefined } },
        faults: [{ on: 'audiences.create', status: 503, cut: undefined, times: 1, delay: undefined }],
        redirectHosts: undefined,
        deliver: undefined,
        signatureClock: undefined,
        onRequest: undefined,
        onDelivery: undefined,
      },
      {
        onRequest: undefined,
        onRetry: undefined,
        rateLimits: { read: undefined },
        backoff: { min: 1, max: undefined },
        operations: { 'audiences.get': undefined, 'audiences.list': { path: undefined, query: undefined } },
      },
    );
    const { client, sandbox, account } = bench;
    account.company.setBuildBudget({ buildsPerHour: undefined, buildsPerDay: 2 });
    sandbox.webhooks.create({ url: 'https://example.com', account: undefined, name: undefined, events: undefined });
    const { id } = await client.audiences.create({ name: 'x' });
    await sandbox.advance(1);
    expect((await client.audiences.get(id)).results_count).toBe(900);
    expect((await client.audiences.list({ page: undefined })).items).toHaveLength(1);
    const { build_budget } = await client.usage.get({ yearmonth: undefined });
    expect([build_budget.hour.limit, build_budget.day.limit]).toEqual([60, 2]);
    expect((await client.webhooks.list())[0]).toMatchObject({ name: 'Webhook', events: expect.any(Array) });
  });

  it.each(['real', { speed: 60 }] as const)(
    '`advance` moves a running clock (%j) and runs what is due',
    async (clock) => {
      const sandbox = createSandbox({ clock, start: 0 });
      const token = sandbox.accounts.create({ email: 'me@example.com', password: 'secret' }).token('api');
      const client = new AudienceClient({ baseUrl: 'http://localhost', token, fetch: sandbox.fetch });
      const { id } = await client.audiences.create({ name: 'x' });
      await sandbox.advance(600_000);
      expect(sandbox.now()).toBeGreaterThanOrEqual(600_000);
      expect(sandbox.now()).toBeLessThan(1_200_000);
      expect((await client.audiences.get(id)).status.id).toBe(104);
      await sandbox.close();
    },
  );

  it.each([
    '/api/v2/auth/login',
    '/api/v2/projects/create',
    '/api/v2/mcp',
    '/oauth/register',
    '/oauth/token',
    '/oauth/revoke',
  ])('a request to %s whose body fails is rejected and logged without a status', async (path) => {
    const { sandbox, account, token } = startSandbox();
    const cause = new Error('The file was removed.');
    const headers = {
      accept: 'application/json',
      'content-type': 'application/json',
      authorization: `Bearer ${path.endsWith('/mcp') ? account.token('mcp') : token}`,
    };
    const body = new ReadableStream({ pull: (controller) => controller.error(cause) });
    const request = new Request(`http://sandbox${path}`, { method: 'POST', headers, body, ...{ duplex: 'half' } });
    await expect(sandbox.fetch(request)).rejects.toMatchObject({ name: 'TypeError', cause: { cause } });
    expect(sandbox.log).toMatchObject([{ path, status: 0 }]);
  });

  it('the log shows each request without its token', async () => {
    const api = startSandbox();
    await api.call('GET', '/api/v2/usage?yearmonth=2020-01', { token: api.token });
    expect(api.sandbox.log).toEqual([
      {
        id: 'req_1',
        at: expect.stringMatching(/Z$/),
        method: 'GET',
        path: '/api/v2/usage',
        status: 200,
        account: credentials.email,
        bucket: { name: 'read', used: 1, limit: 120 },
      },
    ]);
  });

  it.each<[status: number, why: string, send: (api: ReturnType<typeof startSandbox>) => Promise<unknown>]>([
    [401, 'The request has no Authorization header', ({ call }) => call('GET', '/api/v2/usage')],
    [401, 'was revoked', ({ call }) => call('GET', '/api/v2/usage', { token: '9|x' })],
    [
      401,
      'The token 3 expired at 1971-01-01T00:00:00+00:00',
      async ({ sandbox, call, token }) => {
        await sandbox.advance(365 * DAY);
        await call('GET', '/api/v2/usage', { token });
      },
    ],
    [
      401,
      'valid only on the MCP endpoint',
      ({ call, account }) => call('GET', '/api/v2/usage', { token: account.token('mcp') }),
    ],
    [403, 'of kind api, without the scope mcp', ({ call, token }) => call('POST', '/api/v2/mcp', { token, body: {} })],
    [
      406,
      'The Accept header is "text/html"',
      ({ call, token }) => call('GET', '/api/v2/usage', { token, headers: { accept: 'text/html' } }),
    ],
    [
      409,
      'The first request with this key had another body',
      async ({ create, token }) => {
        await create(token, 'k');
        await create(token, 'k', { name: 'y' });
      },
    ],
    [
      409,
      'The first request with this key, audiences.create, has not ended',
      async ({ sandbox, create, token }) => {
        const release = sandbox.faults.add({ inFlight: 60_000, times: 1 });
        const first = create(token, 'k');
        await create(token, 'k');
        // The first one ends later, and is logged after the refused one.
        queueMicrotask(release);
        await first;
      },
    ],
    [
      422,
      'yearmonth: The yearmonth must be from 2020-01',
      ({ call, token }) => call('GET', '/api/v2/usage?yearmonth=1999-01', { token }),
    ],
    [
      429,
      'The bucket read of token 3 contains 2 of 2 requests',
      async ({ call, token }) => {
        for (let count = 0; count < 3; count++) await call('GET', '/api/v2/usage', { token });
      },
    ],
    [
      429,
      'Example Company has started 1 of 1 builds an hour, 1 of 300 a day',
      async ({ create, token }) => {
        await create(token);
        await create(token);
      },
    ],
    [
      401,
      'No account has the email address a@b.c',
      ({ call }) => call('POST', '/api/v2/auth/login', { body: { email: 'a@b.c', password: 'x' } }),
    ],
    [
      400,
      'invalid_redirect_uri: At least one redirect URI is required.',
      ({ call }) => call('POST', '/oauth/register', { body: {} }),
    ],
  ])('the log shows why a %i was sent: %s', async (status, why, send) => {
    const api = startSandbox({ start: 0, limits: { buildsPerHour: 1, read: { limit: 2, interval: 60_000 } } });
    await send(api);
    const refused = api.sandbox.log.find((entry) => entry.status === status);
    expect(refused?.why).toContain(why);
  });

  it('the log shows the bucket and the build budget at the moment of a request', async () => {
    const { sandbox, create, token } = startSandbox({ limits: { buildsPerHour: 1 } });
    await create(token);
    await create(token);
    const budget = { hour: { used: 1, limit: 1 }, day: { used: 1, limit: 300 }, retry_after_seconds: 3600 };
    expect(sandbox.log).toMatchObject([
      { status: 200, bucket: { name: 'write', used: 1, limit: 30 }, budget },
      { status: 429, bucket: { name: 'write', used: 2, limit: 30 }, budget },
    ]);
  });
});
