import { describe, expect, it } from 'vitest';
import { ApiError, ResponseError, ValidationError } from '../../../src/index.ts';
import { clientOf, failureOf, startServer } from '../../support/server.ts';
import { wireAudience } from '../../support/wire-audience.ts';

const once = { maxRetries: 0 };
const success = (data: unknown) => JSON.stringify({ status: 'success', code: 200, message: 'ok', data });

describe('a response that is not an envelope', () => {
  it.each([
    ['HTML from a proxy', '<html><body>Bad gateway</body></html>', 'HTML'],
    ['an empty body', '', 'empty'],
    ['truncated JSON', '{"status":"success","code":200,"mess', 'not complete JSON'],
    ['null', 'null', 'null'],
    ['an array', '[1,2]', 'an array'],
    ['a string', '"hello"', 'a string'],
    ['an object of another kind', '{"ok":true}', 'lacks the envelope'],
    [
      'an envelope with a wrong code',
      '{"status":"success","code":"200","message":"ok","data":[]}',
      'lacks the envelope',
    ],
  ])('%s is a ResponseError that keeps the body', async (_, text, message) => {
    const server = await startServer([{ text }]);
    const error = await failureOf(clientOf(server, once).webhooks.list());
    expect(error).toBeInstanceOf(ResponseError);
    expect(error).toMatchObject({ code: 'not-an-envelope', status: 200, body: text, operation: 'webhooks.list' });
    expect(String(error)).toContain(message);
  });

  it('is retried, as a truncated response would be', async () => {
    const server = await startServer([{ text: '<html>' }, { data: [] }]);
    expect(await clientOf(server).webhooks.list()).toEqual([]);
  });

  it('has its body cut at 2 KiB', async () => {
    const server = await startServer([{ text: `<html>${'x'.repeat(10_000)}` }]);
    const error = await failureOf(clientOf(server, once).webhooks.list());
    expect(error).toSatisfy((it: ResponseError) => it.body.length < 2_100 && it.body.endsWith('(cut)'));
  });
});

describe('an HTML page of a gateway', () => {
  const text = '<html><body>Request blocked</body></html>';

  it.each([401, 404, 422])(
    'the error for an HTML page with status %i blames neither the token, the id nor the body',
    async (status) => {
      const server = await startServer([{ status, text }]);
      const error = await failureOf(clientOf(server, once).audiences.get(42));
      expect(error).toBeInstanceOf(ResponseError);
      expect(error).toMatchObject({ code: 'not-an-envelope', status, body: text });
      expect(String(error)).toContain(
        `audiences.get failed: ${status}, and the body is HTML or XML, so a proxy probably responded.`,
      );
    },
  );

  it('an HTML page that refuses a create request leaves the outcome `refused`', async () => {
    const server = await startServer([{ status: 403, text }]);
    const error = await failureOf(clientOf(server).audiences.create({ name: 'Visitors' }));
    expect(error).toMatchObject({ code: 'not-an-envelope', outcome: 'refused', attempts: 1 });
  });
});

describe('`status: error` under a 2xx', () => {
  it('is an ApiError with the HTTP status and the envelope code', async () => {
    const text = JSON.stringify({ status: 'error', code: 500, message: 'Broken.', data: [] });
    const server = await startServer([{ text }]);
    const error = await failureOf(clientOf(server).webhooks.list());
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({ status: 200, envelopeCode: 500, attempts: 1 });
  });

  it('has the class of its code', async () => {
    const text = JSON.stringify({ status: 'error', code: 422, message: 'No.', data: [], errors: { name: ['bad'] } });
    const server = await startServer([{ text }]);
    const error = await failureOf(clientOf(server).audiences.create({ name: 'A' }));
    expect(error).toBeInstanceOf(ValidationError);
    expect(error).toMatchObject({ errors: { name: ['bad'] }, local: false, outcome: 'refused' });
  });
});

describe('the data of a single resource', () => {
  it('may be a one-element array', async () => {
    const server = await startServer([{ data: [wireAudience()] }]);
    expect(await clientOf(server).audiences.get(42)).toMatchObject({ id: 42, is_activation_allowed: true });
  });

  it('may be the object itself', async () => {
    const server = await startServer([{ data: wireAudience() }]);
    expect(await clientOf(server).audiences.get(42)).toMatchObject({ id: 42 });
  });

  it.each([
    ['empty', [], '0 elements'],
    ['two resources', [wireAudience(1), wireAudience(2)], '2 elements'],
    ['a string', 'hello', 'a string'],
    ['null', null, 'null'],
    ['an audience without id', { ...wireAudience(), id: undefined }, 'id'],
    ['an audience whose status has no id', { ...wireAudience(), status: { name: 'Completed' } }, 'status.id'],
  ])('is a ResponseError when %s', async (_, data, message) => {
    const server = await startServer([{ text: success(data) }]);
    const error = await failureOf(clientOf(server).audiences.get(42));
    expect(error).toBeInstanceOf(ResponseError);
    expect(error).toMatchObject({ code: 'response-invalid', attempts: 1 });
    expect(String(error)).toContain(message);
  });

  it('keeps unknown fields', async () => {
    const server = await startServer([{ data: [{ ...wireAudience(), colour: { deep: ['blue'] } }] }]);
    expect(await clientOf(server).audiences.get(42)).toMatchObject({ colour: { deep: ['blue'] } });
  });
});

describe('a field that is not as documented', () => {
  const odd = { ...wireAudience(), results_count: 'many' };

  it('is kept, and warned of once', async () => {
    const server = await startServer([{ data: [odd] }]);
    const warnings: string[] = [];
    const logger = { error() {}, info() {}, debug() {}, warn: (message: string) => warnings.push(message) };
    const client = clientOf(server, { logger, logLevel: 'warn' });
    expect(await client.audiences.get(42)).toMatchObject({ results_count: 'many' });
    await client.audiences.get(42);
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain('results_count');
  });

  it('is a ResponseError with `validation: "strict"`', async () => {
    const server = await startServer([{ data: [odd] }]);
    const error = await failureOf(clientOf(server, { validation: 'strict' }).audiences.get(42));
    expect(String(error)).toContain('results_count');
    expect(error).toBeInstanceOf(ResponseError);
  });

  it('never turns a successful create into a failed one: the outcome is `done`', async () => {
    const server = await startServer([{ data: [odd] }]);
    const error = await failureOf(clientOf(server, { validation: 'strict' }).audiences.create({ name: 'x' }));
    expect(error).toMatchObject({ outcome: 'done', idempotencyKey: expect.any(String) });
    expect(await server.seen()).toHaveLength(1);
  });
});

describe('an array', () => {
  it('is a ResponseError when an object comes instead', async () => {
    const server = await startServer([{ data: { rows: [] } }]);
    expect(await failureOf(clientOf(server).webhooks.list())).toBeInstanceOf(ResponseError);
  });
});
