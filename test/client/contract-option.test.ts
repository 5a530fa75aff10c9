import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { AudienceClient, ConfigurationError, openApiDocument, type ServiceContract } from '../../src/index.ts';
import { createSandbox } from '../../src/sandbox/index.ts';
import { clientOf, failureOf, startServer } from '../support/server.ts';
import { wireAudience } from '../support/wire-audience.ts';

const options = { baseUrl: 'https://api.example.com', token: 'token-1' };
const isValid = new Ajv2020({ strict: false }).compile(
  JSON.parse(readFileSync('src/spec/generated/contract.schema.json', 'utf8')),
);

/** Returns the message of what a function throws. */
function messageOf(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  return 'nothing was thrown';
}

const complete: ServiceContract = {
  $schema: 'https://example.com/contract.schema.json',
  operations: {
    'audiences.get': { method: 'GET', path: '/v9/{id}', bucket: 'mcp', retry: 'never', data: 'data.item' },
  },
  paging: { style: 'cursor', param: 'after', size: 'first', maxSize: 50, next: 'meta.next' },
  statuses: { 'audience 106': 'failed', 'cohort 6': 'completed' },
  serverTimeZone: 'Etc/GMT+5',
  requestIdHeader: 'x-correlation-id',
  waits: { via: 'get' },
  results: { redirect: true, bearer: false },
  checked: { at: '2026-11-23', level: 'write', confirmed: ['path:audiences.get'], likely: [] },
};

/** Contracts that are wrong, with the place that errors of the client and of the sandbox name. */
const wrong: [string, object, RegExp][] = [
  ['an unknown field', { pagin: {} }, /`contract\.pagin`/],
  ['an unknown field of paging', { paging: { style: 'page', param: 'page', max: 5 } }, /`contract\.paging\.max`/],
  ['another style of paging', { paging: { style: 'pages', param: 'page' } }, /`contract\.paging\.style` must be/],
  ['a parameter that is a number', { paging: { style: 'page', param: 5 } }, /`contract\.paging\.param` must be/],
  ['half a row', { paging: { style: 'page', param: 'p', maxSize: 1.5 } }, /`contract\.paging\.maxSize` must be/],
  ['a gap in a place', { paging: { style: 'cursor', param: 'a', next: 'a..b' } }, /`contract\.paging\.next` must/],
  ['paging without a parameter', { paging: { style: 'page' } }, /`contract\.paging\.param`/],
  ['a cursor without a place', { paging: { style: 'cursor', param: 'after' } }, /`contract\.paging\.next`/],
  ['a page without rows', { paging: { style: 'page', param: 'p', maxSize: 0 } }, /`contract\.paging\.maxSize` must be/],
  ['a status without a kind', { statuses: { '106': 'failed' } }, /`contract\.statuses/],
  ['another progress', { statuses: { 'audience 106': 'broken' } }, /`contract\.statuses/],
  ['a header with spaces', { requestIdHeader: 'x request' }, /`contract\.requestIdHeader`/],
  ['redirects as a string', { results: { redirect: 'yes' } }, /`contract\.results\.redirect` must be/],
  ['another way of waiting', { waits: { via: 'lists' } }, /`contract\.waits\.via` must be/],
  ['operations as an array', { operations: [] }, /`contract\.operations` must be an object/],
  ['an unknown operation', { operations: { 'audience.get': {} } }, /audience\.get/],
  ['another method', { operations: { 'audiences.get': { method: 'FETCH' } } }, /audiences\.get.*method` must be/],
  ['an empty place', { operations: { 'audiences.get': { data: '' } } }, /audiences\.get.*data` must/],
  ['a path out of that of the service', { operations: { 'usage.get': { path: '/../x' } } }, /usage\.get.*path` must/],
  ['the same, encoded', { operations: { 'usage.get': { path: '/x/%2E%2e' } } }, /usage\.get.*path` must/],
  ['the same, by backslashes', { operations: { 'usage.get': { path: '/..\\x' } } }, /usage\.get.*path` must/],
  ['a path with a query', { operations: { 'audiences.get': { path: '/a?b' } } }, /audiences\.get.*path` must/],
];

describe('a contract', () => {
  it('a contract with every field is valid for client, document, sandbox and JSON schema', () => {
    expect(isValid(complete), JSON.stringify(isValid.errors)).toBe(true);
    expect(() => new AudienceClient({ ...options, contract: complete })).not.toThrow();
    expect(() => openApiDocument({ contract: complete })).not.toThrow();
    expect(() => createSandbox({ contract: complete })).not.toThrow();
  });

  it.each(wrong)(
    'client, document, sandbox and JSON schema refuse a wrong contract and name the place: %s',
    (_, contract, place) => {
      expect(isValid(contract)).toBe(false);
      expect(() => new AudienceClient({ ...options, contract })).toThrow(ConfigurationError);
      expect(messageOf(() => new AudienceClient({ ...options, contract }))).toMatch(place);
      expect(messageOf(() => openApiDocument({ contract }))).toMatch(place);
      expect(messageOf(() => createSandbox({ contract }))).toMatch(place);
    },
  );

  it('the error about a status contains the wrong entry', () => {
    const contract: object = { statuses: { 'audience 106': 'failed', 'audience 108': 'done' } };
    const message =
      '`contract.statuses` must be an object like { "audience 106": "failed" }, not "audience 108": "done".';
    expect(() => new AudienceClient({ ...options, contract })).toThrow(message);
  });

  it('refuses a time zone that no runtime knows', () => {
    const contract = { serverTimeZone: 'Europe/Atlantis' };
    for (const create of [() => new AudienceClient({ ...options, contract }), () => createSandbox({ contract })])
      expect(messageOf(create)).toMatch(/`contract\.serverTimeZone` must be a time zone/);
  });

  it('is below the options of the client, which complete it field by field', async () => {
    const server = await startServer([{ data: wireAudience(7) }, { data: [] }, { data: [] }]);
    const client = clientOf(server, {
      contract: {
        operations: { 'audiences.get': { path: '/v9/{id}' }, 'audiences.delete': { path: '/v9/delete' } },
        serverTimeZone: 'Europe/Berlin',
        requestIdHeader: 'x-trace',
      },
      operations: {
        'audiences.get': { query: (query) => ({ ...query, full: 1 }) },
        'audiences.delete': { body: (_, { id }) => ({ audience: id }) },
      },
      serverTimeZone: 'UTC',
    });
    await client.audiences.get(7);
    await client.audiences.delete(7);
    await client.withOptions({ operations: { 'audiences.delete': { method: 'PUT' } } }).audiences.delete(8);
    expect((await server.seen()).map(({ method, url, body }) => `${method} ${url} ${body}`.trim())).toEqual([
      'GET /v9/7?full=1',
      'POST /v9/delete {"audience":7}',
      'PUT /v9/delete {"audience":8}',
    ]);
    expect(client.parseTimestamp('2026-11-20 10:00:00')?.toISOString()).toBe('2026-11-20T10:00:00.000Z');
  });

  it('cannot be changed by `withOptions`', () => {
    const client = new AudienceClient({ ...options, contract: complete });
    const changes: object = { contract: {} };
    expect(() => client.withOptions(changes)).toThrow('`withOptions` cannot change `contract`.');
  });

  it('reports data that are not at their place', async () => {
    const server = await startServer([{ data: { row: 1 } }]);
    const client = clientOf(server, { contract: { operations: { 'audiences.get': { data: 'data.item' } } } });
    expect(await failureOf(client.audiences.get(7))).toMatchObject({
      name: 'ResponseError',
      code: 'response-invalid',
      message: expect.stringContaining('the envelope has no `data.item`'),
    });
  });

  it('has free requests counted as the operations that it moves', async () => {
    const server = await startServer([{ data: [] }]);
    const buckets: unknown[] = [];
    const client = clientOf(server, {
      contract: { operations: { 'audiences.list': { path: '/v9/audiences', bucket: 'write' } } },
      onRequest: ({ bucket }) => void buckets.push(bucket),
    });
    await client.request('GET', '/v9/audiences');
    expect(buckets).toEqual(['write']);
  });
});
