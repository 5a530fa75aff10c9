import type { JsonObject } from './wire-values.ts';

/** A JSON-RPC 2.0 request; its response has the same `id`. */
export interface JsonRpcRequest {
  /** Version of JSON-RPC. */
  readonly jsonrpc: '2.0';
  /** String or integer that is unique among pending requests. */
  readonly id: string | number;
  /** MCP method, such as `tools/list`. */
  readonly method: string;
  /** Parameters of the method, by name. */
  readonly params?: object | undefined;
}

/** A JSON-RPC 2.0 message that expects no response. */
export interface JsonRpcNotification {
  /** Version of JSON-RPC. */
  readonly jsonrpc: '2.0';
  /** Not set: a notification has no id. */
  readonly id?: undefined;
  /** MCP notification, such as `notifications/initialized`. */
  readonly method: string;
  /** Parameters of the method, by name. */
  readonly params?: object | undefined;
}

/** A JSON-RPC 2.0 response with a `result` or an `error`. */
export type JsonRpcResponse =
  | {
      /** Version of JSON-RPC. */
      readonly jsonrpc: '2.0';
      /** The id of the request. */
      readonly id: string | number;
      /** Result of the method. If a tool failed, it contains `isError: true`. */
      readonly result: JsonObject;
      /** Not set on success. */
      readonly error?: undefined;
    }
  | {
      /** Version of JSON-RPC. */
      readonly jsonrpc: '2.0';
      /** Missing if the server could not read the request. `mcp.send` never resolves with such a response. */
      readonly id?: string | number | undefined;
      /** Not set on error. */
      readonly result?: undefined;
      /** Why the request failed. */
      readonly error: {
        /** Error code, such as -32601 for an unknown method. */
        readonly code: number;
        /** Short description. */
        readonly message: string;
        /** Further details, in any form. */
        readonly data?: unknown;
      };
    };

/** Any JSON-RPC 2.0 message. */
export type JsonRpcMessage = JsonRpcRequest | JsonRpcNotification | JsonRpcResponse;

/** Returns whether a value can be the `id` of a request. */
export function isJsonRpcId(value: unknown): value is string | number {
  return typeof value === 'string' || Number.isInteger(value);
}
