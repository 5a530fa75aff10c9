import { ConfigurationError } from '../errors/audience-error.ts';
import type { PreparedRequest, Settings, Transport } from '../http/index.ts';
import {
  AttemptTimeout,
  acquirePermit,
  Call,
  execute,
  handleRateLimit,
  type ReceivedResponse,
  readResponse,
  sendAttempt,
  statusFailure,
} from '../http/index.ts';
import { AbortScope, abortable } from '../util/abort.ts';
import type { Redactor } from '../util/redact.ts';
import { type Message, readMessage } from './message.ts';

/** The `fetch` of an MCP transport. */
export type McpFetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/** Errors that the official transports handle: no stream to open, no such session, an error of JSON-RPC. */
const STATUSES_FOR_TRANSPORT: ReadonlySet<number> = new Set([400, 404, 405]);

/** A request without a response so far. */
interface PendingRequest {
  readonly scope: AbortScope;
  readonly call: Call;
  /** Cancelled while it was in flight: it is not sent again. */
  isCancelled: boolean;
}

/** Returns the address of the MCP endpoint. */
export function endpointOf({ baseUrl, operations }: Settings): URL {
  return new URL(`${baseUrl}${operations['mcp.send'].path}`);
}

/**
 * Creates a `fetch` for the MCP endpoint only: token, permit, retries and errors are those of every call. The body of a
 * success is passed on unread, because it may be a stream.
 */
export function createMcpFetch({ state, settings }: Transport): McpFetch {
  const pending = new Map<Message['id'], PendingRequest>();
  return async (url, init = {}) => {
    const body = bodyOf(init);
    const message = readMessage(body);
    if (cancelPending(pending, message)) return new Response(null, { status: 202 });
    const request = toRequest(new URL(url), init, body, settings);
    const { id, acts } = message;
    const row = settings.operations['mcp.send'];
    const retry = row.override?.retry ?? (acts ? 'never' : 'always');
    const operation = { ...row, method: request.method, retry };
    // The caller's signal holds for the body, too.
    const signal = init.signal ?? undefined;
    const scope = new AbortScope({ parents: [signal] });
    const input = { options: { signal: scope.signal } };
    const call = new Call({ state, settings, operation, input, key: undefined });
    const one: PendingRequest = { scope, call, isCancelled: false };
    if (id !== undefined) pending.set(id, one);
    try {
      return await execute(call, {
        prepare: () => request,
        async attempt(_, __, callSignal) {
          if (one.isCancelled) scope.abort(cancelledError());
          callSignal.throwIfAborted();
          return attempt(call, request, signal, callSignal);
        },
      });
    } finally {
      pending.delete(id);
      scope.dispose();
    }
  };
}

/**
 * Aborts a request that is cancelled before it was sent: it must not act when nobody awaits it any more. Returns
 * whether the service does not need the cancellation.
 */
function cancelPending(pending: ReadonlyMap<Message['id'], PendingRequest>, { cancels }: Message): boolean {
  const one = cancels === undefined ? undefined : pending.get(cancels);
  if (!one) return false;
  one.isCancelled = true;
  if (one.call.isInFlight) return false;
  one.scope.abort(cancelledError());
  return one.call.attempts === 0;
}

const cancelledError = (): DOMException =>
  new DOMException('The request was cancelled and is not sent again.', 'AbortError');

/** One attempt: token, permit, request. Returns the response as it came, or throws an {@link AttemptFailure}. */
async function attempt(
  call: Call,
  request: PreparedRequest,
  callerSignal: AbortSignal | undefined,
  signal: AbortSignal,
): Promise<Response> {
  const scope = await acquirePermit(call, signal);
  const received = await sendAttempt(call, signal, (timeout) => open(call, request, callerSignal, signal, timeout));
  const isForTransport = STATUSES_FOR_TRANSPORT.has(received.status);
  if (!isForTransport && !isSuccess(received.status)) {
    throw await handleRateLimit(call.fail(statusFailure(received, call)), call, scope, signal);
  }
  call.succeed();
  return isForTransport ? redacted(received, call.redactor) : received.response;
}

/** Sends the request; the body of a success is left unread, so `timeout` ends with the headers. */
async function open(
  { token, settings }: Call,
  { url, method, headers, body }: PreparedRequest,
  callerSignal: AbortSignal | undefined,
  signal: AbortSignal,
  timeout: number,
): Promise<ReceivedResponse> {
  const { fetch, fetchOptions, maxResponseBytes } = settings;
  const scope = new AbortScope({ parents: [signal], ms: timeout, reason: () => new AttemptTimeout() });
  // A caller who aborts the request aborts its stream as well.
  const lasting = callerSignal ? AbortSignal.any([callerSignal, scope.signal]) : scope.signal;
  const init = {
    ...fetchOptions,
    method,
    headers: { ...headers, authorization: `Bearer ${token}` },
    redirect: 'manual',
    signal: lasting,
    ...(body && { body }),
  } as const;
  try {
    const response = await abortable(fetch(url, init), scope.signal);
    const { status, headers: received } = response;
    if (isSuccess(status)) return { status, headers: received, text: '', response };
    return await abortable(readResponse(response, maxResponseBytes), scope.signal);
  } finally {
    scope.dispose();
  }
}

const isSuccess = (status: number): boolean => status >= 200 && status < 300;

/** Maximum length of an error body that is passed on, in UTF-16 units. */
const PASSED_ON_LIMIT = 65_536;

/** Returns an error for the transport to read, without secrets: its own errors quote the body. */
function redacted({ status, headers, text }: ReceivedResponse, redactor: Redactor): Response {
  const kept = redactor.headers(headers);
  // The body is not encoded any more, and has another length.
  for (const name of ['content-encoding', 'content-length']) kept.delete(name);
  return new Response(redactor.text(text, PASSED_ON_LIMIT), { status, headers: kept });
}

function bodyOf({ body }: RequestInit): string | undefined {
  if (body === undefined || body === null) return undefined;
  if (typeof body === 'string') return body;
  throw fetchError('sends strings only, as the official transports do.');
}

/** Returns the request to send. The token is sent to the endpoint only. */
function toRequest(url: URL, init: RequestInit, body: string | undefined, settings: Settings) {
  const endpoint = endpointOf(settings);
  const within = url.pathname === endpoint.pathname || url.pathname.startsWith(`${endpoint.pathname}/`);
  if (url.origin !== endpoint.origin || !within || url.username || url.password) {
    throw fetchError(`sends to ${endpoint} only, because the token must not be sent elsewhere.`);
  }
  const address = `${url.origin}${url.pathname}`;
  return {
    method: methodOf(init.method),
    url: `${address}${url.search}`,
    path: address.slice(settings.baseUrl.length),
    headers: { ...settings.headers, ...headersOf(init) },
    ...(body !== undefined && { body: new TextEncoder().encode(body) }),
  };
}

/** The service requires `application/json` in every `Accept` ("Request rules", rule 3), also for a stream. */
function headersOf(init: RequestInit): Record<string, string> {
  const headers = new Headers(init.headers);
  if (!headers.get('accept')?.includes('application/json')) headers.append('accept', 'application/json');
  return Object.fromEntries(headers);
}

function methodOf(method = 'GET'): 'GET' | 'POST' | 'DELETE' {
  if (method === 'GET' || method === 'POST' || method === 'DELETE') return method;
  throw fetchError('sends GET, POST and DELETE only.');
}

const fetchError = (what: string): ConfigurationError => new ConfigurationError(`The \`fetch\` of connectMcp ${what}`);
