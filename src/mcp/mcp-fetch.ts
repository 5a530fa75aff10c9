import type { PreparedRequest, Settings, Transport } from '../client/index.ts';
import {
  AttemptTimeout,
  acquirePermit,
  CallRecord,
  execute,
  handleRateLimit,
  type ReceivedResponse,
  readResponse,
  sendAttempt,
  statusFailure,
} from '../client/index.ts';
import { ConfigurationError } from '../errors/audience-error.ts';
import { AbortScope, abortable } from '../util/abort.ts';
import type { Redactor } from '../util/redact.ts';
import { type Message, readMessage } from './message.ts';

/** The `fetch` of an MCP transport. */
export type McpFetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/** Statuses that the official transports handle: a JSON-RPC error (400), an unknown session (404), no stream (405). */
const STATUSES_FOR_TRANSPORT: ReadonlySet<number> = new Set([400, 404, 405]);

/** A request whose response has not arrived. */
interface PendingRequest {
  readonly scope: AbortScope;
  readonly call: CallRecord;
  /** True if the MCP client has cancelled the request, which is then not sent again. */
  isCancelled: boolean;
}

/** Returns the address of the MCP endpoint. */
export function endpointOf({ baseUrl, operations }: Settings): URL {
  return new URL(`${baseUrl}${operations['mcp.send'].path}`);
}

/**
 * Creates a `fetch` for the MCP endpoint only, with the token, the rate limits, the retries and the errors of this
 * package. Does not read the body of a 2xx response, because it may be a stream.
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
    // The caller's signal also aborts reading the body, after `scope` is disposed.
    const signal = init.signal ?? undefined;
    const scope = new AbortScope({ parents: [signal] });
    const input = { request, options: { signal: scope.signal } };
    const call = new CallRecord({ state, settings, operation, input, key: undefined });
    const pendingRequest: PendingRequest = { scope, call, isCancelled: false };
    if (id !== undefined) pending.set(id, pendingRequest);
    try {
      return await execute(call, (_call, _request, callSignal) => {
        if (pendingRequest.isCancelled) scope.abort(cancelledError());
        callSignal.throwIfAborted();
        return attempt(call, request, signal, callSignal);
      });
    } finally {
      pending.delete(id);
      scope.dispose();
    }
  };
}

/**
 * Cancels the request that a message names: aborts it unless it is in flight, and prevents retries. Returns true if the
 * request was never sent, so that the service does not need the message.
 */
function cancelPending(pending: ReadonlyMap<Message['id'], PendingRequest>, { cancels }: Message): boolean {
  const cancelled = cancels === undefined ? undefined : pending.get(cancels);
  if (!cancelled) return false;
  cancelled.isCancelled = true;
  if (cancelled.call.isInFlight) return false;
  cancelled.scope.abort(cancelledError());
  return cancelled.call.attempts === 0;
}

const cancelledError = (): DOMException =>
  new DOMException('The request was cancelled and is not sent again.', 'AbortError');

/**
 * Makes one attempt of a call: gets a token and a permit, and sends the request. Returns the response for the
 * transport, or throws an {@link AttemptFailure}.
 */
async function attempt(
  call: CallRecord,
  request: PreparedRequest,
  callerSignal: AbortSignal | undefined,
  signal: AbortSignal,
): Promise<Response> {
  const { scope } = await acquirePermit(call, signal);
  const received = await sendAttempt(call, signal, (timeout) => open(call, request, callerSignal, signal, timeout));
  const isForTransport = STATUSES_FOR_TRANSPORT.has(received.status);
  if (!isForTransport && !isSuccess(received.status)) {
    throw await handleRateLimit(call.fail(statusFailure(received, call)), call, scope, signal);
  }
  call.isInFlight = false;
  call.isDone = true;
  return isForTransport ? redacted(received, call.redactor) : received.response;
}

/** Sends the request. Does not read the body of a 2xx response, so `timeout` covers only the time until its headers. */
async function open(
  { token, settings, observer }: CallRecord,
  { url, method, headers, body }: PreparedRequest,
  callerSignal: AbortSignal | undefined,
  signal: AbortSignal,
  timeout: number,
): Promise<ReceivedResponse> {
  const { fetchOptions, maxResponseBytes } = settings;
  const fetch = observer?.fetch ?? settings.fetch;
  const scope = new AbortScope({ parents: [signal], ms: timeout, reason: () => new AttemptTimeout() });
  // Outlives `scope`: a caller's abort must also abort the response's stream.
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

/** Maximum length of an error body that is passed to the transport, in UTF-16 units. */
const PASSED_ON_LIMIT = 65_536;

/** Returns an error response without secrets, because errors of the transport quote its body. */
function redacted({ status, headers, text }: ReceivedResponse, redactor: Redactor): Response {
  const kept = redactor.headers(headers);
  // The body is decoded already and may have another length.
  for (const name of ['content-encoding', 'content-length']) kept.delete(name);
  return new Response(redactor.text(text, PASSED_ON_LIMIT), { status, headers: kept });
}

function bodyOf({ body }: RequestInit): string | undefined {
  if (body === undefined || body === null) return undefined;
  if (typeof body === 'string') return body;
  throw fetchError('sends strings only, as the official transports do.');
}

/** Returns the request to send; throws for a URL outside the endpoint, because the token must not be sent elsewhere. */
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

/**
 * Returns the headers to send. Adds `application/json` to `Accept`, which the service requires in every request, also
 * in one for a stream (specification, "Request rules", rule 3).
 */
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
