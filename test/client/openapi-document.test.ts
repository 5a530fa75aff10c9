import { describe, expect, it } from 'vitest';
import { assumptionTexts } from '../../scripts/assumptions.ts';
import { AudienceClient, ConfigurationError, openApiDocument, operations } from '../../src/index.ts';
import { createSandbox } from '../../src/sandbox/index.ts';
import file from '../../src/spec/generated/openapi.json' with { type: 'json' };
import type { JsonObject } from '../../src/spec/wire-values.ts';
import { isObject } from '../../src/util/json.ts';
import { deliveryViolations, type Exchange, requestViolations, responseViolations } from '../support/contract.ts';

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
    // The override says where it is: it is not assumed any more.
    expect(paths['/api/v3/audiences/{id}']?.delete).not.toHaveProperty('x-assumed');
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

  it('contains the base URL that is passed', () => {
    expect(openApiDocument({ baseUrl: 'https://api.example' }).servers).toEqual([{ url: 'https://api.example' }]);
  });

  it('is a copy that may be changed', () => {
    Object.assign(openApiDocument().info, { title: 'changed' });
    expect(openApiDocument()).toEqual(file);
  });

  it('refuses an override that is invalid, and an unknown option', () => {
    const operations = JSON.parse('{"audiences.gett":"GET /x"}');
    expect(() => openApiDocument({ operations })).toThrow(ConfigurationError);
    expect(() => openApiDocument(JSON.parse('{"operation":{}}'))).toThrow(ConfigurationError);
  });
});

/** Calls `visit` with every object in a part of the document. */
function walk(part: unknown, visit: (object: JsonObject) => void): void {
  if (typeof part !== 'object' || part === null) return;
  if (isObject(part)) visit(part);
  for (const value of Object.values(part)) walk(value, visit);
}

/** Returns the values of a keyword anywhere in the document. */
function valuesOf(keyword: string): readonly unknown[] {
  const values: unknown[] = [];
  walk(openApiDocument(), (object) => keyword in object && values.push(object[keyword]));
  return values;
}

describe('what the document assumes', () => {
  const texts = assumptionTexts();

  it('is what docs/assumptions.md lists', () => {
    const rest = valuesOf('x-assumed').map((value) =>
      texts.reduce((text, assumption) => text.replace(assumption, ''), String(value)).trim(),
    );
    expect(rest.length).toBeGreaterThan(60);
    expect(rest.filter((text) => text !== '')).toEqual([]);
  });

  it('is all that docs/assumptions.md lists of requests and responses', () => {
    const all = valuesOf('x-assumed').join(' ');
    expect(texts.filter((text) => !all.includes(text))).toEqual([]);
  });
});

describe('generators of clients', () => {
  it('find no range of statuses', () => {
    const statuses = valuesOf('responses').flatMap((responses) => Object.keys(Object(responses)));
    expect(statuses.filter((status) => /^\dXX$/.test(status))).toEqual([]);
  });

  it('find no enumeration with several types, which doubles its values', () => {
    const doubled: JsonObject[] = [];
    walk(
      openApiDocument(),
      (schema) => Array.isArray(schema.enum) && Array.isArray(schema.type) && doubled.push(schema),
    );
    expect(doubled).toEqual([]);
  });

  it('find no name of a global object among the schemas', () => {
    const names = Object.keys(openApiDocument().components.schemas ?? {});
    expect(names.filter((name) => name in globalThis)).toEqual([]);
  });

  it('find descriptions that are not about TypeScript or the client', () => {
    const descriptions = valuesOf('description').filter((text) => typeof text === 'string');
    expect(descriptions.length).toBeGreaterThan(300);
    const phrase = /\b(?:undefined|TypeScript|Promise|Blob|readonly|here always|throws|AudienceError|ZodError)\b/;
    expect(descriptions.filter((text) => phrase.test(text))).toEqual([]);
  });
});

describe('the schemas of the document', () => {
  it('describe every property, also in nested objects', () => {
    const { schemas } = openApiDocument().components;
    const missing: string[] = [];
    for (const [name, schema] of Object.entries(schemas ?? {})) {
      walk(schema, ({ properties }) => {
        for (const [property, part] of Object.entries(isObject(properties) ? properties : {}))
          if (!isObject(part) || !('description' in part || '$ref' in part)) missing.push(`${name}: ${property}`);
      });
    }
    expect(missing).toEqual([]);
  });
});

describe('the examples of the document', () => {
  it('show a request and a response of every operation, and every event', () => {
    const { paths, webhooks } = openApiDocument();
    const operations = [...Object.values(paths), ...Object.values(webhooks)].flatMap((item) => Object.values(item));
    const text = (value: unknown): string => JSON.stringify(value ?? null);
    const missing = operations.filter((operation) => {
      const { requestBody, responses, parameters } = Object(operation);
      const [success] = Object.entries(responses).flatMap(([status, one]) => (status.startsWith('2') ? [one] : []));
      const hasExample = [requestBody, Object(success).content].every(
        (part) => part === undefined || text(part).includes('"example"'),
      );
      // A page for people.
      return !hasExample && !text(parameters).includes('"code_challenge"');
    });
    expect(missing.map((operation) => Object(operation).operationId)).toEqual([]);
  });
});

describe('the events of a sandbox', () => {
  it('are delivered as the document describes', async () => {
    const deliveries: Promise<readonly [string, string[]]>[] = [];
    const deliver = async (request: Request): Promise<Response> => {
      const { headers } = request;
      const checked = request.text().then((body) => {
        const { type } = JSON.parse(body);
        return [type, deliveryViolations(type, headers, body)] as const;
      });
      deliveries.push(checked);
      return new Response();
    };
    await using sandbox = createSandbox({ clock: 'manual', deliver });
    const token = sandbox.accounts.create({ email: 'ada@example.com', password: 'secret' }).token('api');
    const { id } = sandbox.webhooks.create({ url: 'https://example.com/webhooks' });
    const fetch = (url: Request | URL | string, init?: RequestInit) => sandbox.fetch(new Request(url, init));
    await using client = new AudienceClient({ baseUrl: 'https://api.example.com', token, fetch });
    const audience = await client.audiences.create({ name: 'A' });
    await sandbox.advance(3_600_000);
    await client.audiences.create({ name: 'fails' }).then((one) => sandbox.jobs.finish('audience', one.id, 107));
    await client.cohorts.create({ name: 'C' });
    await client.cohorts.create({ name: 'C' }).then((one) => sandbox.jobs.finish('cohort', one.id, 107));
    const body = { audience_id: audience.id, credentials: 'x' };
    await client.activations.create(body);
    await client.activations.create(body).then((one) => sandbox.jobs.finish('activation', one.id, 422));
    sandbox.webhooks.test(id);
    await sandbox.advance(3_600_000);
    const results = await Promise.all(deliveries);
    const types = Object.keys(openApiDocument().webhooks).filter((type) => type !== 'delivery');
    expect(new Set(results.map(([type]) => type))).toEqual(new Set(types));
    expect(results.flatMap(([, violations]) => violations)).toEqual([]);
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

describe('the document of a contract', () => {
  const { paths, info, components, ...rest } = openApiDocument({
    contract: {
      operations: {
        'audiences.list': { path: '/v9/audience', data: 'data.items' },
        'projects.get': { data: 'result' },
      },
      paging: { style: 'cursor', param: 'after', size: 'first', maxSize: 50, next: 'data.next' },
      statuses: { 'audience 106': 'failed' },
      serverTimeZone: 'Etc/GMT+5',
      requestIdHeader: 'x-trace',
    },
  });

  it('shows the paging of every list, and no other parameters', () => {
    expect(paths['/v9/audience']?.get).toMatchObject({
      'x-overridden': ['data', 'paging'],
      'x-pagination': { style: 'cursor', next: 'data.next' },
      parameters: [
        { name: 'after', in: 'query', schema: { type: 'string' } },
        { name: 'first', in: 'query', schema: { type: 'integer', minimum: 1, maximum: 50 } },
      ],
    });
    expect(paths['/api/v2/projects/index']?.get).toMatchObject({ 'x-overridden': ['paging'] });
    const reference = Object(paths['/api/v2/reference/{dataset}/{name}']?.get);
    expect(reference.parameters.map(({ name }: { name: string }) => name)).toEqual([
      'dataset',
      'name',
      'after',
      'first',
    ]);
    expect(paths['/api/v2/webhooks/index']?.get).not.toHaveProperty('x-overridden');
    expect(Object.keys(components.parameters ?? {})).toEqual(['IdempotencyKey', 'SignatureHeader']);
    expect(reference.description).not.toContain('per_page');
  });

  it('shows the payload at its place, in schema and example', () => {
    const contentOf = (path: string) => Object(paths[path]?.get).responses[200].content['application/json'];
    const list = contentOf('/v9/audience');
    expect(list.schema.properties.data).toMatchObject({ type: 'object', properties: { items: { type: 'array' } } });
    expect(list.example.data.items).toHaveLength(1);
    const get = contentOf('/api/v2/projects/{id}');
    expect(get.schema.required).toEqual(['status', 'code', 'message', 'result']);
    expect(Object.keys(get.example)).toEqual(['status', 'code', 'message', 'result']);
  });

  it('names zone, header and statuses', () => {
    expect(info.description).toContain(
      'Timestamps are in the time zone Etc/GMT+5.\n\nStatuses of this service: audience 106 is failed.',
    );
    expect(info).not.toHaveProperty('x-assumed');
    expect(rest['x-contract']).toMatchObject({ statuses: { 'audience 106': 'failed' }, serverTimeZone: 'Etc/GMT+5' });
    const names: string[] = [];
    walk({ paths, components }, ({ headers }) => isObject(headers) && names.push(...Object.keys(headers)));
    expect([names.includes('x-trace'), names.includes('x-request-id')]).toEqual([true, false]);
    expect(components.headers?.RequestId).not.toHaveProperty('x-assumed');
  });

  it('has no status in the rows of lists that waits must not poll, and other rows as they are', () => {
    const { paths } = openApiDocument({ contract: { waits: { via: 'get' } } });
    const rowOf = (path: string) =>
      Object(paths[path]?.get).responses[200].content['application/json'].schema.properties.data.items;
    expect(rowOf('/api/v2/audiences/index').required).not.toContain('status');
    expect(rowOf('/api/v2/audiences/{id}')).toEqual({ $ref: '#/components/schemas/Audience' });
    expect(rowOf('/api/v2/webhooks/index')).toEqual({ $ref: '#/components/schemas/WebhookEndpoint' });
  });
});
