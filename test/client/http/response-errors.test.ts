import { describe, expect, it } from 'vitest';
import {
  ApiError,
  AudienceError,
  AuthenticationError,
  ConfigurationError,
  ConflictError,
  NotAcceptableError,
  NotFoundError,
  PermissionError,
  RateLimitError,
  ServerError,
  ValidationError,
} from '../../../src/index.ts';
import { clientOf, failureOf, startServer } from '../../support/server.ts';

const once = { maxRetries: 0 };

describe('an error status', () => {
  it.each([
    [400, ApiError, 'ApiError', 'api-error'],
    [401, AuthenticationError, 'AuthenticationError', 'authentication-failed'],
    [403, PermissionError, 'PermissionError', 'permission-denied'],
    [404, NotFoundError, 'NotFoundError', 'not-found'],
    [406, NotAcceptableError, 'NotAcceptableError', 'not-acceptable'],
    [409, ConflictError, 'ConflictError', 'conflict'],
    [418, ApiError, 'ApiError', 'api-error'],
    [422, ValidationError, 'ValidationError', 'validation-failed'],
    [429, RateLimitError, 'RateLimitError', 'rate-limited'],
    [500, ServerError, 'ServerError', 'server-error'],
    [503, ServerError, 'ServerError', 'server-error'],
  ])('%i is a %s', async (status, ErrorClass, name, code) => {
    const server = await startServer([
      { status, headers: { 'x-request-id': 'req-1' }, message: 'Refused by the service.' },
    ]);
    const error = await failureOf(clientOf(server, once).audiences.get(42));
    expect(error).toBeInstanceOf(ErrorClass);
    expect(error).toBeInstanceOf(ApiError);
    expect(ErrorClass.isInstance(error)).toBe(true);
    expect(error).toMatchObject({
      name,
      code,
      status,
      envelopeCode: status,
      operation: 'audiences.get',
      method: 'GET',
      path: '/api/v2/audiences/42',
      requestId: 'req-1',
      attempts: 1,
    });
    expect(String(error)).toContain('Refused by the service.');
    // Stacks of V8 begin with name and message, those of other engines with the first frame.
    const start = new Error('example').stack?.startsWith('Error: example') ? `${name}: ` : '';
    expect(error).toSatisfy((it: Error) => it.stack?.startsWith(start) ?? false);
  });

  it('keeps the messages about every field, whatever one of them holds', async () => {
    const errors = {
      url: ['The URL "https://x.example/?a=1" is bad.', 'Bearer "abc"'],
      'a "quoted" name': ['taken'],
      nested: [{ deep: ['https://x.example/?b=2'] }],
      name: 'taken',
    };
    const server = await startServer([{ status: 422, errors }]);
    const error = await failureOf(clientOf(server).audiences.create({ name: 'A' }));
    expect(error).toMatchObject({
      errors: {
        url: ['The URL "https://x.example/?[redacted]" is bad.', 'Bearer "abc"'],
        'a "quoted" name': ['taken'],
        nested: ['{"deep":["https://x.example/?[redacted]"]}'],
        name: ['taken'],
      },
    });
  });

  it('keeps a bounded part of endless messages, and says so', async () => {
    const errors = Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`field-${at}`, ['x'.repeat(2_000)]]));
    const server = await startServer([{ status: 422, errors }]);
    const error = await failureOf(clientOf(server).audiences.create({ name: 'A' }));
    expect(ValidationError.isInstance(error) && error.errors['field-0']?.[0]).toMatch(/^x{1000}… \(cut\)$/);
    expect(JSON.stringify(error).length).toBeLessThan(80_000);
    expect(String(error).length).toBeLessThan(2_000);
  });

  it.each(['9'.repeat(20), '1e99', '9'.repeat(400), 'Fri, 31 Dec 9999 23:59:59 GMT'])(
    'has a valid `retryAt` with the absurd Retry-After %s, or none',
    async (wait) => {
      const server = await startServer([{ status: 429, headers: { 'retry-after': wait } }]);
      for (let at = 0; at < 20; at++) {
        const error = await failureOf(clientOf(server, { ...once, rateLimits: false }).audiences.get(42));
        expect(error).toMatchObject({ name: 'RateLimitError' });
        expect(() => JSON.stringify(error)).not.toThrow();
      }
    },
  );

  it.each(['', '{"message":"Unauthenticated."}', '[1]', 'null', '{"code":"x","errors":7}'])(
    'needs no envelope: %j',
    async (text) => {
      const server = await startServer([{ status: 422, text }]);
      const error = await failureOf(clientOf(server).audiences.get(42));
      expect(error).toBeInstanceOf(ValidationError);
      expect(error).toMatchObject({ status: 422, body: text, errors: {}, local: false });
    },
  );

  it('422 carries the service’s messages for each field, in the text, too', async () => {
    const server = await startServer([{ status: 422, errors: { name: ['is empty.', 'is odd.'], project_id: 'gone' } }]);
    const error = await failureOf(clientOf(server).audiences.create({ name: 'A' }));
    expect(error).toMatchObject({ errors: { name: ['is empty.', 'is odd.'], project_id: ['gone'] } });
    expect(String(error)).toContain('name: is empty. is odd.');
  });

  it('401 reports whether a token or credentials were refused', async () => {
    const server = await startServer([{ status: 401, text: '{"message":"Unauthenticated."}' }]);
    const client = clientOf(server);
    expect(await failureOf(client.audiences.get(1))).toMatchObject({ reason: 'token' });
    const credentials = { email: 'me@example.com', password: 'wrong-password' };
    expect(await failureOf(client.auth.login(credentials))).toMatchObject({ reason: 'credentials' });
    expect(await server.seen()).toHaveLength(2);
  });
});

describe('isInstance', () => {
  const details = {
    status: 404,
    operation: 'audiences.get',
    method: 'GET',
    path: '/x',
    headers: new Headers(),
    body: '',
    attempts: 1,
  };
  const missing = new NotFoundError('Gone.', details);
  const denied = new PermissionError('No.', details);
  const invalid = new ConfigurationError('Wrong.');
  const all = [missing, denied, invalid, new Error('other'), undefined];

  it('works as a callback, without its class', () => {
    expect(all.filter(NotFoundError.isInstance)).toEqual([missing]);
    expect(all.filter(ApiError.isInstance)).toEqual([missing, denied]);
    expect(all.filter(AudienceError.isInstance)).toEqual([missing, denied, invalid]);
    const { isInstance } = PermissionError;
    expect(all.find(isInstance)).toBe(denied);
  });

  it('`isInstance` of a user’s subclass recognizes that class alone', () => {
    class TeapotError extends ApiError {
      static override readonly className = 'TeapotError';
    }
    const teapot = new TeapotError('Short and stout.', details);
    expect([...all, teapot].filter(TeapotError.isInstance)).toEqual([teapot]);
    expect(ApiError.isInstance(teapot)).toBe(true);
    expect(NotFoundError.isInstance(teapot)).toBe(false);
  });
});

describe('every error', () => {
  it('is recognized by brand, also by another copy of the package', () => {
    const foreign = new Error('from another copy');
    Object.defineProperty(foreign, Symbol.for('audience-activation.error'), {
      value: ['NotFoundError', 'ApiError', 'AudienceError'],
    });
    expect(NotFoundError.isInstance(foreign)).toBe(true);
    expect(ApiError.isInstance(foreign)).toBe(true);
    expect(ServerError.isInstance(foreign)).toBe(false);
    expect(AudienceError.isInstance(new Error('x'))).toBe(false);
    expect(AudienceError.isInstance(undefined)).toBe(false);
  });

  it('becomes JSON with name, code and message', async () => {
    const server = await startServer([{ status: 404 }]);
    const error = await failureOf(clientOf(server).audiences.get(42));
    expect(JSON.parse(JSON.stringify(error))).toMatchObject({
      name: 'NotFoundError',
      code: 'not-found',
      status: 404,
      message: expect.stringContaining('404'),
      headers: { 'content-type': 'application/json' },
    });
  });
});

describe('an error of a create', () => {
  it.each([
    [404, 'refused'],
    [408, 'unknown'],
    [409, 'unknown'],
    [429, 'refused'],
    [503, 'unknown'],
  ])('%i has the outcome %s and the key', async (status, outcome) => {
    const server = await startServer({ '*': [{ status }], 'GET /api/v2/usage': [{ status: 500 }] });
    const error = await failureOf(clientOf(server, once).audiences.create({ name: 'A' }, { idempotencyKey: 'my-key' }));
    expect(error).toMatchObject({ idempotencyKey: 'my-key', outcome });
  });

  it('is `unknown` when an earlier attempt may have arrived', async () => {
    const server = await startServer([{ fault: 'cut' }, { status: 422 }]);
    expect(await failureOf(clientOf(server).audiences.create({ name: 'A' }))).toMatchObject({
      outcome: 'unknown',
      attempts: 2,
    });
  });

  it('is `not-sent` when it was refused before sending', async () => {
    const server = await startServer([{}]);
    const dataset = [{ analysis_type: 'WebDomain', start_date: '2020-01-01', end_date: '2020-01-02' }];
    const error = await failureOf(clientOf(server).audiences.create({ name: 'A', dataset }));
    expect(error).toMatchObject({ local: true, outcome: 'not-sent', idempotencyKey: expect.any(String) });
    expect(await server.seen()).toEqual([]);
  });

  it.each([
    [
      'This idempotency key was used with a different body.',
      { idempotencyKey: 'k' },
      'This call created nothing: an earlier request used this key with another body. Before you use another key, check the list for the resource that the earlier request created.',
    ],
    [
      'Conflict.',
      { idempotencyKey: 'k' },
      'The resource may have been created: an earlier request with this key may still be in flight. Repeat the request with the idempotency key "k" and the same body. If the repeated request also gets a 409, the key probably belongs to another body: check the list before you use another key.',
    ],
  ])('explains a conflict once: "%s", %o', async (message, options, advice) => {
    const server = await startServer([{ status: 409, message }]);
    const client = clientOf(server, { maxRetries: 0 });
    expect(String(await failureOf(client.projects.create({ name: 'x' }, options)))).toBe(
      `ConflictError: projects.create failed: 409 ${message} ${advice}`,
    );
    expect(String(await failureOf(client.projects.delete(1)))).toBe(
      `ConflictError: projects.delete failed: 409 ${message}`,
    );
  });

  it('leaves open whether something was created when the 409 stands in the envelope of a success', async () => {
    const server = await startServer([
      { status: 200, text: JSON.stringify({ status: 'error', code: 409, message: 'In flight', data: [] }) },
    ]);
    const error = await failureOf(clientOf(server, once).projects.create({ name: 'x' }, { idempotencyKey: 'k' }));
    expect(error).toMatchObject({ name: 'ConflictError', outcome: 'unknown' });
    expect(String(error)).toContain(
      'repeat the request with the idempotency key "k" and the same body within 24 hours of the first attempt',
    );
  });

  it.each(['projects', 'audiences'] as const)('says once that a create of %s was held back', async (name) => {
    const server = await startServer({
      [`POST /api/v2/${name}/create`]: [{ status: 429, headers: { 'retry-after': '900' } }],
      '*': [{ status: 503 }],
    });
    const client = clientOf(server);
    const create = (): Promise<unknown> => failureOf(client[name].create({ name: 'x' }, { maxRetryWait: 1_000 }));
    expect(await create()).toMatchObject({ outcome: 'refused' });
    const heldBack = await create();
    expect(heldBack).toMatchObject({ status: 429, outcome: 'not-sent', attempts: 0 });
    expect(String(heldBack)).toMatch(
      /: \w+\.create was not sent: after an earlier 429, the client pauses (?:the `\w+` bucket|create requests that start a job) until [\dT:.-]+Z\.$/,
    );
  });
});

describe('the advice of an error', () => {
  it('the advice of a 404 names the id and the account, or only the check if the request has no id', async () => {
    const server = await startServer([{ status: 404, message: 'Not found.' }]);
    const client = clientOf(server, once);
    const check = 'every call of this operation fails like this, run `aud check`.';
    expect(String(await failureOf(client.audiences.get(42)))).toContain(
      `404 Not found. Check the id and the account; if ${check}`,
    );
    expect(String(await failureOf(client.projects.list()))).toContain(`404 Not found. If ${check}`);
    expect(String(await failureOf(client.request('GET', '/api/v2/x')))).toContain(`404 Not found. If ${check}`);
  });

  it('the advice about HTML in place of an envelope names the base URL', async () => {
    const server = await startServer([{ text: '<html>Sign in</html>' }]);
    expect(String(await failureOf(clientOf(server, once).webhooks.list()))).toContain(
      'the body is HTML or XML, so a proxy probably responded: check the base URL.',
    );
  });
});
