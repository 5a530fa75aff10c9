import type { FieldErrors } from '../../errors/error-details.ts';
import {
  isJsonRpcId,
  type JsonRpcMessage,
  type JsonRpcNotification,
  type JsonRpcRequest,
  type JsonRpcResponse,
} from '../../spec/json-rpc-messages.ts';
import { isObject } from '../../util/json.ts';
import { isJsonRpcResponse } from '../http/json-rpc.ts';
import type { RequestOptions } from '../http/request-options.ts';
import type { ApiPromise, Transport } from '../http/transport.ts';
import type { Decode } from '../schemas/decode.ts';

/** Matches methods that are safe to retry. The effect of `tools/call` is unknown. */
const READ_ONLY_METHODS = /^(?:initialize|ping|tools\/list|(?:resources|prompts|notifications)\/.+)$/;

/**
 * The MCP (Model Context Protocol) endpoint of the service. Requires the `mcpToken` option of the client, or the `token` option of
 * the call.
 */
export class Mcp {
  readonly #transport: Transport;

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * Sends one message. For a request, resolves with the response, which has a `result` or an `error`. For a
   * notification or a response, resolves with `undefined`. The client retries messages that may have an effect, such as
   * `tools/call`, only if the service certainly did not act.
   *
   * @example
   * const { result } = await client.mcp.send({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
   */
  send(message: JsonRpcRequest, options?: RequestOptions): ApiPromise<JsonRpcResponse>;
  send(message: JsonRpcNotification | JsonRpcResponse, options?: RequestOptions): ApiPromise<undefined>;
  send(message: JsonRpcMessage, options?: RequestOptions): ApiPromise<JsonRpcResponse | undefined>;
  send(message: JsonRpcMessage, options?: RequestOptions): ApiPromise<JsonRpcResponse | undefined> {
    // Copy the message: the caller may change the object before the response arrives.
    const body: unknown = isObject(message) ? { ...message } : message;
    const row = this.#transport.settings.operations['mcp.send'];
    const isReadOnly =
      row.override?.retry === undefined && isObject(body) && READ_ONLY_METHODS.test(String(body.method));
    const operation = isReadOnly ? ({ ...row, retry: 'always' } as const) : row;
    return this.#transport.call(operation, { body, options, validate: () => messageErrors(body), decode });
  }
}

const decode: Decode<JsonRpcResponse | undefined> = (data, context) => {
  if (data === undefined || isJsonRpcResponse(data)) return data;
  throw context.fail('its `data` is not a JSON-RPC 2.0 response');
};

/** Returns the errors of a value, unless it is a single JSON-RPC 2.0 message (request, notification or response). */
function messageErrors(message: unknown): FieldErrors {
  if (!isObject(message)) return { message: ['must be an object with one JSON-RPC 2.0 message.'] };
  const { jsonrpc, id, method, result, error } = message;
  const errors: Record<string, string[]> = {};
  const isResponse = method === undefined && (result !== undefined || error !== undefined);
  if (jsonrpc !== '2.0') errors.jsonrpc = ['must be "2.0".'];
  if (!isResponse && (typeof method !== 'string' || method === '')) {
    errors.method = ['must be a string such as "tools/list".'];
  }
  if ((id !== undefined || (isResponse && error === undefined)) && !isJsonRpcId(id)) {
    errors.id = ['must be a string or an integer. Omit it only in a notification or an error response.'];
  }
  return errors;
}
