import { fingerprint } from '../auth/token-source.ts';
import { ConfigurationError } from '../errors/audience-error.ts';
import { admit, bearer, type Call, exchange, factsOf, fail, heed, redactorOf } from '../http/attempt.ts';
import { carryOut } from '../http/call.ts';
import type { ClientState } from '../http/client-state.ts';
import type { PreparedRequest } from '../http/request.ts';
import type { Settings } from '../http/request-options.ts';
import { statusFailure } from '../http/response-errors.ts';
import { type Answer, open, readBody } from '../http/send.ts';
import type { ResolvedOperation } from '../spec/operations.ts';
import { AbortScope, abortable } from '../util/abort.ts';
import { captureCallSite } from '../util/call-site.ts';
import type { Redactor } from '../util/redact.ts';
import { type Message, readMessage } from './message.ts';

/** The `fetch` of an MCP transport. */
export type McpFetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/** Errors that the official transports read by themselves: no stream to open, no such session, an error of JSON-RPC. */
const FOR_TRANSPORT: ReadonlySet<number> = new Set([400, 404, 405]);

/** One request of the transport's. */
interface Sending {
  readonly operation: ResolvedOperation;
  readonly request: PreparedRequest;
  /** The caller's; holds for the body, too. */
  readonly signal: AbortSignal | undefined;
}

/** A request that has no answer yet. */
interface Waiting {
  readonly life: AbortScope;
  call?: Call;
  /** Given up while it was on its way: it is not sent again. */
  cancelled?: boolean;
}

/** The address of the MCP endpoint. */
export function endpointOf({ baseUrl, operation }: Settings): URL {
  return new URL(`${baseUrl}${operation('mcp.send').path}`);
}

/**
 * A `fetch` for the MCP endpoint alone: token, slot, repeats and errors are those of every call; the body of an
 * answer is passed on unread, because it may be a stream.
 */
export function createMcpFetch(state: ClientState, settings: Settings): McpFetch {
  const waiting = new Map<Message['id'], Waiting>();
  return async (url, init = {}) => {
    const site = captureCallSite();
    const body = bodyOf(init);
    const message = readMessage(body);
    if (giveUp(waiting, message)) return new Response(null, { status: 202 });
    const sending = sendingOf(new URL(url), init, body, message, settings);
    const { operation, request } = sending;
    const { id } = message;
    const one: Waiting = { life: new AbortScope({ parent: sending.signal }) };
    if (id !== undefined) waiting.set(id, one);
    const input = { options: { signal: one.life.signal } };
    const plan = { state, settings, operation, input, key: undefined, site };
    const once = (call: Call): Promise<Response> => {
      one.call = call;
      if (one.cancelled) one.life.abort(cancelled());
      call.signal.throwIfAborted();
      return attempt(call, sending);
    };
    try {
      return await carryOut(plan, { prepare: () => request, attempt: once });
    } finally {
      waiting.delete(id);
      one.life.dispose();
    }
  };
}

/**
 * Ends a request that is cancelled while it waits to be sent: it must not act when nobody awaits it any more. Tells
 * whether the service need not hear of it.
 */
function giveUp(waiting: ReadonlyMap<Message['id'], Waiting>, { cancels }: Message): boolean {
  const one = cancels === undefined ? undefined : waiting.get(cancels);
  if (!one) return false;
  one.cancelled = true;
  if (one.call?.inFlight) return false;
  one.life.abort(cancelled());
  return (one.call?.attempts ?? 0) === 0;
}

const cancelled = (): DOMException =>
  new DOMException('The request was cancelled, and is not sent again.', 'AbortError');

/** One attempt: token, slot, request. The answer as it came, or an {@link AttemptFailure}. */
async function attempt(call: Call, { signal }: Sending): Promise<Response> {
  const { settings, request } = call;
  call.token = await bearer(call, 'mcp');
  const scope = fingerprint(call.token);
  await admit(call, scope);
  const answer = await exchange(call, async (own): Promise<Answer> => {
    // The time for an attempt ends with the headers; whoever gives up the request gives up its stream as well.
    const lasting = signal ? AbortSignal.any([signal, own]) : own;
    const response = await open(request, call.token, { life: own, signal: lasting }, settings);
    const { status, headers } = response;
    const body = isSuccess(status) ? { text: '' } : await abortable(readBody(response, settings.maxResponseBytes), own);
    return { status, headers, response, ...body };
  });
  const forTransport = FOR_TRANSPORT.has(answer.status);
  const failure = forTransport ? undefined : statusFailure(answer, factsOf(call));
  if (failure) throw await heed(fail(call, failure), call, scope);
  call.inFlight = false;
  return forTransport ? redacted(answer, redactorOf(call)) : answer.response;
}

const isSuccess = (status: number): boolean => status >= 200 && status < 300;

/** How much of an error that is passed on is kept, in UTF-16 units. */
const PASSED_ON_LIMIT = 65_536;

/** Returns an error for the transport to read: its own errors repeat the body, in which a service may repeat the token. */
function redacted({ status, headers, text }: Answer, redactor: Redactor): Response {
  const kept = redactor.headers(headers);
  // The body is not encoded any more, and has another length.
  for (const name of ['content-encoding', 'content-length']) kept.delete(name);
  return new Response(redactor.text(text, PASSED_ON_LIMIT), { status, headers: kept });
}

function bodyOf({ body }: RequestInit): string | undefined {
  if (body === undefined || body === null) return undefined;
  if (typeof body === 'string') return body;
  throw refusal('sends texts only, as the official transports do.');
}

/** The request to send; refused unless it goes to the endpoint: the token is for nobody else. */
function sendingOf(
  url: URL,
  init: RequestInit,
  body: string | undefined,
  { acts }: Message,
  settings: Settings,
): Sending {
  const endpoint = endpointOf(settings);
  const within = url.pathname === endpoint.pathname || url.pathname.startsWith(`${endpoint.pathname}/`);
  if (url.origin !== endpoint.origin || !within || url.username || url.password) {
    throw refusal(`sends to ${endpoint} only: the token does not leave it.`);
  }
  const method = methodOf(init.method);
  const row = settings.operation('mcp.send');
  return {
    operation: {
      ...row,
      method,
      retry: row.override?.retry ?? (acts ? 'never' : 'always'),
      startsJob: false,
      token: 'mcp',
    },
    request: {
      method,
      url: `${url.origin}${url.pathname}${url.search}`,
      path: url.pathname.slice(new URL(settings.baseUrl).pathname.replace(/\/$/, '').length),
      headers: { ...settings.headers, ...headersOf(init) },
      ...(body !== undefined && { body: new TextEncoder().encode(body) }),
    },
    signal: init.signal ?? undefined,
  };
}

/** The service wants to read `application/json` in every `Accept` ("Request rules", rule 3), also of a request for a stream. */
function headersOf(init: RequestInit): Record<string, string> {
  const headers = new Headers(init.headers);
  const accept = headers.get('accept');
  if (!accept?.includes('application/json'))
    headers.set('accept', [accept, 'application/json'].filter(Boolean).join(', '));
  return Object.fromEntries(headers);
}

function methodOf(method = 'GET'): 'GET' | 'POST' | 'DELETE' {
  if (method === 'GET' || method === 'POST' || method === 'DELETE') return method;
  throw refusal('sends GET, POST and DELETE only.');
}

const refusal = (what: string): ConfigurationError => new ConfigurationError(`The \`fetch\` of connectMcp ${what}`);
