import { isJsonRpcId } from '../http/index.ts';
import { isObject, parseJson } from '../util/json.ts';

/** The parts of a JSON-RPC body that decide how it is sent. */
export interface Message {
  /** Calls a tool, which may have effects; a body that cannot be parsed may do so, too. */
  readonly acts: boolean;
  /** Id of the request, if the body is a single one. */
  readonly id: string | number | undefined;
  /** Id of the request that this notification cancels. */
  readonly cancels: string | number | undefined;
}

/** Reads the body of a request; only a POST has one. */
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
