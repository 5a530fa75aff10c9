import { describe, expect, it } from 'vitest';
import type { AudienceClient } from '../../../src/index.ts';
import { clientOf, failureOf, startServer } from '../../support/server.ts';
import { wireAudience } from '../../support/wire-audience.ts';

/** A value that JavaScript callers may pass, whatever the types say. */
const odd = (value: unknown) => value as never;

describe('what no request can carry', () => {
  it.each([
    ['', 'empty'],
    [' padded ', 'padded'],
    ['日本', 'beyond ASCII'],
    ['a\nb', 'broken'],
    ['k'.repeat(256), 'too long'],
    [odd(5), 'a number'],
  ])('an idempotency key %j (%s) is refused before sending', async (idempotencyKey) => {
    const server = await startServer([{ data: [wireAudience()] }]);
    const client = clientOf(server);
    for (const call of [
      client.audiences.create({ name: 'A' }, { idempotencyKey }),
      client.request('POST', '/api/v2/x', { body: {}, idempotencyKey }),
    ]) {
      expect(await failureOf(call)).toMatchObject({
        local: true,
        outcome: 'not-sent',
        errors: { idempotencyKey: [expect.any(String)] },
      });
    }
    expect(await server.seen()).toEqual([]);
  });

  it.each([{ 'x y': '1' }, { 'x-extra': 'a\nb' }])('the header %j is refused before sending', async (headers) => {
    const server = await startServer([{ data: [] }]);
    const error = await failureOf(clientOf(server).webhooks.list({ headers }));
    expect(error).toMatchObject({ local: true, errors: { headers: [expect.any(String)] } });
    expect(await server.seen()).toEqual([]);
  });

  it.each([
    ['a body with a GET', 'GET', '/api/v2/x', {}],
    ['bytes', 'POST', '/api/v2/x', new Uint8Array(2)],
    ['a Blob', 'POST', '/api/v2/x', new Blob(['x'])],
    ['a form in the URL’s way', 'POST', '/api/v2/x', new URLSearchParams('a=1')],
    ['a query in the path', 'GET', '/api/v2/x?X-Sig=canary', undefined],
    ['a fragment in the path', 'GET', '/api/v2/x#y', undefined],
  ] as const)('%s is refused before sending', async (_, method, path, body) => {
    const server = await startServer([{ data: [] }]);
    const error = await failureOf(clientOf(server).request(method, path, { body }));
    expect(error).toMatchObject({ name: 'ValidationError', local: true });
    expect(await server.seen()).toEqual([]);
  });

  it.each([
    undefined,
    null,
    {},
    Number.NaN,
    Number.POSITIVE_INFINITY,
    0,
    -1,
    1.5,
    2 ** 53,
    '42',
    '',
    '..',
    { id: 1.5 },
  ])('the id %o is refused before sending, by every method that takes one', async (id) => {
    const server = await startServer([{ data: [] }]);
    const { audiences, lookalikes, activations, waits } = clientOf(server);
    for (const call of [
      audiences.get(odd(id)),
      audiences.delete(odd(id)),
      audiences.wait(odd(id)),
      audiences.watch(odd(id))[Symbol.asyncIterator]().next(),
      lookalikes.cancel(odd(id)),
      activations.results(odd(id)),
      activations.download(odd(id)).next(),
      waits.wait({ kind: 'audience', id: odd(id) }),
    ]) {
      expect(await failureOf(call)).toMatchObject({
        name: 'ValidationError',
        local: true,
        errors: { id: [expect.stringContaining('must be a positive integer, not ')] },
      });
    }
    expect(await server.seen()).toEqual([]);
  });

  it('the parameters of a free request may be any numbers and strings', async () => {
    const server = await startServer([{ data: [] }]);
    const client = clientOf(server);
    for (const id of [1.5, -1, '42', 'x/y']) await client.request('GET', '/api/v2/audiences/{id}', { params: { id } });
    expect((await server.seen()).map(({ url }) => url.split('/').at(-1))).toEqual(['1.5', '-1', '42', 'x%2Fy']);
  });
});

describe('a number beyond 2^53-1', () => {
  const id = 2 ** 53;
  const big =
    'The number is beyond 2^53-1, so JavaScript may have rounded it. Pass a string if the service accepts one.';

  it.each<[string, (client: AudienceClient) => PromiseLike<unknown>]>([
    ['project_id', ({ audiences }) => audiences.create({ name: 'x', project_id: id })],
    ['cohort_id', ({ audiences }) => audiences.createAndWait({ name: 'x', cohort_id: id })],
    ['audience_id', ({ activations }) => activations.create({ audience_id: id })],
    ['source_audience_id', ({ cohorts }) => cohorts.create({ source_audience_id: id })],
    ['audience.ids.1', ({ schedules }) => schedules.create({ audience: { ids: [1, -id] } })],
    ['more', ({ projects }) => projects.create({ name: 'x' }, { extraBody: { more: id } })],
    ['a', (client) => client.request('POST', '/api/v2/x', { body: { a: id } })],
    ['body', (client) => client.request('POST', '/api/v2/x', { body: id })],
    ['project_id', ({ audiences }) => audiences.list({}, { query: { project_id: id } })],
    ['ids', ({ audiences }) => audiences.get(1, { query: { ids: [1, id] } })],
  ])('is refused by the name of its field, and nothing is sent: %s', async (field, call) => {
    const server = await startServer([{ data: [] }]);
    expect(await failureOf(call(clientOf(server)))).toMatchObject({ local: true, errors: { [field]: [big] } });
    expect(await server.seen()).toEqual([]);
  });

  it('is the reason why a response with such an id is refused', async () => {
    const data = [{ ...wireAudience(), id }];
    const error = await failureOf(clientOf(await startServer([{ data }])).audiences.get(1));
    const message = expect.stringContaining('`id` is beyond 2^53-1, so JavaScript may have rounded it');
    expect(error).toMatchObject({ name: 'ResponseError', message });
  });

  it('is sent if it is a string, and so are the largest integer and any fraction', async () => {
    const server = await startServer([{ data: {} }]);
    const body = { a: '9007199254740993', b: Number.MAX_SAFE_INTEGER, c: 0.1, d: new Date(0) };
    await clientOf(server).request('POST', '/api/v2/x', { body, query: { e: odd(9_007_199_254_740_993n) } });
    const [seen] = await server.seen();
    expect(JSON.parse(String(seen?.body))).toEqual({ ...body, d: '1970-01-01T00:00:00.000Z' });
    expect(seen?.url).toContain('?e=9007199254740993');
  });
});

describe('`NaN` in a body', () => {
  it('is refused, because JSON has only `null` for it', async () => {
    const server = await startServer([{ data: [] }]);
    const error = await failureOf(clientOf(server).audiences.create({ name: 'x', filters: { age: Number.NaN } }));
    expect(error).toMatchObject({ local: true, errors: { 'filters.age': ['must be a finite number, not NaN.'] } });
    expect(await server.seen()).toEqual([]);
  });
});

describe('a query', () => {
  it.each([
    ['URLSearchParams', new URLSearchParams('status=104')],
    ['a Map', new Map([['status', '104']])],
    ['entries', [['status', '104']]],
    ['a string', 'status=104'],
    ['a Date', new Date(0)],
  ])('is refused as %s, in every place that takes one, and nothing is sent', async (_, query) => {
    const server = await startServer([{ data: [] }]);
    const client = clientOf(server);
    const problem = [expect.stringContaining('must be an object with the parameters as properties')];
    const calls = [client.request('GET', '/x', { query: odd(query) }), client.audiences.get(1, { query: odd(query) })];
    for (const call of calls) expect(await failureOf(call)).toMatchObject({ local: true, errors: { query: problem } });
    expect(await failureOf(client.audiences.list(odd(query)))).toMatchObject({ errors: { params: problem } });
    expect(await server.seen()).toEqual([]);
  });

  it.each([
    ['an object', { status: 104 }],
    ['a Date', new Date(0)],
    ['an array of objects', [{ b: 1 }]],
    ['a function', () => 1],
    ['a symbol', Symbol('x')],
    ['a number that is not finite', Number.NaN],
  ])('is refused with %s as a parameter, and nothing is sent', async (_, value) => {
    const server = await startServer([{ data: [] }]);
    const client = clientOf(server);
    const query = odd({ a: value });
    const refused = { local: true, errors: { a: [expect.stringMatching(/^must be a (?:string|finite number), /)] } };
    expect(await failureOf(client.request('GET', '/x', { query }))).toMatchObject(refused);
    expect(await failureOf(client.audiences.list(query))).toMatchObject(refused);
    expect(await server.seen()).toEqual([]);
  });

  it('contains neither `null` nor `undefined`', async () => {
    const server = await startServer([{ data: [] }]);
    await clientOf(server).request('GET', '/x', { query: { a: [1, null, undefined], b: null, c: true, d: [] } });
    expect((await server.seen())[0]?.url).toBe('/x?a=1&c=true');
  });
});

describe('an empty body of a create that starts a job', () => {
  it.each([{}, [], null, undefined])('is refused, and nothing is sent: %o', async (body) => {
    const server = await startServer([{ data: [] }]);
    const client = clientOf(server);
    const { audiences, lookalikes, estimates, activations, cohorts } = client;
    for (const call of [
      audiences.create(odd(body)),
      audiences.createAndWait(odd(body)),
      lookalikes.create(odd(body)),
      estimates.create(odd(body)),
      activations.create(odd(body)),
      cohorts.create(odd(body)),
      client.request('POST', '/api/v2/audiences/create', { body }),
    ]) {
      const errors = { body: ['The body is empty. Pass the fields of the resource to create.'] };
      expect(await failureOf(call)).toMatchObject({ local: true, outcome: 'not-sent', errors });
    }
    expect(await server.seen()).toEqual([]);
  });

  it('is sent if `extraBody` or an override fills it, and by creates that start no job', async () => {
    const server = await startServer([{ data: [wireAudience()] }]);
    const body = (): unknown => ({});
    const client = clientOf(server, { operations: { 'estimates.create': { body } } });
    await client.audiences.create(odd({}), { extraBody: { name: 'x' } });
    await client.estimates.create(odd({}));
    await client.projects.create(odd({}));
    expect((await server.seen()).map((request) => request.body)).toEqual(['{"name":"x"}', '{}', '{}']);
  });
});

describe('a promise that is not awaited', () => {
  const promise = (): never => odd(Promise.reject(new Error('The create failed.')));

  it.each<[string, string, (client: AudienceClient) => PromiseLike<unknown>]>([
    ['the id of a get', 'id', ({ audiences }) => audiences.get(promise())],
    ['the id of a delete', 'id', ({ projects }) => projects.delete(promise())],
    ['the id of a cancel', 'id', ({ lookalikes }) => lookalikes.cancel(promise())],
    ['the target of a wait', 'id', ({ audiences }) => audiences.wait(promise())],
    ['the id of a target', 'id', ({ audiences }) => audiences.wait({ id: promise() })],
    ['the id of a job', 'id', ({ waits }) => waits.wait({ kind: 'cohort', id: promise() })],
    ['the target of a watch', 'id', ({ audiences }) => audiences.watch(promise())[Symbol.asyncIterator]().next()],
    ['an activation of results', 'id', ({ activations }) => activations.results(promise())],
    ['an activation of downloads', 'id', ({ activations }) => activations.download(promise()).next()],
    ['the body of a create', 'body', ({ activations }) => activations.create(promise())],
    ['the body of `createAndWait`', 'body', ({ audiences }) => audiences.createAndWait(promise())],
    ['a field of a body', 'audience_id', ({ activations }) => activations.create({ audience_id: promise() })],
    ['the fields of an import', 'fields', ({ cohorts }) => cohorts.import(new Blob(['x']), promise())],
    ['the data of an import', 'data', ({ cohorts }) => cohorts.import(promise(), {})],
    ['the input of a reservation', 'body', ({ uploads }) => uploads.reserve(promise())],
    ['a field of a reservation', 'size', ({ uploads }) => uploads.reserve({ kind: 'cohort', size: promise() })],
    ['the reservation of an upload', 'reservation', ({ uploads }) => uploads.send(promise(), new Blob(['x']))],
    ['the parameters of a list', 'params', ({ audiences }) => audiences.list(promise())],
    ['a parameter of a list', 'page', ({ audiences }) => audiences.list({ page: promise() })],
    ['a query parameter', 'include', ({ audiences }) => audiences.get(1, { query: { include: promise() } })],
    ['the parameters of a usage report', 'params', ({ usage }) => usage.get(promise())],
    ['the body of a free request', 'body', (client) => client.request('POST', '/api/v2/x', { body: promise() })],
    ['a field of a free request', 'a', (client) => client.request('POST', '/api/v2/x', { body: { a: promise() } })],
    ['a parameter of a free request', 'a', (client) => client.request('GET', '/x/{a}', { params: { a: promise() } })],
  ])('is named as %s, and nothing is sent', async (_, field, call) => {
    const server = await startServer([{ data: [] }]);
    expect(await failureOf(call(clientOf(server)))).toMatchObject({
      name: 'ValidationError',
      local: true,
      errors: { [field]: ['The value is a Promise. Add `await`.'] },
      message: expect.stringContaining(`${field}: The value is a Promise.`),
    });
    expect(await server.seen()).toEqual([]);
  });

  it('is named as a call of the client, or a thenable of another library', async () => {
    const server = await startServer([{ data: [wireAudience()] }]);
    const { audiences } = clientOf(server);
    const thenable = JSON.parse('{}');
    thenable[['th', 'en'].join('')] = () => {};
    const created = audiences.create({ name: 'A' });
    for (const id of [created, thenable]) {
      expect(await failureOf(audiences.get(odd(id)))).toMatchObject({
        errors: { id: ['The value is a Promise. Add `await`.'] },
      });
    }
    await created;
    expect(await server.seen()).toHaveLength(1);
  });
});

describe('options of a call', () => {
  it.each(['timeout', 'maxRetries', 'maxRetryWait', 'deadline'])('%s must be a number of 0 or more', async (name) => {
    const server = await startServer([{ status: 503 }]);
    for (const value of [Number.NaN, -1, '5s', null]) {
      const error = await failureOf(clientOf(server).audiences.create({ name: 'A' }, { [name]: odd(value) }));
      expect(error).toMatchObject({ name: 'ConfigurationError', outcome: 'not-sent' });
      expect(String(error)).toContain(`\`${name}\``);
    }
    expect(await server.seen()).toEqual([]);
  });

  it('may be undefined', async () => {
    const server = await startServer([{ data: [] }]);
    const signal: AbortSignal | undefined = undefined;
    expect(await clientOf(server).webhooks.list({ signal, timeout: undefined })).toEqual([]);
    const failing = await startServer([{ status: 503 }]);
    const derived = clientOf(failing, { maxRetries: 0 }).withOptions({ maxRetries: undefined });
    expect(await failureOf(derived.webhooks.list())).toMatchObject({ attempts: 1 });
  });

  it('replace the client’s headers of the same name, in any case', async () => {
    const server = await startServer([{ data: [] }]);
    await clientOf(server, { headers: { 'X-Extra': 'client' } }).webhooks.list({ headers: { 'x-EXTRA': 'call' } });
    expect((await server.seen())[0]?.headers['x-extra']).toBe('call');
  });
});

describe('a missing argument', () => {
  it('rejects, and never throws synchronously', async () => {
    const server = await startServer([{ data: [] }]);
    const client = clientOf(server);
    const calls = [
      () => client.auth.login(odd(undefined)),
      () => client.auth.revokeApiTokens(odd(null)),
      () => client.request('GET', odd(undefined)),
    ];
    for (const call of calls) expect(await failureOf(call())).toMatchObject({ local: true });
    for (const call of [() => client.audiences.list(odd(null)), () => client.webhooks.list(odd(undefined))])
      await call();
  });
});

describe('a mistake that types would show', () => {
  it.each([{}, 'x', 5])('refuses the signal %j by its name', async (signal) => {
    const server = await startServer([{ data: [wireAudience()] }]);
    const client = clientOf(server);
    const options = { signal: odd(signal) };
    for (const call of [
      client.audiences.get(1, options),
      client.audiences.createAndWait({ name: 'A' }, options),
      client.uploads.upload({ kind: 'cohort', data: new Blob(['1']) }, options),
    ]) {
      expect(await failureOf(call)).toMatchObject({
        name: 'ConfigurationError',
        message: expect.stringContaining('`signal` must be an AbortSignal.'),
      });
    }
    expect(await failureOf(client.audiences.create({ name: 'A' }, options))).toMatchObject({ outcome: 'not-sent' });
    expect(await server.seen()).toEqual([]);
  });

  it.each([5, 'x', null])('refuses %j in place of options, and sends nothing', async (options) => {
    const server = await startServer([{ data: [wireAudience()] }]);
    const client = clientOf(server);
    const calls = [client.audiences.createAndWait({ name: 'A' }, odd(options))];
    if (options !== null) calls.push(client.request('POST', '/api/v2/x', odd(options)));
    for (const call of calls) {
      expect(await failureOf(call)).toMatchObject({
        name: 'ConfigurationError',
        message: expect.stringContaining('must be an object'),
      });
    }
    expect(await server.seen()).toEqual([]);
  });

  it('names credentials that were not awaited, whose rejection does not end the process', async () => {
    const server = await startServer([]);
    const credentials = Promise.reject(new Error('no vault'));
    expect(await failureOf(clientOf(server).auth.login(odd(credentials)))).toMatchObject({
      name: 'ValidationError',
      local: true,
      errors: { credentials: ['The value is a Promise. Add `await`.'] },
    });
  });
});
