import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { describe, expect, it } from 'vitest';
import {
  AuthenticationError,
  ConfigurationError,
  type JsonRpcMessage,
  mcpToken,
  memoryTokenStore,
  PermissionError,
  RateLimitError,
  ResponseError,
  ServerError,
  ValidationError,
} from '../../../src/index.ts';
import type { SandboxOptions } from '../../../src/sandbox/index.ts';
import { credentials, startBench } from '../../support/sandbox.ts';
import type { Step } from '../../support/script.ts';
import { clientOf, failureOf, startServer } from '../../support/server.ts';

const path = '/api/v2/mcp';
const ping = { jsonrpc: '2.0', id: 1, method: 'ping' } as const;
const pong = { jsonrpc: '2.0', id: 1, result: {} } as const;
const call = (name: string, input: object = {}) =>
  ({ jsonrpc: '2.0', id: 'call', method: 'tools/call', params: { name, arguments: input } }) as const;
const initialized = { jsonrpc: '2.0', method: 'notifications/initialized' } as const;

/** A sandbox, with the MCP endpoint of a client that has nothing but an MCP token. */
async function startMcp(options: SandboxOptions = {}) {
  const bench = await startBench(options);
  return { ...bench, mcp: bench.connect({ mcpToken: bench.account.token('mcp') }).mcp };
}

/** The MCP endpoint of a scripted server. */
async function scripted(steps: readonly Step[], options = {}) {
  const server = await startServer(steps);
  return { seen: server.seen, mcp: clientOf(server, { mcpToken: 'mcp-token', ...options }).mcp };
}

const body = (value: unknown): Step => ({ text: JSON.stringify(value) });

describe('mcp.send to the sandbox', () => {
  it('needs no token but `mcpToken`, as does `request` to its path', async () => {
    const { connect, account } = await startBench();
    const client = connect({ mcpToken: account.token('mcp') });
    expect(await client.request('POST', path, { body: ping })).toEqual(pong);
    expect(await failureOf(client.webhooks.list())).toMatchObject({
      code: 'configuration-invalid',
      message: expect.stringContaining('`token` is missing'),
    });
  });

  it('resolves to the response of a request', async () => {
    const { mcp } = await startMcp();
    expect(await mcp.send(ping)).toEqual(pong);
    const { result, id } = await mcp.send({ jsonrpc: '2.0', id: 'list', method: 'tools/list' });
    expect([id, result?.tools]).toEqual([
      'list',
      expect.arrayContaining([expect.objectContaining({ inputSchema: expect.anything() })]),
    ]);
  });

  it('calls tools', async () => {
    const { client, mcp } = await startMcp();
    const { result } = await mcp.send(call('audiences_create', { name: 'By an agent' }));
    expect(result).toMatchObject({ isError: false });
    expect((await client.audiences.list()).items.map(({ name }) => name)).toEqual(['By an agent']);
  });

  it('resolves to an error of JSON-RPC, too', async () => {
    const { mcp } = await startMcp();
    const answer = await mcp.send({ jsonrpc: '2.0', id: 7, method: 'nonsense' });
    expect(answer).toMatchObject({ id: 7, error: { code: -32601, message: 'Method not found' } });
  });

  it('resolves to undefined for a notification, and for a response', async () => {
    const { mcp, sandbox } = await startMcp();
    expect(await mcp.send(initialized)).toBeUndefined();
    expect(await mcp.send(pong)).toBeUndefined();
    // The types of the official SDK fit.
    const send = (message: JSONRPCMessage): PromiseLike<JSONRPCMessage | undefined> => mcp.send(message);
    expect(await send(initialized)).toBeUndefined();
    expect(sandbox.log.map(({ status }) => status)).toEqual([202, 202, 202]);
    const { data, response, envelope } = await mcp.send(initialized).withResponse();
    expect([data, response.status, envelope]).toEqual([undefined, 202, { status: 'success', code: 202, message: '' }]);
  });

  it('uses a token of scope mcp, issued once', async () => {
    const { connect, sandbox } = await startBench();
    const { mcp } = connect({ mcpToken: mcpToken(credentials, { store: memoryTokenStore() }) });
    expect(await Promise.all([mcp.send(ping), mcp.send({ ...ping, id: 2 })])).toMatchObject([{ id: 1 }, { id: 2 }]);
    expect(sandbox.log.map(({ path: asked }) => asked)).toEqual(['/api/v2/auth/mcp-token', path, path]);
  });

  it('issues another token once after a 401', async () => {
    const { connect, sandbox } = await startBench();
    const client = connect({ mcpToken: mcpToken(credentials, { store: memoryTokenStore() }) });
    await client.mcp.send(ping);
    await client.auth.revokeMcpTokens(credentials);
    expect(await client.mcp.send(ping)).toEqual(pong);
    expect(sandbox.log.map(({ status }) => status)).toEqual([200, 200, 200, 401, 200, 200]);
    const dead = connect({ mcpToken: 'revoked-token' });
    const error = await failureOf(dead.mcp.send(ping));
    expect(error).toBeInstanceOf(AuthenticationError);
    expect(error).toMatchObject({
      reason: 'token',
      attempts: 1,
      advice: expect.stringContaining('`mcpToken(credentials'),
    });
  });

  it('rejects with a PermissionError that names the fix for a token of another scope', async () => {
    const { connect, account } = await startBench();
    const error = await failureOf(connect({ mcpToken: account.token('api') }).mcp.send(ping));
    expect(error).toBeInstanceOf(PermissionError);
    expect(error).toMatchObject({
      status: 403,
      advice: expect.stringContaining('`mcpToken(credentials, { store })`'),
    });
  });

  it('waits in its own bucket, which a 429 pauses', async () => {
    const limits = { mcp: { limit: 1, interval: 60_000 } };
    const { connect, account, sandbox, client } = await startBench({ limits });
    const hasty = connect({ mcpToken: account.token('mcp') }).withOptions({ maxRetryWait: 0 });
    await hasty.mcp.send(ping);
    const refused = await failureOf(hasty.mcp.send(call('usage_get')));
    expect(refused).toBeInstanceOf(RateLimitError);
    expect(refused).toMatchObject({ status: 429, bucket: 'mcp', attempts: 1, retryAt: expect.any(Date) });
    const held = await failureOf(hasty.mcp.send(ping));
    expect(held).toMatchObject({ name: 'RateLimitError', bucket: 'mcp', attempts: 0 });
    await client.webhooks.list();
    expect(sandbox.log.filter((one) => one.path === path).map(({ status }) => status)).toEqual([200, 429]);
  });
});

describe('mcp.send', () => {
  it('asks for JSON and event streams, and passes headers on', async () => {
    const { mcp, seen } = await scripted([body(pong)]);
    await mcp.send(ping, { headers: { 'MCP-Protocol-Version': '2025-06-18' } });
    expect(await seen()).toMatchObject([
      {
        method: 'POST',
        url: path,
        body: JSON.stringify(ping),
        headers: {
          accept: 'application/json, text/event-stream',
          authorization: 'Bearer mcp-token',
          'content-type': 'application/json',
          'mcp-protocol-version': '2025-06-18',
        },
      },
    ]);
  });

  it('reads an event stream', async () => {
    const text = `: hi\r\n\r\ndata: ${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/progress' })}\r\n\r\nid: 1\r\ndata: ${JSON.stringify(pong)}\r\n\r\n`;
    const { mcp } = await scripted([{ text, headers: { 'content-type': 'text/event-stream', 'x-request-id': 'r' } }]);
    const { data, envelope, response, requestId, attempts } = await mcp.send(ping).withResponse();
    expect([data, requestId, attempts]).toEqual([pong, 'r', 1]);
    expect(envelope).toEqual({ status: 'success', code: 200, message: '', data: pong });
    expect(await response.text()).toBe(text);
  });

  it('finds the response when the message is used again meanwhile', async () => {
    const { mcp } = await scripted([body([pong, { ...pong, id: 2 }])]);
    const message = { ...ping, id: Number(1) };
    const first = mcp.send(message);
    message.id = 2;
    expect(await Promise.all([first, mcp.send(message)])).toMatchObject([{ id: 1 }, { id: 2 }]);
  });

  it.each([
    ['tools/call', 1],
    ['tasks/cancel', 1],
    ['ping', 2],
    ['initialize', 2],
    ['tools/list', 2],
    ['resources/read', 2],
    ['prompts/get', 2],
    ['notifications/initialized', 2],
  ])('`mcp.send` sends %s %i times where a response is lost, truncated or 503', async (method, times) => {
    const lost: Step[] = [{ fault: 'cut' }, { text: '<html>' }, body({ ...pong, id: 9 }), { status: 503 }];
    for (const step of lost) {
      const { mcp, seen } = await scripted([step, body(pong)]);
      const sending = mcp.send({ jsonrpc: '2.0', id: 1, method });
      if (times === 1) expect(await failureOf(sending)).toMatchObject({ attempts: 1 });
      else expect(await sending).toEqual(pong);
      expect(await seen()).toHaveLength(times);
    }
  });

  it('`mcp.send` retries the call of a tool after a 429, and where the operation is overridden', async () => {
    const { mcp, seen } = await scripted([
      { status: 429, headers: { 'retry-after': '0' } },
      body({ ...pong, id: 'call' }),
    ]);
    expect(await mcp.send(call('usage_get'))).toMatchObject({ id: 'call' });
    expect(await seen()).toHaveLength(2);
    const operations = { 'mcp.send': { retry: 'always' } } as const;
    const bold = await scripted([{ status: 503 }, body({ ...pong, id: 'call' })], { operations });
    expect(await bold.mcp.send(call('usage_get'))).toMatchObject({ id: 'call' });
  });

  it.each([
    ['<html>', 'the body is HTML'],
    ['{"ok":true}', 'not a JSON-RPC 2.0 message'],
    ['', 'the body is empty'],
    [JSON.stringify({ ...pong, id: 2 }), 'no response with the id "call"'],
  ])('rejects with a ResponseError when a 2xx holds %j', async (text, message) => {
    const { mcp } = await scripted([{ text }]);
    const error = await failureOf(mcp.send(call('usage_get')));
    expect(error).toBeInstanceOf(ResponseError);
    expect(error).toMatchObject({ code: 'not-an-envelope', operation: 'mcp.send', body: text, attempts: 1 });
    expect(String(error)).toContain(message);
  });

  it('reads a refusal in the envelope, and reports the message of a JSON-RPC error', async () => {
    const refusal = { status: 'error', code: 403, message: 'No.' };
    expect(await failureOf((await scripted([body(refusal)])).mcp.send(ping))).toMatchObject({
      name: 'PermissionError',
      status: 200,
      envelopeCode: 403,
    });
    const broken = { jsonrpc: '2.0', id: null, error: { code: -32000, message: 'Bad Request: Unsupported version' } };
    const error = await failureOf((await scripted([{ status: 400, ...body(broken) }])).mcp.send(ping));
    expect(error).toMatchObject({
      status: 400,
      message: expect.stringContaining('400 Bad Request: Unsupported version'),
    });
    const failing = await scripted([{ status: 500, ...body(broken) }], { maxRetries: 0 });
    expect(await failureOf(failing.mcp.send(ping))).toBeInstanceOf(ServerError);
  });

  it('lets an override translate what is sent and received', async () => {
    const operations = {
      'mcp.send': {
        body: (message: unknown) => ({ message }),
        data: (data: unknown) => Object.assign({ more: 1 }, data),
      },
    };
    const { mcp, seen } = await scripted([body(pong)], { operations });
    expect(await mcp.send(ping)).toEqual({ ...pong, more: 1 });
    expect((await seen())[0]?.body).toBe(JSON.stringify({ message: ping }));
    const wrong = await scripted([body(pong)], { operations: { 'mcp.send': { data: () => 'x' } } });
    expect(await failureOf(wrong.mcp.send(ping))).toMatchObject({ code: 'response-invalid' });
  });

  it.each<[unknown, string]>([
    [undefined, 'message'],
    ['ping', 'message'],
    [[ping], 'message'],
    [{ ...ping, jsonrpc: '1.0' }, 'jsonrpc'],
    [{ id: 1, method: 'ping' }, 'jsonrpc'],
    [{ ...ping, method: 7 }, 'method'],
    [{ ...ping, method: '' }, 'method'],
    [{ jsonrpc: '2.0', id: 1 }, 'method'],
    [{ ...ping, id: null }, 'id'],
    [{ ...ping, id: 1.5 }, 'id'],
    [{ jsonrpc: '2.0', result: {} }, 'id'],
  ])('refuses %j before anything is sent', async (message, field) => {
    const { mcp, seen } = await scripted([body(pong)]);
    const send: (message: JsonRpcMessage) => PromiseLike<unknown> = (one) => mcp.send(one);
    const error = await failureOf(Reflect.apply(send, undefined, [message]));
    expect(error).toBeInstanceOf(ValidationError);
    expect(error).toMatchObject({ local: true, operation: 'mcp.send', attempts: 0 });
    expect(error).toSatisfy(({ errors }: ValidationError) => Object.keys(errors).join() === field);
    expect(await seen()).toEqual([]);
  });

  it('requires `mcpToken`', async () => {
    const server = await startServer([body(pong)]);
    const error = await failureOf(clientOf(server).mcp.send(ping));
    expect(error).toBeInstanceOf(ConfigurationError);
    expect(error).toMatchObject({ message: expect.stringContaining('`mcpToken` is missing') });
    expect(await server.seen()).toEqual([]);
  });
});
