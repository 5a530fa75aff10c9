import { describe, expect, it } from 'vitest';
import { openApiDocument } from '../../../src/index.ts';
import { createSandbox } from '../../../src/sandbox/index.ts';
import { startSandbox } from '../support/sandbox-calls.ts';

describe('the OpenAPI document', () => {
  it('is served without a token, with the address of the sandbox, and to pages of any origin', async () => {
    await using sandbox = createSandbox();
    const { url } = await sandbox.listen();
    const response = await fetch(`${url}/openapi.json`, { headers: { origin: 'https://docs.example' } });
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
    expect(await response.json()).toEqual(openApiDocument({ baseUrl: url }));
  });
});

describe('usage', () => {
  it.each(['2019-12', '2999-01', '202001', ''])('usage of %j is rejected', async (yearmonth) => {
    const api = startSandbox();
    expect((await api.call('GET', `/api/v2/usage?yearmonth=${yearmonth}`, { token: api.token })).status).toBe(422);
  });
});

describe('the usage of a month', () => {
  it('usage from 2020-01 to the current month has the build budget: limits, live counts and the retry time', async () => {
    const api = startSandbox({ start: Date.UTC(2026, 4, 31, 23), limits: { buildsPerHour: 2 } });
    const usage = async (yearmonth: string) =>
      (await api.call('GET', `/api/v2/usage?yearmonth=${yearmonth}`, { token: api.token })).body.data;
    const counts = (used: number, retry_after_seconds: number | null) => ({
      hour: { limit: 2, used },
      day: { limit: 300, used },
      retry_after_seconds,
    });
    expect(await usage('2026-05')).toMatchObject({ yearmonth: '2026-05', build_budget: counts(0, null) });
    await api.create(api.token, 'k');
    await api.create(api.token, 'k');
    expect((await usage('2026-05')).build_budget).toEqual(counts(1, null));
    await api.sandbox.advance(60_000);
    await api.create(api.token);
    expect((await usage('2026-05')).build_budget).toEqual(counts(2, 59 * 60));
    for (const past of ['2020-01', '2026-04']) expect((await usage(past)).build_budget).toEqual(counts(2, 59 * 60));
    expect((await api.call('GET', '/api/v2/usage?yearmonth=2026-06', { token: api.token })).status).toBe(422);
    await api.sandbox.advance(59 * 60_000);
    for (const month of ['2026-05', '2026-06']) {
      expect((await usage(month)).build_budget).toEqual({ ...counts(1, null), day: { limit: 300, used: 2 } });
    }
  });

  it('usage defaults to the current month', async () => {
    const api = startSandbox({ start: Date.UTC(2026, 4, 31, 23) });
    await api.create(api.token);
    const { status, body } = await api.call('GET', '/api/v2/usage', { token: api.token });
    expect({ status, data: body.data }).toMatchObject({
      status: 200,
      data: { yearmonth: '2026-05', build_budget: { hour: { used: 1 }, day: { used: 1 } } },
    });
  });
});

describe('lists', () => {
  it('a page of resources has 25 rows by default, 100 at most', async () => {
    const limits = { write: { limit: 999, interval: 1 }, buildsPerHour: 999, buildsPerDay: 999 };
    const api = startSandbox({ limits });
    for (let index = 0; index < 102; index++) await api.create(api.token);
    const rows = async (query: string): Promise<number> =>
      (await api.call('GET', `/api/v2/audiences/index${query}`, { token: api.token })).body.data.length;
    expect([await rows(''), await rows('?per_page=100'), await rows('?per_page=101')]).toEqual([25, 100, 100]);
    expect(await rows('?per_page=100&page=2')).toBe(2);
  });

  it.each([
    ['web/domains', 620, [500, 500, 120, 7]],
    ['common/countries', 240, [240, 240, 0, 7]],
    ['ctv/genres', 300, [300, 300, 0, 7]],
    ['apps/apps', 700, [250, 700, 250, 7]],
  ] as const)('a page of %s, %i rows, has the size of its dataset', async (table, _, expected) => {
    const api = startSandbox();
    const rows = async (query: string): Promise<number> =>
      (await api.call('GET', `/api/v2/reference/${table}${query}`, { token: api.token })).body.data.length;
    const seen = [];
    for (const query of ['', '?per_page=900', '?page=2', '?per_page=7']) seen.push(await rows(query));
    expect(seen).toEqual(expected);
    expect((await api.call('GET', '/api/v2/reference/web/nothing', { token: api.token })).status).toBe(404);
  });
});

describe('webhook endpoints', () => {
  it('the list has the endpoints of the organization, newest first, without secrets', async () => {
    const api = startSandbox();
    const endpoint = { account: api.account, name: 'a', url: 'https://x.example', events: ['audience.completed'] };
    const first = api.sandbox.webhooks.create(endpoint);
    const second = api.sandbox.webhooks.create({ ...endpoint, name: 'b' });
    const { data } = (await api.call('GET', '/api/v2/webhooks/index', { token: api.token })).body;
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
    expect(() => createSandbox().webhooks.create(endpoint)).toThrow(/does not belong to this sandbox/);
  });
});
