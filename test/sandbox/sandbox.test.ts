import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { operations } from '../../src/operations.ts';
import { createSandbox, type SandboxOptions } from '../../src/sandbox/index.ts';

const credentials = { email: 'ada@example.com', password: 'correct horse' };
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

interface Call {
  readonly token?: string;
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
}

/** A sandbox whose clock stands still, spoken to without the client. */
function start(options: SandboxOptions = {}) {
  const sandbox = createSandbox({ clock: 'manual', ...options });
  const account = sandbox.accounts.create(credentials);
  const call = async (method: string, path: string, { token, body, headers = {} }: Call = {}) => {
    const response = await sandbox.fetch(
      new Request(`http://sandbox${path}`, {
        method,
        headers: {
          accept: 'application/json',
          ...(token && { authorization: `Bearer ${token}` }),
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      }),
    );
    return { status: response.status, headers: response.headers, body: await response.json() };
  };
  const create = (token: string, key?: string, body: unknown = { name: 'x' }) =>
    call('POST', '/api/v2/audiences/create', { token, body, ...(key && { headers: { 'idempotency-key': key } }) });
  return { sandbox, account, call, create, token: account.token('api') };
}

describe('the routes the specification shows', () => {
  it('stand in the operation table to the letter', () => {
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

describe('the envelope', () => {
  it('has status, code, message and data', async () => {
    const { call, token } = start();
    const { status, body } = await call('GET', '/api/v2/webhooks/index', { token });
    expect({ status, body }).toEqual({
      status: 200,
      body: { status: 'success', code: 200, message: expect.any(String), data: [] },
    });
  });

  it('of a 401 is a message alone', async () => {
    const { call } = start();
    expect(await call('GET', '/api/v2/webhooks/index')).toMatchObject({
      status: 401,
      body: { message: 'Unauthenticated.' },
    });
  });

  it('of a 422 maps fields to messages, its data empty', async () => {
    const { create, token } = start();
    const { status, body } = await create(token, undefined, { project_id: 1, name: 7 });
    expect(status).toBe(422);
    expect(body).toMatchObject({
      status: 'error',
      code: 422,
      data: [],
      errors: { project_id: [expect.any(String)], name: [expect.any(String)] },
    });
  });

  it('is asked for by Accept: 406 without', async () => {
    const { call, token } = start();
    expect(await call('GET', '/api/v2/usage', { token, headers: { accept: 'text/html' } })).toMatchObject({
      status: 406,
    });
    expect(await call('POST', '/api/v2/auth/login', { body: credentials, headers: { accept: '*/*' } })).toMatchObject({
      status: 406,
    });
  });

  it('of an unknown path is a 404', async () => {
    const { call } = start();
    expect(await call('GET', '/api/v2/nothing')).toMatchObject({ status: 404, body: { status: 'error', code: 404 } });
  });
});

describe('tokens', () => {
  const ping = (one: ReturnType<typeof start>, token: string) =>
    one.call('GET', '/api/v2/webhooks/index', { token }).then(({ status }) => status);

  it('of a login end the previous login', async () => {
    const one = start();
    const login = async () => (await one.call('POST', '/api/v2/auth/login', { body: credentials })).body.data.token;
    const first = await login();
    const second = await login();
    expect(await ping(one, first)).toBe(401);
    expect(await ping(one, second)).toBe(200);
    expect(await ping(one, one.token)).toBe(200);
  });

  it('live a year, ten at most of a kind', async () => {
    const one = start();
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
    const one = start();
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
    const one = start();
    expect(await ping(one, one.account.token('mcp'))).toBe(401);
  });

  it('end with a password change; a logout ends the login token only', async () => {
    const one = start();
    const login = one.account.token('login');
    one.account.logout();
    expect([await ping(one, login), await ping(one, one.token)]).toEqual([401, 200]);
    one.account.changePassword('new');
    expect(await ping(one, one.token)).toBe(401);
    expect((await one.call('POST', '/api/v2/auth/login', { body: credentials })).status).toBe(401);
    expect(one.account.password).toBe('new');
  });

  it('are refused for malformed credentials with 422', async () => {
    const one = start();
    const { status, body } = await one.call('POST', '/api/v2/auth/login', { body: { email: 'x' } });
    expect(status).toBe(422);
    expect(Object.keys(body.errors)).toEqual(['email', 'password']);
    expect((await one.call('POST', '/api/v2/auth/api-token', { body: 'x' })).status).toBe(422);
    expect(
      (await one.call('POST', '/api/v2/auth/api-token/revoke', { body: { ...credentials, password: 'no' } })).status,
    ).toBe(401);
  });

  it('belong to accounts with different emails', () => {
    const { sandbox } = start();
    expect(() => sandbox.accounts.create(credentials)).toThrow(/exists already/);
  });
});

describe('rate buckets', () => {
  it.each([
    ['read', 120, 'GET', '/api/v2/webhooks/index', true],
    ['write', 30, 'POST', '/api/v2/audiences/9/delete', true],
    ['login', 180, 'POST', '/api/v2/auth/login', false],
    ['mint', 10, 'POST', '/api/v2/auth/mcp-token/revoke', false],
  ] as const)('%s: %i a minute, then 429 with Retry-After', async (_, limit, method, path, bearer) => {
    const one = start();
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

  it('are kept for each token by itself', async () => {
    const one = start({ limits: { read: { limit: 1, interval: MINUTE } } });
    const other = one.account.token('api');
    const statuses = [one.token, one.token, other].map((token) => one.call('GET', '/api/v2/webhooks/index', { token }));
    expect((await Promise.all(statuses)).map(({ status }) => status)).toEqual([200, 429, 200]);
  });
});

describe('the build budget', () => {
  it('is 60 an hour and 300 a day for an organization; a refusal creates nothing', async () => {
    const one = start({ limits: { write: { limit: 10_000, interval: MINUTE } } });
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
    const one = start({ limits: { buildsPerHour: 1 } });
    await one.create(one.token, undefined, { project_id: 5 });
    expect((await one.create(one.token)).status).toBe(200);
    expect((await one.create(one.token)).status).toBe(429);
  });
});

describe('an idempotency key', () => {
  it('replays the stored response for 24 hours', async () => {
    const one = start();
    const first = await one.create(one.token, 'k');
    await one.sandbox.advance(23 * HOUR);
    const again = await one.create(one.account.token('api'), 'k');
    expect(again.body).toEqual(first.body);
    expect(one.sandbox.log.at(-1)).toMatchObject({ status: 200, replayed: true });
    await one.sandbox.advance(HOUR);
    expect((await one.create(one.token, 'k')).body.data[0].id).not.toBe(first.body.data[0].id);
  });

  it('with another body is a 409', async () => {
    const one = start();
    await one.create(one.token, 'k');
    expect((await one.create(one.token, 'k', { name: 'y' })).status).toBe(409);
  });

  it('of a create still in flight is a 409', async () => {
    const one = start();
    let finish = () => {};
    const body = new ReadableStream({
      start(controller) {
        controller.enqueue(new TextEncoder().encode('{"name":'));
        finish = () => {
          controller.enqueue(new TextEncoder().encode('"x"}'));
          controller.close();
        };
      },
    });
    const headers = { accept: 'application/json', authorization: `Bearer ${one.token}`, 'idempotency-key': 'k' };
    const init = { method: 'POST', headers, body, duplex: 'half' } as const;
    const first = one.sandbox.fetch(new Request('http://sandbox/api/v2/audiences/create', init));
    await expect.poll(async () => (await one.create(one.token, 'k')).status).toBe(409);
    finish();
    const { data } = await (await first).json();
    expect(data[0].name).toBe('x');
    expect((await one.create(one.token, 'k', { name: 'x' })).body.data).toEqual(data);
  });

  it('belongs to its account, and is free again after a refusal', async () => {
    const one = start();
    const other = one.sandbox.accounts.create({ email: 'bob@example.com', password: 'x' }).token('api');
    const first = await one.create(one.token, 'k');
    expect((await one.create(other, 'k')).body.data[0].id).not.toBe(first.body.data[0].id);
    expect((await one.create(one.token, 'm', { project_id: 1 })).status).toBe(422);
    expect((await one.create(one.token, 'm')).status).toBe(200);
  });
});

describe('audiences', () => {
  const read = async (one: ReturnType<typeof start>, id: number) =>
    (await one.call('GET', `/api/v2/audiences/${id}`, { token: one.token })).body.data[0];

  it('run for their time and end as told', async () => {
    const one = start({ jobs: { duration: 100_000, outcome: ({ name }) => (name === 'bad' ? 107 : 104) } });
    const good = (await one.create(one.token)).body.data[0];
    const bad = (await one.create(one.token, undefined, { name: 'bad' })).body.data[0];
    expect(good).toMatchObject({ status: { id: 100, name: 'Queued' }, is_activation_allowed: 1 });
    await one.sandbox.advance(50_000);
    expect(await read(one, good.id)).toMatchObject({ status: { id: 102 } });
    await one.sandbox.advance(50_000);
    expect(await read(one, good.id)).toMatchObject({ status: { id: 104, name: 'Completed' } });
    expect(await read(one, bad.id)).toMatchObject({ status: { id: 107, name: 'Additional Info' } });
  });

  it('can be ended at once', async () => {
    const one = start();
    const { id } = (await one.create(one.token)).body.data[0];
    one.sandbox.jobs.finish('audience', id, 422);
    expect((await read(one, id)).status.id).toBe(422);
    expect(() => one.sandbox.jobs.finish('audience', id, 104)).toThrow(/No job/);
    await one.sandbox.advance(DAY);
    expect((await read(one, id)).status.id).toBe(422);
  });

  it('belong to their account, and are gone when deleted', async () => {
    const one = start();
    const { id } = (await one.create(one.token)).body.data[0];
    const stranger = one.sandbox.accounts
      .create({ email: 'eve@example.com', password: 'x', company: 'Other' })
      .token('api');
    expect((await one.call('GET', `/api/v2/audiences/${id}`, { token: stranger })).status).toBe(404);
    expect((await one.call('POST', `/api/v2/audiences/${id}/delete`, { token: stranger })).status).toBe(404);
    expect((await one.call('POST', `/api/v2/audiences/${id}/delete`, { token: one.token })).body.data).toEqual([]);
    expect((await one.call('GET', `/api/v2/audiences/${id}`, { token: one.token })).status).toBe(404);
  });

  it('are listed newest first, 25 a page unless asked, 100 at most', async () => {
    const one = start({ limits: { write: { limit: 999, interval: 1 }, buildsPerHour: 999 } });
    for (let at = 0; at < 130; at++) await one.create(one.token, undefined, { name: `n${at}` });
    const names = async (query: string): Promise<string[]> =>
      (await one.call('GET', `/api/v2/audiences/index${query}`, { token: one.token })).body.data.map(
        (row: { name: string }) => row.name,
      );
    expect(await names('')).toHaveLength(25);
    expect((await names(''))[0]).toBe('n129');
    expect(await names('?per_page=500')).toHaveLength(100);
    expect(await names('?per_page=100&page=2')).toHaveLength(30);
    expect(await names('?per_page=no&page=no')).toHaveLength(25);
  });

  it.each([
    ['no object', 'text'],
    ['a dataset that is no list', { dataset: {} }],
    ['a dataset without dates', { dataset: [{ analysis_type: 'WebDomain' }] }],
    [
      'WebDomain data before the 45-day window',
      { dataset: [{ analysis_type: 'WebDomain', start_date: '2020-01-01', end_date: '2020-02-01' }] },
    ],
  ])('of %s are a 422', async (_, body) => {
    const one = start();
    expect((await one.create(one.token, undefined, body)).status).toBe(422);
  });
});

describe('usage', () => {
  it.each(['2019-12', '2999-01', '202001', ''])('of %j is rejected', async (yearmonth) => {
    const one = start();
    expect((await one.call('GET', `/api/v2/usage?yearmonth=${yearmonth}`, { token: one.token })).status).toBe(422);
  });
});

describe('webhook endpoints', () => {
  it('of the company are listed newest first, without secret', async () => {
    const one = start();
    const endpoint = { account: one.account, name: 'a', url: 'https://x.example', events: ['audience.completed'] };
    const first = one.sandbox.webhooks.create(endpoint);
    const second = one.sandbox.webhooks.create({ ...endpoint, name: 'b' });
    const { data } = (await one.call('GET', '/api/v2/webhooks/index', { token: one.token })).body;
    expect(data.map(({ id }: { id: number }) => id)).toEqual([second.id, first.id]);
    expect(data[1]).toEqual({
      id: first.id,
      name: 'a',
      url: 'https://x.example',
      events: ['audience.completed'],
      schema_version: 1,
      is_active: true,
      last_delivery_at: null,
      created_at: expect.stringMatching(/^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}$/),
      updated_at: expect.any(String),
    });
    expect(() => createSandbox().webhooks.create(endpoint)).toThrow(/not one of this sandbox/);
  });
});

describe('the sandbox', () => {
  it('tells the same with the same seed', async () => {
    const tell = async (seed: number) => {
      const one = start({ seed });
      return JSON.stringify([one.token, (await one.create(one.token)).body.data[0].results_count]);
    };
    expect(await tell(7)).toBe(await tell(7));
    expect(await tell(7)).not.toBe(await tell(8));
  });

  it('moves by `advance` only with a manual clock', async () => {
    await expect(createSandbox().advance(1)).rejects.toThrow(/manual/);
  });

  it('logs each request without tokens', async () => {
    const one = start();
    await one.call('GET', '/api/v2/usage?yearmonth=2020-01', { token: one.token });
    expect(one.sandbox.log).toEqual([
      {
        at: expect.stringMatching(/Z$/),
        method: 'GET',
        path: '/api/v2/usage',
        status: 200,
        account: credentials.email,
      },
    ]);
  });

  it('takes types and the operation table from the client, no other code', () => {
    const files = readdirSync('src/sandbox', { recursive: true, encoding: 'utf8' }).filter((name) =>
      name.endsWith('.ts'),
    );
    const taken = files.flatMap((name) =>
      [...readFileSync(`src/sandbox/${name}`, 'utf8').matchAll(/^import (?!type).*from '((?:\.\.\/)+[^']+)'/gm)].map(
        ([, from]) => from,
      ),
    );
    const outside = taken.filter((from) => from && /operations|schemas|transport|errors|client/.test(from));
    expect(new Set(outside)).toEqual(new Set(['../../operations.ts']));
  });
});
