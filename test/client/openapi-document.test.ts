import { describe, expect, it } from 'vitest';
import { ConfigurationError, openApiDocument, operations } from '../../src/index.ts';
import file from '../../src/spec/openapi.json' with { type: 'json' };
import { type Exchange, requestViolations, responseViolations } from '../support/contract.ts';

describe('openApiDocument', () => {
  it('is the file of the package, as long as no operation is overridden', () => {
    expect(openApiDocument()).toEqual(file);
  });

  it('describes every operation by its row of the table', () => {
    const { paths } = openApiDocument();
    for (const [name, { method, path, bucket, retry, documented }] of Object.entries(operations)) {
      const operation = paths[path]?.[method.toLowerCase()];
      expect(operation?.['x-operations'] ?? [operation?.operationId], name).toContain(name);
      expect(operation, name).toMatchObject({ 'x-rate-limit-bucket': bucket, 'x-retry': retry });
      expect(operation?.['x-assumed'] === undefined, name).toBe(documented);
    }
  });

  it('moves an overridden operation, with its bucket and retry policy', () => {
    const { paths } = openApiDocument({
      operations: {
        'audiences.delete': { method: 'DELETE', path: '/api/v3/audiences/{id}', bucket: 'read', retry: 'always' },
      },
    });
    expect(paths['/api/v2/audiences/{id}/delete']).toBeUndefined();
    expect(paths['/api/v3/audiences/{id}']?.delete).toMatchObject({
      operationId: 'audiences.delete',
      'x-rate-limit-bucket': 'read',
      'x-retry': 'always',
      'x-overridden': true,
      parameters: [{ name: 'id', in: 'path' }],
    });
  });

  it('separates two operations that are one by default', () => {
    const { paths } = openApiDocument({ operations: { 'lookalikes.get': 'GET /api/v2/lookalikes/{id}' } });
    const audiences = paths['/api/v2/audiences/{id}']?.get;
    expect(audiences).toMatchObject({ operationId: 'audiences.get' });
    expect(audiences).not.toHaveProperty('x-operations');
    expect(paths['/api/v2/lookalikes/{id}']?.get).toMatchObject({ operationId: 'lookalikes.get' });
  });

  it('says what an override adapts, and leaves out an id that is not in the path', () => {
    const { paths } = openApiDocument({
      operations: { 'cohorts.delete': { path: '/api/v2/cohorts/remove', body: (_, { id }) => ({ id }) } },
    });
    expect(paths['/api/v2/cohorts/remove']?.post).toMatchObject({ 'x-overridden': ['body'], parameters: [] });
  });

  it('names an address', () => {
    expect(openApiDocument({ baseUrl: 'https://api.example' }).servers).toEqual([{ url: 'https://api.example' }]);
  });

  it('is a copy that may be changed', () => {
    Object.assign(openApiDocument().info, { title: 'changed' });
    expect(openApiDocument()).toEqual(file);
  });

  it('refuses an override that is invalid', () => {
    const operations = JSON.parse('{"audiences.gett":"GET /x"}');
    expect(() => openApiDocument({ operations })).toThrow(ConfigurationError);
  });
});

describe('the comparison of the tests with the document', () => {
  const envelope = { status: 'success', code: 200, message: 'ok', data: [{ id: 1 }] };
  const exchange = (change: Partial<Exchange>): Exchange => ({
    method: 'POST',
    url: 'https://api.example/api/v2/projects/create',
    headers: new Headers({ 'content-type': 'application/json', 'idempotency-key': 'k' }),
    body: '{"name":"x"}',
    status: 200,
    responseHeaders: new Headers({ 'content-type': 'application/json' }),
    response: JSON.stringify(envelope),
    ...change,
  });

  it('accepts what is described', () => {
    expect([...requestViolations(exchange({})), ...responseViolations(exchange({}))]).toEqual([]);
  });

  it.each([
    [{ url: 'https://api.example/api/v2/projects/make' }, /is not an operation/],
    [{ headers: new Headers({ 'content-type': 'application/json' }) }, /no idempotency key/],
    [{ headers: new Headers({ 'content-type': 'text/plain', 'idempotency-key': 'k' }) }, /its type is text\/plain/],
    [{ body: '{"name":7}' }, /body\/name must be string/],
    [{ method: 'GET', url: 'https://api.example/api/v2/projects/index?page=0' }, /page must be >= 1/],
    [{ method: 'GET', url: 'https://api.example/api/v2/projects/x' }, /id must be integer/],
  ] as const)('finds the violation of a request: %#', (change, violation) => {
    expect(requestViolations(exchange(change)).join()).toMatch(violation);
  });

  it.each([
    [{ status: 418 }, /is not described/],
    [{ response: JSON.stringify({ ...envelope, data: [{}] }) }, /data\/0 must have required property 'id'/],
    [{ response: JSON.stringify({ ...envelope, data: [] }) }, /must NOT have fewer than 1 items/],
    [{ response: 'no JSON' }, /body must be object/],
    [{ status: 429 }, /Retry-After is missing/],
    [{ responseHeaders: new Headers({ 'content-type': 'text/html' }) }, /its type is "text\/html"/],
  ])('finds the violation of a response: %#', (change, violation) => {
    expect(responseViolations(exchange(change)).join()).toMatch(violation);
  });
});
