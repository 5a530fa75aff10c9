import { afterEach, describe, expect, it, vi } from 'vitest';
import { isNotSent } from '../../../src/client/http/send.ts';
import { clientOf, failureOf, startServer } from '../../support/server.ts';

const failed = (message: string, details: object = {}): Error => Object.assign(new Error(message), details);

describe('a failed `fetch`', () => {
  it.each([
    ['a refused connection', failed('connect ECONNREFUSED', { syscall: 'connect' })],
    ['no such name', new TypeError('fetch failed', { cause: failed('ENOTFOUND', { syscall: 'getaddrinfo' }) })],
    ['several addresses, none of which answers', new AggregateError([failed('x', { syscall: 'connect' })])],
    ['a connection that takes too long', failed('x', { code: 'UND_ERR_CONNECT_TIMEOUT' })],
    ['a dispatcher of another undici', failed('invalid onRequestStart method', { code: 'UND_ERR_INVALID_ARG' })],
    ['an untrusted certificate', failed('x', { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' })],
    ['no TLS at all', failed('x', { code: 'ERR_SSL_WRONG_VERSION_NUMBER' })],
    ['no TLS in common', failed('x', { code: 'ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION' })],
    ['a name that the server does not know', failed('x', { code: 'ERR_SSL_TLSV1_UNRECOGNIZED_NAME' })],
    ['no protocol in common', failed('x', { code: 'ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL' })],
    ['a refused connection in Bun', failed('x', { code: 'ECONNREFUSED' })],
    ['a refused connection in an earlier Bun', failed('x', { code: 'ConnectionRefused' })],
    [
      'a refused connection in Deno',
      new TypeError('error sending request for url (http://127.0.0.1:9/): client error (Connect): tcp connect error'),
    ],
    ['a port that `fetch` refuses', new TypeError('fetch failed', { cause: new Error('bad port') })],
  ])('surely sent nothing: %s', (_, error) => {
    expect(isNotSent(error)).toBe(true);
  });

  it.each([
    ['a reset', failed('read ECONNRESET', { syscall: 'read', code: 'ECONNRESET' })],
    ['a broken TLS record', failed('x', { code: 'ERR_SSL_DECRYPTION_FAILED_OR_BAD_RECORD_MAC' })],
    ['a browser, which reports no cause', new TypeError('Failed to fetch')],
    [
      'several addresses, one of which may have answered',
      new AggregateError([failed('x', { syscall: 'connect' }), failed('y')]),
    ],
    ['a value that is not an error', 'connect'],
  ])('may have sent something: %s', (_, error) => {
    expect(isNotSent(error)).toBe(false);
  });
});

describe('a custom `fetch`', () => {
  it('receives an address and plain options, which any `fetch` accepts', async () => {
    const server = await startServer([{ data: [] }]);
    const seen: unknown[] = [];
    const client = clientOf(server, {
      fetch: (input, init) => {
        seen.push(input, init);
        return globalThis.fetch(input, init);
      },
    });
    await client.webhooks.list();
    expect(seen).toEqual([
      `${server.url}/api/v2/webhooks/index`,
      expect.objectContaining({
        method: 'GET',
        redirect: 'manual',
        headers: expect.objectContaining({
          accept: 'application/json',
          authorization: expect.stringMatching(/^Bearer /),
        }),
        signal: expect.any(AbortSignal),
      }),
    ]);
    await client.close();
  });
});

describe('a `fetch` that fails', () => {
  it('a `fetch` that fails with a cause that leads in a circle may have sent something', async () => {
    const round = new Error('round');
    round.cause = new AggregateError([round], 'and round', { cause: round });
    const client = clientOf({ url: 'http://127.0.0.1:1' }, { fetch: () => Promise.reject(round), maxRetries: 0 });
    const error = await failureOf(client.audiences.create({ name: 'A' }));
    expect(error).toMatchObject({ name: 'ConnectionError', outcome: 'unknown' });
    await client.close();
  });
});

describe('a `fetch` of the platform that was replaced, and ignores its signal', () => {
  afterEach(() => vi.unstubAllGlobals());

  it.each([
    ['never responds', () => new Promise<Response>(() => {})],
    ['never ends its response', () => Promise.resolve(new Response(new ReadableStream()))],
  ])(
    'a replaced `fetch` that ignores its signal and %s holds up no timeout, deadline, abort or close',
    async (_, fetch) => {
      vi.stubGlobal('fetch', fetch);
      const client = clientOf({ url: 'http://127.0.0.1:1' }, { maxRetries: 0 });
      expect(await failureOf(client.audiences.get(1, { timeout: 30 }))).toMatchObject({ code: 'attempt-timeout' });
      expect(await failureOf(client.audiences.get(1, { deadline: 30 }))).toMatchObject({ code: 'deadline-exceeded' });
      const signal = AbortSignal.timeout(30);
      expect(await failureOf(client.audiences.get(1, { signal }))).toBe(signal.reason);
      const pending = failureOf(client.audiences.get(1));
      await client.close();
      expect(await pending).toMatchObject({ code: 'client-closed' });
    },
  );
});
