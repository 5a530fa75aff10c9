import type { ServerResponse } from 'node:http';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { type ConnectMcpOptions, connectMcp, type McpClient, type McpFetch } from '../../src/mcp/index.ts';
import { failureOf, quick, startServer } from '../support/server.ts';
import { CLIENTS, connectFor, refuse, result, startMcpServer } from './support/mcp.ts';

const token = 'a-token-of-scope-mcp';
const PATH = '/api/v2/mcp';

/** The `fetch` that connectMcp hands to a transport. */
async function fetchOf(options: Partial<ConnectMcpOptions<McpClient>>): Promise<McpFetch> {
  const { promise, resolve } = Promise.withResolvers<McpFetch>();
  class Transport {
    constructor(_url: URL, { fetch }: { readonly fetch: McpFetch }) {
      resolve(fetch);
    }
    close(): Promise<void> {
      return Promise.resolve();
    }
  }
  await connectMcp({ ...quick, token, client: { connect: () => Promise.resolve() }, transport: Transport, ...options });
  return promise;
}

const post = (method: string, more: object = {}): RequestInit => ({
  method: 'POST',
  headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', 'mcp-session-id': 's' },
  body: JSON.stringify({ jsonrpc: '2.0', method, ...more }),
});

const lister = (response: ServerResponse, id: unknown): void =>
  result(response, id, { tools: [{ name: 'one', inputSchema: { type: 'object' } }] });

describe.each(CLIENTS)('a request of %s', (_, create) => {
  it('receives its events one by one, until the client is closed', async () => {
    const finished = Promise.withResolvers<void>();
    const cut = Promise.withResolvers<void>();
    const { url } = await startMcpServer(({ id }, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const event = (message: object): boolean =>
        response.write(`data: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`);
      event({ method: 'notifications/message', params: { level: 'info', data: 'working' } });
      void finished.promise.then(() => event({ id, result: { content: [{ type: 'text', text: 'done' }] } }));
      response.on('close', cut.resolve);
    });
    const client = create();
    const notified = Promise.withResolvers<void>();
    await connectFor(client, { baseUrl: url, token });
    Object.assign(client, { fallbackNotificationHandler: async () => notified.resolve() });
    const calling = client.callTool({ name: 'slow', arguments: {} });
    await notified.promise;
    finished.resolve();
    expect(await calling).toMatchObject({ content: [{ text: 'done' }] });
    await client.close();
    await cut.promise;
  });

  it('is not sent when it is cancelled while it waits for its permit', async () => {
    const { url, received } = await startMcpServer(({ id }, response) => result(response, id, {}));
    const asked = Promise.withResolvers<void>();
    let free = true;
    const limiter = {
      acquire: () => (free ? Promise.resolve() : new Promise<void>(() => asked.resolve())),
      pause() {},
    };
    const client = create();
    await connectFor(client, { baseUrl: url, token, limiter });
    // The clients open a stream in passing.
    await expect.poll(() => received.some(({ verb }) => verb === 'GET')).toBe(true);
    const before = received.length;
    free = false;
    const controller = new AbortController();
    const listing = failureOf(client.listTools(undefined, { signal: controller.signal }));
    await asked.promise;
    controller.abort(new Error('changed my mind'));
    await listing;
    free = true;
    await client.ping();
    expect(received.slice(before).map(({ method }) => method)).toEqual(['ping']);
  });

  it('is not retried when it is cancelled while it is in flight', async () => {
    const arrived = Promise.withResolvers<void>();
    const refusing = Promise.withResolvers<void>();
    const { url, received } = await startMcpServer(({ id, method }, response) => {
      if (method !== 'tools/list') return result(response, id, {});
      arrived.resolve();
      return void refusing.promise.then(() => refuse(response, 429, { 'retry-after': '0' }));
    });
    const client = create();
    const retrying = Promise.withResolvers<void>();
    await connectFor(client, { baseUrl: url, token, onRetry: () => retrying.resolve() });
    const controller = new AbortController();
    const listing = failureOf(client.listTools(undefined, { signal: controller.signal }));
    await arrived.promise;
    controller.abort(new Error('changed my mind'));
    await listing;
    await expect.poll(() => received.some(({ method }) => method === 'notifications/cancelled')).toBe(true);
    refusing.resolve();
    await retrying.promise;
    // Whatever would be sent again is on its way before these.
    await client.ping();
    await client.ping();
    expect(received.filter(({ method }) => method === 'tools/list')).toHaveLength(1);
  });
});

describe('the fetch of connectMcp', () => {
  it('sends to the endpoint alone', async () => {
    const { url, received } = await startMcpServer(({ id }, response) => lister(response, id));
    const fetch = await fetchOf({ baseUrl: url });
    const { port } = new URL(url);
    const elsewhere = [
      'https://example.com/api/v2/mcp',
      `http://localhost:${port}${PATH}`,
      `${url}/api/v2/audiences`,
      `${url}${PATH}-other`,
      `${url}${PATH}/../audiences`,
    ];
    for (const target of elsewhere) {
      const error = await failureOf(fetch(target, post('tools/list', { id: 1 })));
      expect(error).toMatchObject({
        name: 'ConfigurationError',
        message: expect.stringContaining(`only ${url}${PATH}`),
      });
    }
    expect(received).toEqual([]);
    await fetch(new URL(`${url}${PATH}`), { ...post('tools/list', { id: 1 }), headers: { authorization: 'Bearer x' } });
    expect(received.map(({ authorization }) => authorization)).toEqual([`Bearer ${token}`]);
  });

  it.each([
    ['a form', { method: 'POST', body: new URLSearchParams('a=b') }],
    ['a PUT', { method: 'PUT', body: '{}' }],
  ])('refuses %s', async (_name, init) => {
    const fetch = await fetchOf({ baseUrl: 'https://api.example.com' });
    expect(await failureOf(fetch(`https://api.example.com${PATH}`, init))).toMatchObject({
      name: 'ConfigurationError',
    });
  });

  it('follows no redirect, and reveals no secret', async () => {
    const server = await startServer([{ status: 307, headers: { location: 'https://example.com/' }, text: token }]);
    const fetch = await fetchOf({ baseUrl: server.url });
    const error = await failureOf(fetch(`${server.url}${PATH}`, post('tools/call', { id: 1 })));
    expect(error).toMatchObject({ name: 'ResponseError', code: 'redirect-refused', status: 307 });
    expect(JSON.stringify(error)).not.toContain(token);
    expect(await server.seen()).toHaveLength(1);
  });

  it('leaves 405 to the transport', async () => {
    const server = await startServer([{ status: 405, text: 'as it came' }]);
    const fetch = await fetchOf({ baseUrl: server.url });
    const response = await fetch(`${server.url}${PATH}`, { method: 'GET' });
    expect([response.status, response.bodyUsed, await response.text()]).toEqual([405, false, 'as it came']);
    expect(await server.seen()).toHaveLength(1);
  });

  it.each([400, 404])('leaves %i to the transport, without the token that the response contains', async (status) => {
    const message = `the token ${token} is bad`;
    const error = { jsonrpc: '2.0', id: 1, error: { code: -32600, message } };
    const server = await startServer([{ status, text: JSON.stringify(error), headers: { 'x-echo': token } }]);
    const fetch = await fetchOf({ baseUrl: server.url });
    const response = await fetch(`${server.url}${PATH}`, post('tools/list', { id: 1 }));
    expect(response.headers.get('x-echo')).toBe('[redacted]');
    expect(await response.json()).toMatchObject({ id: 1, error: { message: 'the token [redacted] is bad' } });
  });

  it.each([
    [406, 'NotAcceptableError', 1],
    [409, 'ConflictError', 1],
    [422, 'ValidationError', 1],
    [500, 'ServerError', 3],
  ])('makes %i an error of the package: %s', async (status, name, attempts) => {
    const server = await startServer([{ status }]);
    const fetch = await fetchOf({ baseUrl: server.url, maxRetries: 2 });
    const error = await failureOf(fetch(`${server.url}${PATH}`, post('tools/list', { id: 1 })));
    expect(error).toMatchObject({ name, status, attempts, path: PATH, method: 'POST' });
    if (status === 409) expect(error).not.toMatchObject({ message: expect.stringContaining('idempotency') });
  });

  it.each([
    ['a call of a tool', JSON.stringify({ method: 'tools/call', id: 1 }), 1],
    [
      'a batch with one',
      JSON.stringify([
        { method: 'ping', id: 1 },
        { method: 'tools/call', id: 2 },
      ]),
      1,
    ],
    ['text that is not JSON', '{', 1],
    ['a notification', JSON.stringify({ method: 'notifications/initialized' }), 2],
    ['a response', JSON.stringify({ id: 1, result: {} }), 2],
    ['the end of a session', undefined, 2],
  ])('sends %s as often as is safe after a lost connection', async (_name, body, sent) => {
    const server = await startServer([{ fault: 'cut' }, { text: '{}' }]);
    const fetch = await fetchOf({ baseUrl: server.url });
    const method = body === undefined ? 'DELETE' : 'POST';
    await fetch(`${server.url}${PATH}`, { method, ...(body !== undefined && { body }) }).catch(() => {});
    expect(await server.seen()).toHaveLength(sent);
  });

  it('bounds the wait for headers, not the stream that follows', async () => {
    const streams: ServerResponse[] = [];
    const { url, received } = await startMcpServer(({ method }, response) => {
      if (method === 'silent') return;
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: 1\n\n');
      streams.push(response);
    });
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const fetch = await fetchOf({ baseUrl: url, timeout: 60_000, maxRetries: 0 });
    const send = (method: string, more: RequestInit = {}) =>
      fetch(`${url}${PATH}`, { ...post(method, { id: 1 }), ...more });
    const silent = failureOf(send('silent'));
    await expect.poll(() => received).toHaveLength(1);
    vi.advanceTimersByTime(60_000);
    expect(await silent).toMatchObject({ name: 'TimeoutError', code: 'attempt-timeout' });
    const slow = await send('slow');
    vi.advanceTimersByTime(120_000);
    streams[0]?.end('data: 2\n\n');
    expect(await slow.text()).toBe('data: 1\n\ndata: 2\n\n');
    const controller = new AbortController();
    const reader = (await send('endless', { signal: controller.signal })).body?.getReader();
    expect(new TextDecoder().decode((await reader?.read())?.value)).toBe('data: 1\n\n');
    const reason = new Error('enough');
    controller.abort(reason);
    expect(await failureOf(reader?.read() ?? Promise.resolve())).toBe(reason);
  });

  it.each(['token', 'slot', 'back-off', 'answer'])(
    'ends immediately when it is aborted while it waits for its %s',
    async (what) => {
      const waiting = Promise.withResolvers<void>();
      const never = <T>(): Promise<T> => {
        waiting.resolve();
        return new Promise(() => {});
      };
      const { url } = await startMcpServer((_message, response) => {
        if (what === 'back-off') refuse(response, 503);
        else waiting.resolve();
      });
      const fetch = await fetchOf({
        baseUrl: url,
        backoff: { min: 60_000, max: 60_000 },
        onRetry: () => waiting.resolve(),
        ...(what === 'token' && { token: { get: () => never<string>() } }),
        ...(what === 'slot' && { limiter: { acquire: () => never<void>(), pause() {} } }),
      });
      const controller = new AbortController();
      const sending = fetch(`${url}${PATH}`, { ...post('tools/list', { id: 1 }), signal: controller.signal });
      await waiting.promise;
      const reason = new Error('enough');
      controller.abort(reason);
      expect(await failureOf(sending)).toBe(reason);
    },
  );

  it('reports every attempt to hooks, and sends headers of the user', async () => {
    const server = await startServer([{ status: 503 }, { text: '{}' }]);
    const events: string[] = [];
    const fetch = await fetchOf({
      baseUrl: server.url,
      headers: { 'x-extra': 'yes' },
      onRequest: ({ operation, method, path, attempt }) => events.push(`${operation} ${method} ${path} ${attempt}`),
      onResponse: ({ status }) => events.push(String(status)),
    });
    await fetch(`${server.url}${PATH}`, post('ping', { id: 1 }));
    const line = `mcp.send POST ${PATH}`;
    expect(events).toEqual([`${line} 1`, '503', `${line} 2`, '200']);
    const [first, second] = await server.seen();
    expect(first?.headers).toMatchObject({ 'x-extra': 'yes', 'mcp-session-id': 's', authorization: `Bearer ${token}` });
    expect(second?.body).toBe(first?.body);
  });

  it('says what failed in a source or a limiter of the user', async () => {
    const limiter = { acquire: () => Promise.reject(new Error('no slots')), pause() {} };
    const fetch = await fetchOf({ baseUrl: 'https://api.example.com', limiter });
    const send = post('ping', { id: 1 });
    const error = await failureOf(fetch(`https://api.example.com${PATH}`, send));
    expect(error).toMatchObject({ code: 'callback-failed', message: expect.stringContaining('no slots') });
    const source = { get: () => Promise.reject(new Error('no token')) };
    const other = await fetchOf({ baseUrl: 'https://api.example.com', token: source });
    const unavailable = await failureOf(other(`https://api.example.com${PATH}`, send));
    expect(unavailable).toMatchObject({ code: 'token-unavailable', message: expect.stringContaining('no token') });
  });
});
