import { describe, expect, onTestFinished, test } from 'vitest';
import { isObject } from '../../../src/util/json.ts';
import type { ServiceDefinition } from './support/emulation.ts';
import { AUDIENCES, ORIGIN } from './support/filled-account.ts';
import { answersLate, neverAnswers, redirects, statusIds, throttles } from './support/traits.ts';
import { optionsAnswers, unknownPaths } from './support/unknown-paths.ts';
import { type RunningVariant, startVariant } from './support/variant-service.ts';

/** Starts a service, and returns how to send requests to it with its token. */
async function start(definition: ServiceDefinition = {}) {
  const service = await startVariant(definition);
  onTestFinished(() => service.close());
  const send = async (method: string, path: string, init: RequestInit = {}) => {
    const response = await service.fetch(`${service.baseUrl}${path}`, {
      method,
      redirect: 'manual',
      headers: { authorization: `Bearer ${service.token}`, accept: 'application/json', ...bodyHeaders(init) },
      ...init,
    });
    const text = await response.text();
    const body: unknown = text.startsWith('{') ? JSON.parse(text) : text;
    return { status: response.status, headers: response.headers, body: isObject(body) ? body : { text: body } };
  };
  return { service, get: (path: string) => send('GET', path), send };
}

const bodyHeaders = ({ body }: RequestInit) => (body ? { 'content-type': 'application/json' } : {});

const rowsOf = (data: unknown): readonly Record<string, unknown>[] => (Array.isArray(data) ? data : []);

async function audiences(service: RunningVariant): Promise<number> {
  return (await service.resources()).filter(({ kind }) => kind === 'audiences').length;
}

describe('a variant service', () => {
  test('without differences is the documented service, with an account that has some of everything', async () => {
    const { service, get } = await start();
    const { status, headers, body } = await get('/api/v2/audiences/index?per_page=1&page=2');
    expect(status).toBe(200);
    expect(body).toMatchObject({ status: 'success', code: 200, data: [{ id: expect.any(Number) }] });
    expect(headers.get('x-request-id')).toMatch(/^own_|^req_/);
    expect(Date.parse(headers.get('date') ?? '')).toBe(Math.floor(service.clock.now() / 1000) * 1000);
    const kinds = Object.groupBy(await service.resources(), ({ kind }) => kind);
    expect(Object.fromEntries(Object.entries(kinds).map(([kind, rows]) => [kind, rows?.length]))).toEqual({
      audiences: AUDIENCES,
      activations: 4,
      cohorts: 3,
      projects: 4,
      schedules: 2,
    });
    expect(service.requests).toMatchObject([{ to: 'api', hadToken: true, operation: 'audiences.list', status: 200 }]);
  });

  test('has its operations at the paths of its contract, and nowhere else', async () => {
    const { get, send } = await start({
      contract: {
        operations: {
          'audiences.list': { path: '/api/v2/audiences' },
          'projects.create': { path: '/api/v2/projects' },
          'projects.delete': { method: 'DELETE', path: '/api/v2/projects/{id}' },
        },
      },
    });
    expect((await get('/api/v2/audiences')).status).toBe(200);
    // "index" is an id now, and an audience with it does not exist.
    expect((await get('/api/v2/audiences/index')).body).toMatchObject({
      message: expect.stringMatching(/^Audience not/),
    });
    const created = await send('POST', '/api/v2/projects', { body: '{"name":"New"}' });
    const [project] = rowsOf(created.body.data);
    expect(project).toMatchObject({ name: 'New' });
    expect((await send('POST', '/api/v2/projects/create', { body: '{"name":"New"}' })).status).toBe(404);
    expect((await send('POST', `/api/v2/projects/${project?.id}/delete`)).status).toBe(404);
    expect((await send('DELETE', `/api/v2/projects/${project?.id}`)).status).toBe(200);
  });

  test('pages as its contract says', async () => {
    const ids = (body: Record<string, unknown>) => rowsOf(body.data).map(({ id }) => id);
    const standard = await start();
    const all = ids((await standard.get('/api/v2/audiences/index?per_page=100')).body);
    expect(ids((await standard.get('/api/v2/audiences/index?per_page=500')).body)).toHaveLength(100);

    const offset = await start({
      contract: { paging: { style: 'offset', param: 'offset', size: 'limit', maxSize: 50 } },
    });
    const { body } = await offset.get('/api/v2/audiences/index?offset=3&limit=80&page=9&per_page=2');
    expect(ids(body)).toEqual(all.slice(3, 53));

    const paging = { style: 'cursor', param: 'cursor', size: 'limit', next: 'meta.next_cursor' } as const;
    const cursor = await start({ contract: { paging } });
    const first = (await cursor.get('/api/v2/audiences/index?limit=2')).body;
    const next = isObject(first.meta) ? String(first.meta.next_cursor) : '';
    expect(ids((await cursor.get(`/api/v2/audiences/index?limit=2&cursor=${next}`)).body)).toEqual(all.slice(2, 4));

    const strict = await start({
      contract: { paging: { style: 'page', param: 'page', size: 'per_page', maxSize: 50 } },
      paging: { refusesLarge: true },
    });
    expect((await strict.get('/api/v2/audiences/index?per_page=100')).body).toMatchObject({
      errors: { per_page: [expect.any(String)] },
    });
  });

  test('puts rows and resources, times and status ids where its contract says', async () => {
    const operations = {
      'audiences.list': { data: 'data.items' },
      'audiences.get': { data: 'data.audience' },
    } as const;
    const { get } = await start({
      contract: { operations, serverTimeZone: '+05:30', waits: { via: 'get' }, requestIdHeader: 'x-trace' },
      traits: [statusIds('audience', { 104: { id: 204, name: 'Done' } })],
    });
    const plain = await start();
    const [row] = rowsOf((await plain.get('/api/v2/audiences/index?per_page=1&page=9')).body.data);
    const { body, headers } = await get(`/api/v2/audiences/${row?.id}`);
    const created = new Date(Date.parse(`${row?.created_at}Z`) + 5.5 * 3_600_000).toISOString();
    expect(body.data).toMatchObject({
      audience: { id: row?.id, status: { id: 204 }, created_at: created.slice(0, 19).replace('T', ' ') },
    });
    expect(headers.get('x-trace')).toMatch(/^req_/);
    const list = (await get('/api/v2/audiences/index')).body.data;
    expect(isObject(list) && rowsOf(list.items)[0]).not.toHaveProperty('status');
  });

  test('answers unknown paths and OPTIONS in its own way', async () => {
    const { get, send } = await start({ unknown: unknownPaths.allow405, options: optionsAnswers.allow });
    expect((await get('/api/v2/uploads/create')).headers.get('allow')).toBe('POST');
    expect((await get('/api/v2/nothing')).status).toBe(404);
    expect((await send('OPTIONS', '/api/v2/audiences/0/delete')).headers.get('allow')).toBe('POST, OPTIONS');
    expect((await send('OPTIONS', '/api/v2/nothing')).status).toBe(404);
    const page = await start({ unknown: unknownPaths.html200 });
    expect(await page.get('/api/v2/nothing')).toMatchObject({ status: 200, body: { text: /^<!doctype/ } });
  });

  test('refuses for a time, redirects, and follows no more than it is asked to', async () => {
    const { service, get } = await start({
      traits: [throttles(1, 1, '20'), redirects(/^\/api\/v2\/audiences\/index$/, '/api/v2/audiences')],
    });
    expect((await get('/api/v2/usage')).headers.get('retry-after')).toBe('20');
    const { status, headers } = await get('/api/v2/audiences/index');
    expect([status, headers.get('location')]).toEqual([301, '/api/v2/audiences']);
    await expect(service.fetch('https://elsewhere.example/')).rejects.toThrow(TypeError);
    expect(service.requests.at(-1)).toMatchObject({ to: 'elsewhere', hadToken: false });
  });
});

describe('the virtual time of a variant service', () => {
  test('passes while somebody sleeps and no request is being handled', async () => {
    const { service, get } = await start();
    const began = service.clock.now();
    const [, { status }] = await Promise.all([service.clock.sleep(30_000), get('/api/v2/usage')]);
    expect(status).toBe(200);
    expect(service.requests.at(-1)?.time).toBe(began);
    expect(service.clock.now()).toBe(began + 30_000);
  });

  test('lets a timeout win only against a request that the service holds back', async () => {
    const { service, send } = await start({
      traits: [answersLate('projects.create', 45_000, 1), neverAnswers('audiences.create')],
    });
    const race = async (path: string, body: object) => {
      const timeout = new AbortController();
      const stop = new AbortController();
      const sleep = service.clock.sleep(30_000, stop.signal).then(
        () => timeout.abort(new Error('timeout')),
        () => undefined,
      );
      const outcome = await send('POST', path, { body: JSON.stringify(body), signal: timeout.signal }).then(
        ({ status }) => status,
        (error: unknown) => String(error),
      );
      stop.abort();
      await sleep;
      return outcome;
    };
    const began = service.clock.now();
    expect(await race('/api/v2/schedules/create', { name: 'Fast' })).toBe(200);
    expect(service.clock.now()).toBe(began);
    expect(await race('/api/v2/projects/create', { name: 'Late' })).toBe('Error: timeout');
    expect(service.clock.now()).toBe(began + 30_000);
    expect(await race('/api/v2/audiences/create', { name: 'Never' })).toBe('Error: timeout');
    // The service has acted on both.
    expect((await service.resources()).filter(({ name }) => name === 'Late')).toHaveLength(1);
    expect(await audiences(service)).toBe(AUDIENCES + 1);
  });

  test('ends a request that is never answered, even if nobody limits it', async () => {
    const { send } = await start({ traits: [neverAnswers('projects.create')] });
    await expect(send('POST', '/api/v2/projects/create', { body: '{"name":"Lost"}' })).rejects.toThrow('fetch failed');
  });

  test('starts at the same address and with the same resources each time', async () => {
    const [one, other] = [await start(), await start()];
    expect(await one.service.resources()).toEqual(await other.service.resources());
    expect(one.service.baseUrl).toBe(ORIGIN);
  });
});
