import { isJsonRpcId } from '../spec/json-rpc-messages.ts';
import { isObject, parseJson } from '../util/json.ts';

/** The properties of a JSON-RPC body that determine how the client sends it. */
export interface Message {
  /** True if a retry could have side effects: the body calls a tool or cannot be parsed. */
  readonly acts: boolean;
  /** Id of the request, if the body is a single request. */
  readonly id: string | number | undefined;
  /** Id of the request to cancel, if the body is a single cancellation. */
  readonly cancels: string | number | undefined;
}

/** Reads the JSON-RPC body of an HTTP request. `body` is `undefined` if the request has no body. */
export function readMessage(body: string | undefined): Message {
  const parsed = body === undefined ? [] : parseJson(body);
  if (parsed === undefined) return { acts: true, id: undefined, cancels: undefined };
  const messages: readonly unknown[] = Array.isArray(parsed) ? parsed : [parsed];
  const single = messages.length === 1 ? messages[0] : undefined;
  const method = field(single, 'method');
  return {
    acts: messages.some((message) => field(message, 'method') === 'tools/call'),
    id: method === undefined ? undefined : idOf(field(single, 'id')),
    cancels: method === 'notifications/cancelled' ? idOf(field(field(single, 'params'), 'requestId')) : undefined,
  };
}

const field = (value: unknown, name: string): unknown => (isObject(value) ? value[name] : undefined);

const idOf = (value: unknown): Message['id'] => (isJsonRpcId(value) ? value : undefined);
