import { describe, expect, it } from 'vitest';
import { AudienceClient, ConfigurationError, type PathParams } from '../../src/index.ts';
import { clientOf, failureOf, startServer } from '../support/server.ts';
import { wireAudience } from '../support/wire-audience.ts';

const options = { baseUrl: 'https://api.example.com', token: 'token-1' };

/** The request line and body that the server received. */
const shown = ({ method, url, body }: { method: string; url: string; body: string }) =>
  `${method} ${url} ${body}`.trim();

describe('an override of an operation', () => {
  it('moves the id of a delete into the body', async () => {
    const server = await startServer([{ data: [] }]);
    const seen: unknown[] = [];
    const client = clientOf(server, {
      operations: {
        'audiences.delete': {
          path: '/v9/delete',
          body: (body, params) => {
            seen.push(body);
            return { audience: params.id };
          },
        },
      },
    });
    await client.audiences.delete(7);
    expect((await server.seen()).map(shown)).toEqual(['POST /v9/delete {"audience":7}']);
    expect(seen).toEqual([undefined]);
  });

  it('moves the values of a path into the query, beside the query of the call', async () => {
    const server = await startServer([{ data: [] }]);
    const client = clientOf(server, {
      operations: {
        'reference.list': { path: '/v9/reference', query: (query, params) => ({ ...query, ...params }) },
        'usage.get': { query: ({ yearmonth }) => ({ month: yearmonth }) },
      },
    });
    await client.reference.list('web', 'domains', { page: 2 }, { query: { like: 'a' } });
    await failureOf(client.usage.get({ yearmonth: '2026-01' }));
    expect((await server.seen()).map(shown)).toEqual([
      'GET /v9/reference?like=a&page=2&per_page=500&dataset=web&name=domains',
      'GET /api/v2/usage?month=2026-01',
    ]);
  });

  it.each([
    ['a path', 'POST /v9/delete'],
    ['a path and a `data` function', { path: '/v9/delete', data: (data: unknown) => data }],
  ])('an override of an operation that drops the id is refused: %s', (_, override) => {
    const create = () => new AudienceClient({ ...options, operations: { 'audiences.delete': override } });
    expect(create).toThrow(ConfigurationError);
    expect(create).toThrow(/`operations\["audiences.delete"\].path` has no \{id\}.*`query` or `body`/);
  });

  it('an override of an operation whose functions do not read the id lets no request leave', async () => {
    const server = await startServer([{ data: [] }]);
    const client = clientOf(server, {
      operations: { 'audiences.delete': { path: '/v9/delete', body: () => ({ all: true }), query: (query) => query } },
    });
    const error = await failureOf(client.audiences.delete(7));
    expect(error).toMatchObject({ code: 'validation-failed', local: true, errors: { id: [expect.any(String)] } });
    expect(await server.seen()).toEqual([]);
  });

  it('receives no value that could not be part of a path', async () => {
    const server = await startServer([{ data: [] }]);
    const moved = { path: '/v9/delete', body: (_: unknown, { id }: { id?: unknown }) => ({ id }) };
    const client = clientOf(server, { operations: { 'audiences.delete': moved } });
    const missing: { id: number } = JSON.parse('{}');
    expect(await failureOf(client.audiences.delete(missing.id))).toMatchObject({ code: 'validation-failed' });
    expect(await server.seen()).toEqual([]);
  });

  const refused: [string, object, RegExp][] = [
    ['another parameter', { 'audiences.get': 'GET /v9/{audience_id}' }, /path` has \{audience_id\}.*: \{id\}/],
    ['a parameter with a dash', { 'audiences.list': { path: '/v9/{company-id}' } }, /path` has \{company-id\}.*: none/],
    ['a misspelled field', { 'audiences.get': { Path: '/v9/{id}' } }, /`Path`.*it is spelled `path`/],
    [
      'an unknown field',
      { 'audiences.get': { token: 'none' } },
      /`token` is not an option of `operations\["audiences.get"\]`/,
    ],
    ['a body for a GET', { 'audiences.get': { body: () => ({}) } }, /`operations\["audiences.get"\].body`.*GET/],
    ['null', { 'audiences.get': null }, /`operations\["audiences.get"\]` must/],
    ['a number', { 'audiences.get': 1 }, /`operations\["audiences.get"\]` must/],
  ];
  it.each(refused)('is refused when it has %s', (_, operations, problem) => {
    expect(() => new AudienceClient({ ...options, ...{ operations } })).toThrow(ConfigurationError);
    expect(() => new AudienceClient({ ...options, ...{ operations } })).toThrow(problem);
  });

  it('is refused when `operations` is null', () => {
    const none: object = { operations: null };
    expect(() => new AudienceClient({ ...options, ...none })).toThrow(/`operations` must be an object/);
  });

  it.each([
    ['nothing', () => undefined],
    ['a promise', async () => ({ page: 1 })],
    ['a rejected promise', async () => Promise.reject(new Error('too late'))],
  ])('an override of an operation whose `query` returns %s fails the call before it is sent', async (_, query) => {
    const server = await startServer([{ data: [] }]);
    const operations: object = { 'audiences.list': { query } };
    expect(await failureOf(clientOf(server, { operations }).audiences.list())).toMatchObject({
      code: 'callback-failed',
    });
    expect(await server.seen()).toEqual([]);
  });

  it.each([
    ['leaves the id out after reading it', (_: unknown, { id, ...rest }: PathParams) => ({ ...rest, was: typeof id })],
    ['sends nothing of it', () => ({})],
  ])('an override of an operation whose `body` %s fails the call before it is sent', async (_, body) => {
    const server = await startServer([{ data: [] }]);
    const client = clientOf(server, { operations: { 'audiences.delete': { path: '/v9/delete', body } } });
    expect(await failureOf(client.audiences.delete(7))).toMatchObject({ code: 'validation-failed', local: true });
    expect(await server.seen()).toEqual([]);
  });

  it.each([
    ['all parameters as they are', (_: unknown, params: PathParams) => params],
    ['the id within something else', (_: unknown, { id }: PathParams) => ({ where: [{ urn: `audience:${id}` }] })],
  ])('an override of an operation whose `body` sends %s is sent', async (_, body) => {
    const server = await startServer([{ data: [] }]);
    const client = clientOf(server, { operations: { 'audiences.delete': { path: '/v9/delete', body } } });
    await client.audiences.delete(7);
    expect((await server.seen()).map((request) => request.body)).toEqual([expect.stringContaining('7')]);
  });

  it('an override of an operation whose `body` returns a rejected promise fails the call before it is sent', async () => {
    const server = await startServer([{ data: [] }]);
    const operations = { 'audiences.create': { body: () => Promise.reject(new Error('too late')) } };
    const error = await failureOf(clientOf(server, { operations }).audiences.create({ name: 'A' }));
    expect(error).toMatchObject({ outcome: 'not-sent' });
    expect(await server.seen()).toEqual([]);
  });
});

describe('a `data` override', () => {
  const broken = () => {
    throw new TypeError('no such field');
  };
  it.each([
    ['throws', broken],
    ['rejects', async () => broken()],
  ])('a `data` override that %s is reported as such, with its cause', async (_, data) => {
    const server = await startServer([{ data: [wireAudience()] }]);
    const client = clientOf(server, { operations: { 'audiences.get': { data }, 'audiences.create': { data } } });
    const cause = expect.objectContaining({ name: 'TypeError', message: 'no such field' });
    const read = await failureOf(client.audiences.get(1));
    expect(read).toMatchObject({ name: 'ResponseError', code: 'callback-failed', status: 200, attempts: 1, cause });
    expect(String(read)).toContain('`operations["audiences.get"].data`');
    expect(read).not.toHaveProperty('outcome');
    const create = await failureOf(client.audiences.create({ name: 'A' }, { idempotencyKey: 'key-1' }));
    expect(create).toMatchObject({ code: 'callback-failed', outcome: 'done', idempotencyKey: 'key-1', cause });
    expect(await server.seen()).toHaveLength(2);
  });

  it('may be async', async () => {
    const server = await startServer([{ data: { audience: wireAudience(7) } }]);
    const data = async (wire: unknown) => Object(wire).audience;
    const client = clientOf(server, { operations: { 'audiences.get': { data } } });
    expect(await client.audiences.get(7)).toMatchObject({ id: 7 });
  });
});

describe('`withOptions({ operations })`', () => {
  it('merges with the overrides of the client, field by field', async () => {
    const server = await startServer([{ data: { audience: wireAudience(7) } }]);
    const data = (wire: unknown) => Object(wire).audience;
    const client = clientOf(server, {
      operations: { 'audiences.get': { path: '/v8/{id}', data }, 'audiences.delete': 'POST /v8/{id}/delete' },
    });
    const derived = client.withOptions({ operations: { 'audiences.get': 'GET /v9/{id}' } });
    const twice = derived.withOptions({ operations: { 'projects.delete': 'DELETE /v9/projects/{id}' } });
    expect(await twice.audiences.get(7)).toMatchObject({ id: 7 });
    await twice.audiences.delete(7);
    await twice.projects.delete(7);
    expect(await client.audiences.get(7)).toMatchObject({ id: 7 });
    expect((await server.seen()).map(shown)).toEqual([
      'GET /v9/7',
      'POST /v8/7/delete',
      'DELETE /v9/projects/7',
      'GET /v8/7',
    ]);
  });

  it('refuses what the client would refuse', () => {
    const client = clientOf({ url: 'http://127.0.0.1:1' });
    expect(() => client.withOptions({ operations: { 'audiences.delete': 'POST /v9/delete' } })).toThrow(
      /has no \{id\}/,
    );
    const unknown: object = { operations: { 'audiences.grow': 'GET /x' } };
    expect(() => client.withOptions(unknown)).toThrow(/no operation "audiences.grow"/);
  });
});

describe('`request`', () => {
  it('refuses a parameter that has no place in the path', async () => {
    const server = await startServer([{ data: [] }]);
    const error = await failureOf(clientOf(server).request('POST', '/v9/delete', { params: { id: 7 } }));
    expect(error).toMatchObject({ code: 'validation-failed', local: true });
    expect(await server.seen()).toEqual([]);
  });
});
