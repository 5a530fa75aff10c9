import { describe, expect, it } from 'vitest';
import { ConfigurationError, ValidationError } from '../../../src/index.ts';
import { clientOf, failureOf, startServer } from '../../support/server.ts';
import { wireAudience } from '../../support/wire-audience.ts';

const isNode = globalThis.process?.versions?.node !== undefined;

describe('a request', () => {
  it('carries bearer and Accept, and keeps the path prefix of the base URL', async () => {
    const server = await startServer([{ data: [wireAudience()] }]);
    await clientOf({ url: `${server.url}/gate/way/` }).audiences.get(42);
    const [seen] = await server.seen();
    expect(seen).toMatchObject({
      method: 'GET',
      url: '/gate/way/api/v2/audiences/42',
      headers: { accept: 'application/json', authorization: 'Bearer test-token' },
    });
    expect(seen?.headers['content-type']).toBeUndefined();
    expect(seen?.headers['idempotency-key']).toBeUndefined();
  });

  it('names the package to the service in Node, and sends no additional header in browsers', async () => {
    const server = await startServer([{ data: [] }]);
    await clientOf(server).webhooks.list();
    const [seen] = await server.seen();
    if (isNode) expect(seen?.headers['user-agent']).toMatch(/^audience-activation\/\d+\.\d+\.\d+ node\/\d/);
    else expect(seen?.headers['user-agent']).toMatch(/Mozilla/);
    expect(Object.keys(seen?.headers ?? {}).filter((name) => name.startsWith('x-'))).toEqual([]);
  });

  it('sends a create as JSON under a UUID key that is readable immediately', async () => {
    const server = await startServer([{ data: [wireAudience()] }]);
    const call = clientOf(server).audiences.create({ name: 'Visitörs', filters: [1, { a: null }] });
    const key = call.idempotencyKey;
    expect(key).toMatch(/^[0-9a-f-]{36}$/);
    await call;
    const [seen] = await server.seen();
    expect(seen?.headers).toMatchObject({ 'content-type': 'application/json', 'idempotency-key': key });
    const bytes = Uint8Array.from(seen?.body ?? '', (char) => char.charCodeAt(0));
    expect(JSON.parse(new TextDecoder().decode(bytes))).toEqual({ name: 'Visitörs', filters: [1, { a: null }] });
  });

  it('uses the caller’s idempotency key and headers', async () => {
    const server = await startServer([{ data: [wireAudience()] }]);
    await clientOf(server, { headers: { 'X-Extra': 'client' } }).audiences.create(
      { name: 'A' },
      { idempotencyKey: 'my-key' },
    );
    expect((await server.seen())[0]?.headers).toMatchObject({ 'idempotency-key': 'my-key', 'x-extra': 'client' });
  });

  it('sends deletes without body and content type, and accepts empty data', async () => {
    const server = await startServer([{ text: '{"status":"success","code":200,"message":"gone"}' }]);
    expect(await clientOf(server).audiences.delete(42)).toBeUndefined();
    const [seen] = await server.seen();
    expect(seen).toMatchObject({ method: 'POST', url: '/api/v2/audiences/42/delete', body: '' });
    expect(seen?.headers['content-type']).toBeUndefined();
  });

  it('a redirect is never followed', async () => {
    const other = await startServer([{ data: [] }]);
    const server = await startServer([{ status: 302, headers: { location: `${other.url}/stolen` } }]);
    const error = await failureOf(clientOf(server).webhooks.list());
    expect(error).toMatchObject({ name: 'ResponseError', code: 'redirect-refused' });
    expect(await other.seen()).toEqual([]);
    expect(await server.seen()).toHaveLength(1);
  });
});

describe('a request whose response does not arrive', () => {
  it.each(['cut', 'cut-body'] as const)('a read is retried after a lost connection: %s', async (fault) => {
    const server = await startServer([{ fault }, { data: [] }]);
    expect(await clientOf(server).webhooks.list()).toEqual([]);
  });

  it('a create whose response was lost is retried under its key with the same bytes', async () => {
    const server = await startServer([
      { fault: 'cut' },
      { status: 502 },
      { fault: 'cut-body' },
      { data: [wireAudience()] },
    ]);
    await clientOf(server).audiences.create({ name: 'x', ...{ b: 1, a: 2 } });
    const seen = await server.seen();
    expect(seen).toHaveLength(4);
    expect(new Set(seen.map(({ body }) => body)).size).toBe(1);
    expect(new Set(seen.map(({ headers }) => headers['idempotency-key'])).size).toBe(1);
  });
});

describe('client.request', () => {
  it('fills and encodes path parameters and leaves out undefined query values', async () => {
    const server = await startServer([{ data: { any: 1 } }]);
    const data = await clientOf(server).request('GET', '/api/v2/anything/{id}', {
      params: { id: 'a/b?c#d' },
      query: { q: 'x y', none: undefined, many: [1, 2], yes: true },
    });
    expect(data).toEqual({ any: 1 });
    expect((await server.seen())[0]?.url).toBe('/api/v2/anything/a%2Fb%3Fc%23d?q=x+y&many=1&many=2&yes=true');
  });

  it.each(['..', '.', ''])('refuses the path parameter %j before sending', async (id) => {
    const server = await startServer([{}]);
    const error = await failureOf(clientOf(server).request('GET', '/api/v2/anything/{id}', { params: { id } }));
    expect(error).toBeInstanceOf(ValidationError);
    expect(error).toMatchObject({ local: true, errors: { id: [expect.any(String)] } });
    expect(await server.seen()).toEqual([]);
  });

  it('never leaves the configured origin', async () => {
    const server = await startServer([{ data: {} }]);
    const client = clientOf(server);
    expect(await failureOf(client.request('GET', 'https://evil.example/x'))).toBeInstanceOf(ValidationError);
    await client.request('GET', '//evil.example/x');
    expect((await server.seen())[0]?.url).toBe('//evil.example/x');
  });

  it('checks data by a given schema', async () => {
    const server = await startServer([{ data: { n: 'one' } }]);
    const { number, looseObject } = await import('zod/mini');
    const error = await failureOf(
      clientOf(server).request('GET', '/api/v2/n', { schema: looseObject({ n: number() }) }),
    );
    expect(String(error)).toContain('n: ');
    expect(error).toMatchObject({ code: 'response-invalid' });
  });

  it('retries a FormData with exactly the same bytes', async () => {
    const server = await startServer([{ status: 503 }, { data: {} }]);
    const form = new FormData();
    form.set('note', 'héllo');
    form.set('file', new Blob(['a,b\n1,2']), 'rows.csv');
    await clientOf(server).request('POST', '/api/v2/things', { body: form, idempotencyKey: 'k' });
    const seen = await server.seen();
    expect(seen).toHaveLength(2);
    expect(seen[0]?.headers['content-type']).toMatch(/^multipart\/form-data; boundary=/);
    expect(seen[1]).toMatchObject({ body: seen[0]?.body, url: seen[0]?.url });
    expect(seen[0]?.body).toContain('a,b\n1,2');
  });

  it('refuses a body that JSON cannot represent, without sending', async () => {
    const server = await startServer([{}]);
    const error = await failureOf(clientOf(server).request('POST', '/api/v2/x', { body: { n: 1n } }));
    expect(error).toMatchObject({ code: 'validation-failed', local: true });
    expect(await server.seen()).toEqual([]);
  });

  it('retries a POST only under a key', async () => {
    const server = await startServer([{ status: 500 }]);
    await failureOf(clientOf(server).request('POST', '/api/v2/x', { body: {} }));
    expect(await server.seen()).toHaveLength(1);
  });

  it('retries the POST of a create under a key that the client makes', async () => {
    const server = await startServer([{ fault: 'cut' }, { data: [wireAudience()] }]);
    const call = clientOf(server).request('POST', '/api/v2/audiences/create', { body: { name: 'x' } });
    await call;
    const keys = (await server.seen()).map(({ headers }) => headers['idempotency-key']);
    expect(call.idempotencyKey).toMatch(/^[0-9a-f-]{36}$/);
    expect(keys).toEqual([call.idempotencyKey, call.idempotencyKey]);
  });
});

describe('headers that belong to the client', () => {
  it.each(['Authorization', 'accept', 'CONTENT-TYPE', 'Idempotency-Key'])('%s may not be set', async (name) => {
    const server = await startServer([{ data: [] }]);
    expect(() => clientOf(server, { headers: { [name]: 'x' } })).toThrow(ConfigurationError);
    const error = await failureOf(clientOf(server).webhooks.list({ headers: { [name]: 'x' } }));
    expect(error).toBeInstanceOf(ConfigurationError);
    expect(await server.seen()).toEqual([]);
  });
});

describe('overrides of operations', () => {
  it('change path, query, body and data', async () => {
    const server = await startServer([{ data: { audience: wireAudience(7) } }]);
    const client = clientOf(server, {
      operations: {
        'audiences.get': { path: '/v3/audience', query: (_, { id }) => ({ key: id }), data: (data) => pick(data) },
        'audiences.create': { body: (body) => ({ audience: body }), data: (data) => pick(data) },
        'webhooks.list': 'POST /v3/hooks',
      },
    });
    expect(await client.audiences.get(7)).toMatchObject({ id: 7 });
    await client.audiences.create({ name: 'x' });
    await failureOf(client.webhooks.list());
    expect((await server.seen()).map(({ method, url, body }) => ({ method, url, body }))).toEqual([
      { method: 'GET', url: '/v3/audience?key=7', body: '' },
      { method: 'POST', url: '/api/v2/audiences/create', body: '{"audience":{"name":"x"}}' },
      { method: 'POST', url: '/v3/hooks', body: '' },
    ]);
  });

  it('are refused when the operation is unknown or the string is not a method and a path', () => {
    const server = { url: 'http://127.0.0.1:1' };
    const unknown: Record<string, string> = { 'audiences.grow': 'GET /x' };
    expect(() => clientOf(server, { operations: unknown })).toThrow(/no operation "audiences.grow"/);
    expect(() => clientOf(server, { operations: { 'audiences.get': 'audiences/{id}' } })).toThrow(ConfigurationError);
  });
});

function pick(data: unknown): unknown {
  return typeof data === 'object' && data !== null && 'audience' in data ? data.audience : undefined;
}

describe('a function that a user passes to the client', () => {
  it('may throw: the error reports this and the outcome of a create', async () => {
    const server = await startServer([{ data: [wireAudience()] }]);
    const broken = () => {
      throw new Error('broken callback');
    };
    const before = clientOf(server, { operations: { 'audiences.create': { body: broken } } });
    expect(await failureOf(before.audiences.create({ name: 'A' }))).toMatchObject({
      code: 'callback-failed',
      outcome: 'not-sent',
      message: 'audiences.create failed: `operations["audiences.create"].body` threw Error: broken callback',
    });
    const limiter = { acquire: async () => broken(), pause() {} };
    expect(await failureOf(clientOf(server, { limiter }).audiences.create({ name: 'A' }))).toMatchObject({
      outcome: 'not-sent',
      message: 'audiences.create failed: `limiter` threw Error: broken callback',
      advice: 'Correct the code of `limiter`. Nothing reached the service, so a retry is safe.',
    });
    expect(await server.seen()).toEqual([]);
    const after = clientOf(server, { operations: { 'audiences.create': { data: broken } } });
    expect(await failureOf(after.audiences.create({ name: 'A' }))).toMatchObject({
      code: 'callback-failed',
      outcome: 'done',
    });
  });

  it('a user’s `fetch` receives the options of `fetchOptions`, with precedence of the client’s own', async () => {
    const server = await startServer([{ data: [] }]);
    const inits: (RequestInit | undefined)[] = [];
    const fetch = (input: Request | URL | string, init?: RequestInit): Promise<Response> => {
      inits.push(init);
      return globalThis.fetch(input, init);
    };
    await clientOf(server, { fetch, fetchOptions: { cache: 'no-store' } }).webhooks.list();
    expect(inits).toEqual([expect.objectContaining({ cache: 'no-store', redirect: 'manual' })]);
  });

  it('a user’s limiter decides about every request', async () => {
    const server = await startServer([{ status: 429, headers: { 'retry-after': '0' } }, { data: [] }]);
    const asked: unknown[] = [];
    const limiter = {
      acquire: async (bucket: string, { priority, scope }: { priority: string; scope: string }) => {
        asked.push([bucket, priority, scope.includes('test-token')]);
      },
      pause: (bucket: string, _: string, ms: number) => asked.push(['pause', bucket, ms]),
    };
    await clientOf(server, { limiter }).webhooks.list();
    const acquired = ['read', 'foreground', false];
    expect(asked).toEqual([acquired, ['pause', 'read', 0], acquired]);
  });
});
