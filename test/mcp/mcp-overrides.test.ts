import { describe, expect, it } from 'vitest';
import type { ClientOptions, JsonRpcRequest } from '../../src/index.ts';
import { type ConnectMcpOptions, connectMcp, type McpClient, type McpFetch } from '../../src/mcp/index.ts';
import type { Step } from '../support/script.ts';
import { clientOf, failureOf, quick, startServer } from '../support/server.ts';

type Overrides = ClientOptions['operations'];

const ping = { jsonrpc: '2.0', id: 1, method: 'ping' } as const;
const pong = { jsonrpc: '2.0', id: 1, result: {} } as const;
const toolCall: JsonRpcRequest = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'x' } };
const failing: Step = { status: 503 };
const json = (value: unknown): Step => ({
  text: JSON.stringify(value),
  headers: { 'content-type': 'application/json' },
});

describe('an override of `mcp.send`', () => {
  async function scripted(script: readonly Step[], operations: Overrides) {
    const server = await startServer(script);
    const { mcp } = clientOf(server, { mcpToken: 'test-mcp-token', operations });
    return { mcp, seen: server.seen };
  }

  it('an override of `mcp.send` with `retry: never` sends no message again, harmless or not', async () => {
    const { mcp, seen } = await scripted([failing, json(pong)], { 'mcp.send': { retry: 'never' } });
    expect(await failureOf(mcp.send(ping))).toMatchObject({ status: 503 });
    expect(await seen()).toHaveLength(1);
  });

  it('an override of `mcp.send` with `data` takes the response out of an envelope', async () => {
    const envelope = { status: 'success', code: 200, message: 'OK', data: { response: pong } };
    const { mcp, seen } = await scripted([json(envelope)], { 'mcp.send': { data: (data) => Object(data).response } });
    expect(await mcp.send(ping)).toEqual(pong);
    expect(await seen()).toHaveLength(1);
  });

  it('an override of `mcp.send` with `query` adds to the address', async () => {
    const { mcp, seen } = await scripted([json(pong)], { 'mcp.send': { query: () => ({ v: 2 }) } });
    await mcp.send(ping);
    expect((await seen()).map(({ url }) => url)).toEqual(['/api/v2/mcp?v=2']);
  });
});

describe('an override passed to connectMcp', () => {
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
    const client = { connect: () => Promise.resolve() };
    await connectMcp({ ...quick, token: 'a-token', client, transport: Transport, ...options });
    return promise;
  }

  const post = (message: unknown): RequestInit => ({
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify(message),
  });

  it.each([
    ['always', toolCall, 2],
    ['never', ping, 1],
  ] as const)(
    'an override passed to `connectMcp` with `retry: %s` applies to every message',
    async (retry, message, requests) => {
      const server = await startServer([failing, json(pong)]);
      const fetch = await fetchOf({ baseUrl: server.url, operations: { 'mcp.send': { retry } } });
      await fetch(`${server.url}/api/v2/mcp`, post(message)).catch(() => undefined);
      expect(await server.seen()).toHaveLength(requests);
    },
  );

  const refused: [Overrides, RegExp][] = [
    [{ 'mcp.send': { body: (body) => body } }, /`operations\["mcp.send"\].body` has no effect in connectMcp/],
    [{ 'mcp.send': { query: (query) => query } }, /\.query` has no effect/],
    [{ 'mcp.send': { data: (data) => data } }, /\.data` has no effect/],
    [{ 'mcp.send': { method: 'PUT' } }, /\.method` has no effect/],
    [{ 'mcp.send': 'PUT /v9/mcp' }, /\.method` has no effect/],
    [{ 'mcp.send': { retry: 'idempotency-key' } }, /\.retry` must be "always" or "never" in connectMcp/],
    [{ 'audiences.get': 'GET /v9/{id}' }, /`operations\["audiences.get"\]` has no effect in connectMcp/],
  ];
  it.each(refused)('%o is refused', async (operations, problem) => {
    const error = await failureOf(fetchOf({ baseUrl: 'https://api.example.com', operations }));
    expect(error).toMatchObject({ code: 'configuration-invalid', message: expect.stringMatching(problem) });
  });

  it('moves the endpoint and its bucket, and adapts the exchange of credentials', async () => {
    const server = await startServer([json(pong)]);
    const operations: Overrides = {
      'mcp.send': { path: '/v9/mcp', bucket: 'read' },
      'auth.createMcpToken': 'POST /v9/token',
    };
    const fetch = await fetchOf({ baseUrl: server.url, operations });
    await fetch(`${server.url}/v9/mcp`, post(ping));
    const text = await fetchOf({ baseUrl: server.url, operations: { 'mcp.send': 'POST /v9/mcp' } });
    await text(`${server.url}/v9/mcp`, post(ping));
    expect((await server.seen()).map(({ url }) => url)).toEqual(['/v9/mcp', '/v9/mcp']);
  });
});
