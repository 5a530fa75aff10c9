import { createServer } from 'node:http';
import { type Dispatcher, EnvHttpProxyAgent, ProxyAgent } from 'undici';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { CallAdditions, ClientOptions, Fetch, FetchOptions } from '../../../src/index.ts';
import { listenForTest, stop } from '../../support/loopback.ts';
import { clientOf, failureOf, startServer } from '../../support/server.ts';
import { startStorage } from '../../support/storage.ts';

/** Returns an address of this machine that refuses connections. */
async function startRefusing(): Promise<string> {
  const server = createServer();
  const url = await listenForTest(server);
  await stop(server);
  return url;
}

/** Starts an HTTP proxy on loopback that refuses every request and tunnel with 407; returns its URL. */
async function startRefusingProxy(): Promise<string> {
  const server = createServer((_, response) => void response.writeHead(407).end());
  server.on('connect', (_, socket) => {
    socket.end('HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n');
  });
  return listenForTest(server);
}

/** Returns a `fetch` that has the response, and then fails to connect to another server. */
async function reportingTo(send: Fetch): Promise<Fetch> {
  const metrics = await startRefusing();
  return async (input, init) => {
    const response = await send(input, init);
    await fetch(metrics);
    return response;
  };
}

const around = (wrapFetch: CallAdditions['wrapFetch']): ClientOptions => ({
  around: (_, next) => next({ wrapFetch }),
});

describe('a connection of a wrapper’s own that is refused after the response', () => {
  it.each<[string, () => Promise<ClientOptions>]>([
    ['`fetch`', async () => ({ fetch: await reportingTo((...request) => fetch(...request)) })],
    [
      '`wrapFetch`',
      async () => {
        const failing = await reportingTo(async () => new Response());
        return around((send) => async (input, init) => {
          await send(input, init);
          return failing(input, init);
        });
      },
    ],
  ])('leaves the outcome unknown, and sends a delete once: %s', async (_, options) => {
    const server = await startServer([{ data: [] }]);
    const client = clientOf(server, await options());
    expect(await failureOf(client.audiences.delete(1))).toMatchObject({ name: 'ConnectionError', attempts: 1 });
    const error = await failureOf(client.audiences.create({ name: 'A' }, { maxRetries: 0 }));
    expect(error).toMatchObject({ name: 'ConnectionError', outcome: 'unknown' });
    expect(String(error)).toContain('ECONNREFUSED');
    expect(await server.seen()).toHaveLength(2);
  });
});

describe('a `fetch` with a mistake in its code', () => {
  const absent = (value: unknown) => value as { readonly body: string };

  it.each<[string, Fetch, string]>([
    [
      'a TypeError',
      async () => absent(undefined).body as never,
      'threw TypeError: Cannot read properties of undefined',
    ],
    [
      'a ReferenceError',
      async () => Reflect.apply(new Function('missing()'), undefined, []),
      'threw ReferenceError: missing is not defined',
    ],
    [
      'a RangeError',
      async () => {
        throw new RangeError('Invalid time value');
      },
      'threw RangeError: Invalid time value',
    ],
    ['no `Response`', async () => undefined as never, 'threw TypeError: `fetch` must resolve with a `Response`.'],
  ])('is named and not called again: %s', async (_, broken, text) => {
    let calls = 0;
    const client = clientOf(
      { url: 'http://127.0.0.1:9' },
      {
        fetch: (input, init) => {
          calls++;
          return broken(input, init);
        },
      },
    );
    expect(await failureOf(client.audiences.get(1))).toMatchObject({
      code: 'callback-failed',
      message: expect.stringContaining(`audiences.get failed: \`fetch\` ${text}`),
      cause: expect.any(Error),
    });
    expect(calls).toBe(1);
  });

  it('leaves the outcome of a create unknown, because the request may have been sent', async () => {
    const server = await startServer([{ data: [] }]);
    const client = clientOf(server, {
      fetch: async (input, init) => {
        await fetch(input, init);
        return absent(undefined).body as never;
      },
    });
    expect(await failureOf(client.audiences.create({ name: 'A' }))).toMatchObject({
      code: 'callback-failed',
      outcome: 'unknown',
    });
    expect(await server.seen()).toHaveLength(1);
  });

  it.each([
    new TypeError('fetch failed', { cause: new Error('read ECONNRESET') }),
    new TypeError('Failed to fetch'),
    new TypeError('NetworkError when attempting to fetch resource.'),
    new TypeError('Load failed'),
    new TypeError('terminated'),
    new TypeError('Network request failed'),
    new Error('Network connection lost.'),
    Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' }),
    new SyntaxError('Unexpected end of JSON input'),
    new TypeError('x is not a function', { cause: new Error('read ECONNRESET') }),
  ])('is not assumed of a lost connection, which is retried: %s', async (error) => {
    let calls = 0;
    const fetch: Fetch = () => {
      calls++;
      return Promise.reject(error);
    };
    const client = clientOf({ url: 'http://127.0.0.1:9' }, { fetch, maxRetries: 2, backoff: { min: 0, max: 0 } });
    expect(await failureOf(client.audiences.get(1))).toMatchObject({ name: 'ConnectionError', attempts: 3 });
    expect(calls).toBe(3);
  });
});

describe('a request through `wrapFetch`', () => {
  const refusedOwn: Fetch = () => Promise.reject(Object.assign(new Error('mine'), { code: 'ECONNREFUSED' }));

  it.each<[string, string, CallAdditions['wrapFetch']]>([
    ['fails to connect', 'not-sent', (send) => (input, init) => send(input, init)],
    ['has never been made', 'unknown', () => refusedOwn],
    [
      'is in flight when a connection of the wrapper is refused',
      'unknown',
      (send) => (input, init) => Promise.race([send(input, init), refusedOwn(input, init)]),
    ],
    [
      'was lost before one that fails to connect',
      'unknown',
      (send) => async (input, init) => {
        await send(input, { ...init, body: new ReadableStream() }).catch(() => {});
        return send(input, init);
      },
    ],
  ])('a request through `wrapFetch` that %s has the outcome `%s`', async (_, outcome, wrapFetch) => {
    const client = clientOf({ url: await startRefusing() }, { ...around(wrapFetch), maxRetries: 0 });
    expect(await failureOf(client.audiences.create({ name: 'A' }))).toMatchObject({ outcome });
  });
});

describe('a connect error of the option `fetch`', () => {
  it.each([
    ['the address', 'not-sent', 'http://127.0.0.1:8080', { syscall: 'connect', address: '127.0.0.1', port: 8080 }],
    ['this machine', 'not-sent', 'http://localhost:8080', { syscall: 'connect', address: '::1', port: 8080 }],
    ['the host', 'not-sent', 'https://api.example.com', { syscall: 'getaddrinfo', hostname: 'api.example.com' }],
    [
      'the default port',
      'not-sent',
      'https://api.example.com',
      { code: 'ECONNREFUSED', host: 'API.example.com', port: 443 },
    ],
    ['another port', 'unknown', 'http://127.0.0.1:8080', { syscall: 'connect', address: '127.0.0.1', port: 9090 }],
    ['another host', 'unknown', 'https://api.example.com', { syscall: 'getaddrinfo', hostname: 'metrics.example.com' }],
    ['no host', 'unknown', 'https://api.example.com', { code: 'ECONNREFUSED' }],
  ])('a connect error of the option `fetch` that names %s has the outcome `%s`', async (_, outcome, url, details) => {
    const cause = Object.assign(new Error('connect'), details);
    const fetch = (): Promise<never> => Promise.reject(new TypeError('fetch failed', { cause }));
    const client = clientOf({ url }, { fetch, maxRetries: 0 });
    expect(await failureOf(client.audiences.create({ name: 'A' }))).toMatchObject({ outcome });
  });
});

const through = (dispatcher: Dispatcher): { readonly fetchOptions: FetchOptions } => {
  onTestFinished(() => dispatcher.destroy());
  // The types of Node have those of another version of undici.
  return { fetchOptions: { dispatcher } as unknown as FetchOptions };
};

describe('a proxy that refuses the tunnel', () => {
  it.each<[string, (proxy: string) => Dispatcher]>([
    ['ProxyAgent', (proxy) => new ProxyAgent(proxy)],
    ['EnvHttpProxyAgent', (httpsProxy) => new EnvHttpProxyAgent({ httpsProxy, noProxy: '' })],
  ])('is named in the error, and nothing was sent: %s', async (_, dispatcherOf) => {
    const options = through(dispatcherOf(await startRefusingProxy()));
    const client = clientOf({ url: 'https://api.example.com' }, { ...options, maxRetries: 0 });
    const error = await failureOf(client.audiences.create({ name: 'A' }));
    expect(error).toMatchObject({ name: 'ConnectionError', outcome: 'not-sent' });
    expect(String(error)).toBe(
      'ConnectionError: audiences.create could not reach the service: Proxy response (407) !== 200 when HTTP Tunneling. The proxy refused the connection: check its credentials and its rules. Nothing reached the service, so a retry is safe.',
    );
  });

  it('names itself in the error of an upload', async () => {
    const options = through(new ProxyAgent(await startRefusingProxy()));
    const { client } = await startStorage([{}]);
    const reserved = await client.uploads.reserve({ kind: 'cohort', size: 1 });
    const proxied = client.withOptions({ ...options, maxRetries: 0 });
    const error = await failureOf(proxied.uploads.send(reserved, new Blob(['x'])));
    expect(String(error)).toContain('could not reach storage: Proxy response (407)');
  });
});
