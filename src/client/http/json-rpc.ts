import { isJsonRpcId, type JsonRpcResponse } from '../../spec/json-rpc-messages.ts';
import type { ResolvedOperation } from '../../spec/operations.ts';
import type { JsonObject } from '../../spec/wire-values.ts';
import { isObject, parseJson } from '../../util/json.ts';
import { type EnvelopeReading, isRefusal, notJson, readEnvelope } from './envelope.ts';
import type { ReceivedResponse } from './send.ts';

/** Returns whether a value is a response in the format of MCP. */
export function isJsonRpcResponse(value: unknown): value is JsonRpcResponse {
  if (!isMessage(value) || !isJsonRpcId(value.id) || value.method !== undefined) return false;
  const { result, error } = value;
  if (error === undefined) return isObject(result);
  return result === undefined && isObject(error) && Number.isInteger(error.code) && typeof error.message === 'string';
}

const isMessage = (value: unknown): value is JsonObject => isObject(value) && value.jsonrpc === '2.0';

/**
 * Reads the 2xx body of an MCP response: JSON-RPC or, if there is a `data` override, an envelope that contains
 * JSON-RPC.
 */
export function readRpcResponse(
  response: ReceivedResponse,
  { override }: ResolvedOperation,
  sent: unknown,
): EnvelopeReading {
  const read = readJsonRpc(response, sent);
  return 'problem' in read && override?.data ? readEnvelope(response.text) : read;
}

/**
 * Reads a 2xx body as JSON-RPC. Returns an envelope with the HTTP status and, as `data`, the response with the id of
 * the request. For a message that expects no response, the envelope has no `data`.
 */
export function readJsonRpc(
  response: Pick<ReceivedResponse, 'status' | 'headers' | 'text'>,
  sent: unknown,
): EnvelopeReading {
  const { status } = response;
  const read = messagesOf(response);
  if ('refusal' in read) return read;
  const made = { status: 'success', code: status, message: '' } as const;
  const id = isObject(sent) && sent.method !== undefined ? sent.id : undefined;
  if (id === undefined) {
    // 202 means that the service has accepted the message, whatever the body.
    const accepted = status === 202 || response.text.trim() === '' || 'messages' in read;
    return accepted ? { envelope: made } : read;
  }
  if ('problem' in read) return read;
  // Search responses only, because a request from the service may have the same id.
  const match = findResponse(read.messages, id);
  if (!match) return { problem: `the body contains no response with the id ${JSON.stringify(id)}` };
  if (isJsonRpcResponse(match)) return { envelope: { ...made, data: match } };
  return {
    problem: 'the response must contain an object as `result`, or an `error` with an integer `code` and a `message`',
  };
}

function findResponse(messages: Iterable<JsonObject>, id: unknown): JsonObject | undefined {
  for (const message of messages) if (message.id === id && message.method === undefined) return message;
  return undefined;
}

type Messages =
  | { readonly messages: Iterable<JsonObject> }
  | { readonly refusal: unknown }
  | { readonly problem: string };

/** Returns all messages in a body, or the reason why the body has no messages. */
function messagesOf({ headers, text }: Pick<ReceivedResponse, 'headers' | 'text'>): Messages {
  if (/^\s*text\/event-stream\s*(?:;|$)/i.test(headers.get('content-type') ?? '')) {
    return { messages: messagesIn(text) };
  }
  const value = parseJson(text);
  const messages: readonly unknown[] = Array.isArray(value) ? value : [value];
  if (messages.every(isMessage)) return { messages };
  if (isRefusal(value)) return { refusal: value };
  return { problem: notJson(text, value) ?? 'the body is not a JSON-RPC 2.0 message' };
}

/** Maximum number of events that are not JSON in an event stream. Each failed parse is slow. */
const MAX_BROKEN_EVENTS = 100;

/** Yields the messages of an event stream. */
function* messagesIn(stream: string): Generator<JsonObject, void> {
  let broken = 0;
  for (const data of eventsOf(stream)) {
    const value = parseJson(data);
    if (value === undefined && ++broken > MAX_BROKEN_EVENTS) return;
    for (const message of Array.isArray(value) ? value : [value]) if (isMessage(message)) yield message;
  }
}

/** Yields the data of each `message` event of an event stream. The last event may lack its empty line. */
function* eventsOf(stream: string): Generator<string, void> {
  const text = stream.replace(/\r\n?/g, '\n');
  let type = '';
  let data: string[] = [];
  for (let at = 0; at <= text.length; ) {
    const end = text.indexOf('\n', at);
    const line = text.slice(at, end < 0 ? text.length : end);
    at = end < 0 ? text.length + 1 : end + 1;
    if (line.startsWith('event:')) type = fieldValue(line);
    else if (line.startsWith('data:')) data.push(fieldValue(line));
    if (line !== '' && at <= text.length) continue;
    if (data.length > 0 && (type === '' || type === 'message')) yield data.join('\n');
    type = '';
    data = [];
  }
}

const fieldValue = (line: string): string => line.slice(line.indexOf(':') + 1).replace(/^ /, '');
