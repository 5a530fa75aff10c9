import '../support/nothing-left.ts';
import { createServer, type RequestListener } from 'node:http';
import { describe, expect, it } from 'vitest';
import { ResponseError } from '../../src/index.ts';
import { listenForTest } from '../support/loopback.ts';
import { clientOf, failureOf } from '../support/server.ts';
import { bomb, type HostileResponse } from './support/hostile.ts';

/** A server that has read each request to its end before it responds, and counts by idempotency key. */
async function startCounting(respond: RequestListener): Promise<{ url: string; arrived: Map<unknown, number> }> {
  const arrived = new Map<unknown, number>();
  const server = createServer((request, response) => {
    const key = request.headers['idempotency-key'];
    request.resume().once('end', () => {
      arrived.set(key, (arrived.get(key) ?? 0) + 1);
      respond(request, response);
    });
  });
  return { url: await listenForTest(server), arrived };
}

const send =
  ({ status, body }: HostileResponse): RequestListener =>
  (_, response) =>
    void response.writeHead(status).end(body);

describe('a create whose response is hostile', () => {
  it.each([
    ['4 MB of a token', 200, `{"token":"${'a'.repeat(4e6)}`, 'unknown'],
    ['errors nested 5,000 deep', 422, `{"errors":{"a":[${'['.repeat(5_000)}${']'.repeat(5_000)}]}}`, 'refused'],
    ['errors nested 500,000 deep', 422, `{"errors":{"a":[${'['.repeat(5e5)}${']'.repeat(5e5)}]}}`, 'refused'],
    [
      'data nested 500,000 deep',
      200,
      `{"status":"success","code":200,"message":"","data":${'['.repeat(5e5)}${']'.repeat(5e5)}}`,
      'done',
    ],
  ])('has arrived: %s', async (_, status, body, outcome) => {
    const { url, arrived } = await startCounting(send({ status, body }));
    const error = await failureOf(clientOf({ url }, { maxRetries: 0 }).audiences.create({ name: 'x' }));
    expect([...arrived.values()]).toEqual([1]);
    expect(error).toMatchObject({ outcome });
    expect(error).not.toMatchObject({ code: 'callback-failed' });
  });

  it.each([
    ['headers of another kind', { headers: {} }],
    ['no headers', { headers: undefined }],
    ['headers that throw', { headers: { get: () => Reflect.get(Object(null), 'a').b } }],
    [
      'a status that throws',
      {
        get status() {
          throw Object.assign(new Error('no'), { code: 'ECONNREFUSED' });
        },
      },
    ],
    [
      'a body that throws',
      {
        get body() {
          throw Object.assign(new Error('no'), { syscall: 'connect' });
        },
      },
    ],
    [
      'an alert about the certificate',
      {
        body: null,
        text: () =>
          Promise.reject(Object.assign(new Error('alert'), { code: 'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED' })),
      },
    ],
  ])('has arrived when `fetch` resolves with %s', async (_, odd) => {
    const text = JSON.stringify({ status: 'success', code: 200, message: '', data: [] });
    const response = { ok: true, status: 200, headers: new Headers(), body: null, text: async () => text };
    const fetch = (): Promise<Response> =>
      Object(Promise.resolve(Object.defineProperties(response, Object.getOwnPropertyDescriptors(odd))));
    const client = clientOf({ url: 'http://localhost' }, { fetch, maxRetries: 0 });
    expect(await failureOf(client.audiences.create({ name: 'x' }))).toMatchObject({ outcome: 'unknown' });
  });
});

describe('a wait whose response is hostile', () => {
  it.each([
    ['a status of 3 MB', { status: { id: 402, name: 'x'.repeat(3e6) } }],
    ['a name of 9 MB', { name: `http://${'a'.repeat(9e6)}`, status: { id: 402, name: 'Error' } }],
    [
      'a million datasets',
      { dataset: Array.from({ length: 250_000 }, () => ({})), status: { id: 402, name: 'Error' } },
    ],
  ])('ends with the error of its job: %s', async (_, fields) => {
    const body = JSON.stringify({ status: 'success', code: 200, message: '', data: [{ id: 1, ...fields }] });
    const { url } = await startCounting(send({ status: 200, body }));
    const error = await failureOf(clientOf({ url }).audiences.wait(1));
    expect(error).toMatchObject({ name: 'JobFailedError', id: 1 });
    expect(JSON.stringify(error).length).toBeLessThan(50_000);
  });
});

describe('a response larger than `maxResponseBytes`', () => {
  const gzip: RequestListener = (_, response) =>
    void response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb(2 ** 20));

  it('rejects with its own error without a retry, by default above 16 MiB', async () => {
    const sent: number[] = [];
    /** Sends as many bytes. */
    const fetch = async (): Promise<Response> => {
      const chunk = new Uint8Array(2 ** 20).fill(32);
      let left = size;
      const body = new ReadableStream<Uint8Array>({
        pull(controller) {
          controller.enqueue(chunk.subarray(0, left));
          left -= chunk.length;
          if (left <= 0) controller.close();
        },
      });
      sent.push(size);
      return new Response(body);
    };
    let size = 16 * 2 ** 20;
    const client = clientOf({ url: 'http://localhost' }, { fetch, maxRetries: 1 });
    expect(await failureOf(client.audiences.list())).toMatchObject({ code: 'not-an-envelope' });
    size++;
    const error = await failureOf(client.audiences.list());
    expect(error).toBeInstanceOf(ResponseError);
    expect(error).toMatchObject({ code: 'response-too-large', status: 200, attempts: 1 });
    expect(String(error)).toContain('`maxResponseBytes`');
    expect(sent.filter((bytes) => bytes === size)).toHaveLength(1);
  });

  it('leaves the outcome of a create unknown', async () => {
    const { url } = await startCounting(gzip);
    const error = await failureOf(clientOf({ url }, { maxResponseBytes: 1_000 }).audiences.create({ name: 'x' }));
    expect(error).toMatchObject({ code: 'response-too-large', outcome: 'unknown' });
  });

  it('is judged by its status where that is an error', async () => {
    const { url } = await startCounting(send({ status: 404, body: 'x'.repeat(10_000) }));
    const error = await failureOf(clientOf({ url }, { maxResponseBytes: 1_000 }).audiences.get(1));
    expect(error).toMatchObject({ name: 'NotFoundError', status: 404 });
  });

  it('is found where `fetch` has no streams', async () => {
    const response = { ok: true, status: 200, headers: new Headers(), text: async () => 'x'.repeat(2_000) };
    const client = clientOf(
      { url: 'http://localhost' },
      { fetch: async () => Object(response), maxResponseBytes: 1_000 },
    );
    expect(await failureOf(client.webhooks.list())).toMatchObject({ code: 'response-too-large' });
  });

  it('a response that is one byte larger than `maxResponseBytes` is too large', async () => {
    const body = JSON.stringify({ status: 'success', code: 200, message: 'é', data: [] });
    const { url } = await startCounting(send({ status: 200, body }));
    const bytes = Buffer.byteLength(body);
    expect(await clientOf({ url }, { maxResponseBytes: bytes }).webhooks.list()).toEqual([]);
    const error = await failureOf(clientOf({ url }, { maxResponseBytes: bytes - 1 }).webhooks.list());
    expect(error).toMatchObject({ code: 'response-too-large' });
  });

  it.each([-1, Number.NaN, '1 MB'])('is defined by a number of 0 or more, not by %j', (maxResponseBytes) => {
    const options: object = { maxResponseBytes };
    expect(() => clientOf({ url: 'http://127.0.0.1:1' }, options)).toThrow(/`maxResponseBytes`/);
  });
});
