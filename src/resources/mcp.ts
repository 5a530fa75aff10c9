import {
  isJsonRpcResponse,
  type JsonRpcMessage,
  type JsonRpcNotification,
  type JsonRpcRequest,
  type JsonRpcResponse,
} from '../http/json-rpc.ts';
import type { RequestOptions } from '../http/request-options.ts';
import type { ApiPromise, Decode, Transport } from '../http/transport.ts';
import { isObject } from '../util/json.ts';
import { messageErrors } from './checks.ts';

/** Methods that change nothing at the service; what a tool does is not known here. */
const HARMLESS = /^(?:initialize|ping|tools\/list|(?:resources|prompts|notifications)\/.+)$/;

/** The endpoint of the Model Context Protocol; it wants the client option `mcpToken`. */
export class Mcp {
  readonly #transport: Transport;

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * Sends one message. A request resolves to the response with its `id`, whether that holds a `result` or an
   * `error`; a notification, or a response of yours, to `undefined`. A `tools/call` is repeated only when the
   * service surely did not act.
   *
   * @example
   * const { result } = await client.mcp.send({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
   */
  send(message: JsonRpcRequest, options?: RequestOptions): ApiPromise<JsonRpcResponse>;
  send(message: JsonRpcNotification | JsonRpcResponse, options?: RequestOptions): ApiPromise<undefined>;
  send(message: JsonRpcMessage, options?: RequestOptions): ApiPromise<JsonRpcResponse | undefined>;
  send(message: JsonRpcMessage, options: RequestOptions = {}): ApiPromise<JsonRpcResponse | undefined> {
    // The caller may use the object again before the answer is here.
    const body: unknown = isObject(message) ? { ...message } : message;
    const row = this.#transport.settings.operations['mcp.send'];
    const harmless = row.override?.retry === undefined && isObject(body) && HARMLESS.test(String(body.method));
    const operation = harmless ? ({ ...row, retry: 'always' } as const) : row;
    return this.#transport.call(operation, { body, options, validate: () => messageErrors(body), decode });
  }
}

const decode: Decode<JsonRpcResponse | undefined> = (data, context) => {
  if (data === undefined || isJsonRpcResponse(data)) return data;
  throw context.fail('its `data` is no response of JSON-RPC 2.0');
};
