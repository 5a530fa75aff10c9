import type { JsonObject } from '../http/request-body.ts';
import { listTokens } from '../tokens.ts';
import { FieldError, NotFoundError, optional, string } from './action.ts';
import type { ConsoleContext } from './console-context.ts';
import type { KeptRequest } from './recorder.ts';
import { withHidden } from './redact-request.ts';
import { decode } from './snippet-values.ts';

/** The outcome of a request that was sent from a page. */
export interface SentRequest {
  /** Id in the log. */
  readonly id: string;
  /** HTTP status; 0 without a response. */
  readonly status: number;
}

/** Headers that follow from a connection. */
const OF_CONNECTION = /^(?:host|connection|keep-alive|content-length|transfer-encoding|expect|upgrade|te)$/;

/** Methods that `fetch` cannot send. */
export const FORBIDDEN_METHODS: readonly string[] = ['CONNECT', 'TRACE', 'TRACK'];

function keptRequest({ service, recorder }: ConsoleContext, id: string): KeptRequest {
  const entry = service.state.log.find((candidate) => candidate.id === id);
  const recorded = entry && recorder.find(entry);
  if (recorded) return recorded;
  throw new NotFoundError(`The details of the request ${id} are not kept.`);
}

/** Sends a request of the log again: with its token, its body and its idempotency key, or with a new key. */
export async function resend(console: ConsoleContext, id: string, withNewKey: boolean): Promise<SentRequest> {
  const recorded = keptRequest(console, id);
  const { url, body, file, isBodyDropped, entry } = recorded;
  if (file || isBodyDropped)
    throw new FieldError('Its body was not kept, because it is a file or too long. Send it with curl.');
  if (FORBIDDEN_METHODS.includes(entry.method)) throw new FieldError(`${entry.method} cannot be sent from here.`);
  const headers = headersOf(recorded);
  if (withNewKey) headers.set('idempotency-key', crypto.randomUUID());
  return send(console, url, entry.method, headers, body);
}

/**
 * Sends a request of the log with changes, and a token of its account, or of the first one. A credential that the page has hidden, and
 * nobody has changed, is the one that was sent.
 */
export async function sendEdited(console: ConsoleContext, fields: JsonObject): Promise<SentRequest> {
  const recorded = keptRequest(console, string(fields, 'id'));
  const path = string(fields, 'path');
  const [key, body] = [optional(string, fields, 'key'), optional(string, fields, 'body')];
  const { origin } = new URL(recorded.url);
  const url = URL.canParse(path, origin) ? new URL(path, origin) : undefined;
  if (!path.startsWith('/') || url?.origin !== origin)
    throw new FieldError('`path` must be a path, such as /api/v2/audiences/create.', 'path');
  const headers = headersOf(recorded);
  headers.set('authorization', `Bearer ${tokenOf(console, recorded.entry.account)}`);
  headers.delete('idempotency-key');
  if (key !== undefined) headers.set('idempotency-key', key);
  const before = recorded.body && decode(recorded.body);
  const sent = body !== undefined && before !== undefined ? withHidden(body, before) : body;
  return send(console, url.href, string(fields, 'method'), headers, sent);
}

/** Sends the first request of somebody who has just begun: the create of an audience, in the name of the first account. */
export function sendFirst(console: ConsoleContext): Promise<SentRequest> {
  const authorization = `Bearer ${tokenOf(console, undefined)}`;
  const headers = { accept: 'application/json', 'content-type': 'application/json', authorization };
  const url = `${console.addresses().api}/api/v2/audiences/create`;
  return send(console, url, 'POST', headers, JSON.stringify({ name: 'Visitors' }));
}

/** Returns an API token of an account, or of the first one. */
function tokenOf({ service, sandbox }: ConsoleContext, email = ''): string {
  const { accounts } = service.state;
  const record = accounts.get(email) ?? [...accounts.values()][0];
  if (!record) throw new NotFoundError('Create an account first.');
  return listTokens(service, record, 'api').at(-1)?.value ?? sandbox.accounts.get(record.email).token('api');
}

function headersOf({ headers: sent, address }: KeptRequest): Headers {
  const headers = new Headers([...sent].filter(([name]) => !OF_CONNECTION.test(name)));
  headers.set('x-forwarded-for', address);
  return headers;
}

async function send(
  { service: { state }, send: fetch }: ConsoleContext,
  url: string,
  method: string,
  headers: HeadersInit,
  body: BodyInit | undefined,
): Promise<SentRequest> {
  const hasBody = body && method !== 'GET' && method !== 'HEAD';
  const request = new Request(url, { method, headers, redirect: 'manual', ...(hasBody && { body }) });
  const response = await fetch(request).catch(() => undefined);
  const id = response?.headers.get('x-request-id') ?? state.log.at(-1)?.id ?? '';
  return { id, status: state.log.find((entry) => entry.id === id)?.status ?? response?.status ?? 0 };
}
