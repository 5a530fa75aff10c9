import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Client } from '@modelcontextprotocol/client';
import { Client as SdkClient } from '@modelcontextprotocol/sdk/client/index.js';
import { onTestFinished } from 'vitest';
import { type ConnectMcpOptions, connectMcp, type McpClient } from '../../../src/mcp/index.ts';
import { listenForTest } from '../../support/loopback.ts';
import { quick } from '../../support/server.ts';

const INFO = { name: 'test', version: '1' };

/** The interface that both official clients share. */
export interface AnyClient extends McpClient {
  listTools(
    params?: undefined,
    options?: { readonly signal: AbortSignal },
  ): Promise<{ readonly tools: readonly { readonly name: string }[] }>;
  callTool(params: {
    name: string;
    arguments: Record<string, unknown>;
  }): Promise<{ readonly [field: string]: unknown }>;
  ping(): Promise<unknown>;
  close(): Promise<void>;
  onclose?: (() => void) | undefined;
}

/** The official clients, by package. */
export const CLIENTS: readonly (readonly [string, () => AnyClient])[] = [
  ['@modelcontextprotocol/client', () => new Client(INFO)],
  ['@modelcontextprotocol/sdk', () => new SdkClient(INFO)],
];

type Options = Omit<ConnectMcpOptions<AnyClient>, 'client'>;

/** Connects a client, which is closed after the running test. */
export async function connectFor(client: AnyClient, options: Options): Promise<AnyClient> {
  onTestFinished(() => client.close());
  return connectMcp({ ...quick, client, ...options });
}

/** A JSON-RPC message that the server received. */
export interface ReceivedMessage {
  readonly verb: string;
  readonly method: string | undefined;
  readonly id: unknown;
  readonly authorization: string | undefined;
}

type Answer = (message: ReceivedMessage, response: ServerResponse, request: IncomingMessage) => void;

/**
 * Starts a server for one test. It responds to `initialize` and to notifications, and passes other requests to
 * `answer`.
 */
export async function startMcpServer(
  answer: Answer,
): Promise<{ readonly url: string; readonly received: ReceivedMessage[] }> {
  const received: ReceivedMessage[] = [];
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    const { method, id, params } = text === '' ? {} : JSON.parse(text);
    const one = { verb: request.method ?? '', method, id, authorization: request.headers.authorization };
    received.push(one);
    if (request.method === 'GET') response.writeHead(405).end();
    else if (method === 'initialize') result(response, id, greeting(params.protocolVersion));
    else if (id === undefined) response.writeHead(202).end();
    else answer(one, response, request);
  });
  return { url: await listenForTest(server), received };
}

const greeting = (protocolVersion: unknown): object => ({
  protocolVersion,
  capabilities: { tools: {} },
  serverInfo: { name: 'scripted', version: '1' },
});

/** Sends the result of a JSON-RPC request. */
export function result(response: ServerResponse, id: unknown, value: object): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ jsonrpc: '2.0', id, result: value }));
}

/** Sends an error response of the service. */
export function refuse(response: ServerResponse, status: number, headers: Record<string, string> = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify({ status: 'error', code: status, message: 'refused by the service', data: [] }));
}
