import { describe, expect, it } from 'vitest';
import { clientOf, failureOf, startServer } from '../support/server.ts';
import { wireAudience } from '../support/wire-audience.ts';

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
      client.audiences.create({}, { idempotencyKey }),
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

  it.each([undefined, null, {}, Number.NaN, Number.POSITIVE_INFINITY])(
    'the id %s is refused before sending',
    async (id) => {
      const server = await startServer([{ data: [] }]);
      const { audiences } = clientOf(server);
      for (const call of [audiences.get(odd(id)), audiences.delete(odd(id)), audiences.wait(odd(id))]) {
        expect(await failureOf(call)).toMatchObject({
          name: 'ValidationError',
          local: true,
          message: expect.stringMatching(/ must be a positive integer, not| cannot be part of a path; pass/),
        });
      }
      expect(await server.seen()).toEqual([]);
    },
  );
});

describe('options of a call', () => {
  it.each(['timeout', 'maxRetries', 'maxRetryWait', 'deadline'])('%s must be a number of 0 or more', async (name) => {
    const server = await startServer([{ status: 503 }]);
    for (const value of [Number.NaN, -1, '5s', null]) {
      const error = await failureOf(clientOf(server).audiences.create({}, { [name]: odd(value) }));
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
