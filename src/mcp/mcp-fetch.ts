import { PassedCall, type Transport } from '../client/index.ts';
import { ConfigurationError } from '../errors/audience-error.ts';
import { type Message, readMessage } from './message.ts';

/** The `fetch` of an MCP transport. */
export type McpFetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/** Statuses that the official transports handle: JSON-RPC error (400), unknown session (404), no stream (405). */
const STATUSES_FOR_TRANSPORT: ReadonlySet<number> = new Set([400, 404, 405]);

export function endpointOf({ baseUrl, operations }: Transport['settings']): URL {
  return new URL(`${baseUrl}${operations['mcp.send'].path}`);
}

/**
 * Creates a `fetch` for the MCP endpoint only, with the token, the rate limits, the retries and the errors of this
 * package. Does not read the body of a 2xx response, because it may be a stream.
 */
export function createMcpFetch(transport: Transport): McpFetch {
  const { settings } = transport;
  const pending = new Map<Message['id'], PassedCall>();
  return async (url, init = {}) => {
    const body = bodyOf(init);
    const { id, acts, cancels } = readMessage(body);
    const cancelled = cancels === undefined ? undefined : pending.get(cancels);
    // Do not send the cancellation of a request that was never sent.
    if (cancelled?.cancel(cancelledError())) return new Response(null, { status: 202 });
    const request = toRequest(new URL(url), init, body, settings);
    const row = settings.operations['mcp.send'];
    const retry = row.override?.retry ?? (acts ? 'never' : 'always');
    const operation = { ...row, method: request.method, retry };
    const signal = init.signal ?? undefined;
    const call = new PassedCall(transport, { operation, request, signal, passedStatuses: STATUSES_FOR_TRANSPORT });
    if (id !== undefined) pending.set(id, call);
    try {
      return await call.send();
    } finally {
      pending.delete(id);
    }
  };
}

const cancelledError = (): DOMException =>
  new DOMException('The request was cancelled, so the client does not send it.', 'AbortError');

function bodyOf({ body }: RequestInit): string | undefined {
  if (body === undefined || body === null) return undefined;
  if (typeof body === 'string') return body;
  throw fetchError(`sends only strings as bodies, not ${Object.prototype.toString.call(body)}.`);
}

/** Returns the request to send. Throws for a URL other than the endpoint, which must not receive the token. */
function toRequest(url: URL, init: RequestInit, body: string | undefined, settings: Transport['settings']) {
  const endpoint = endpointOf(settings);
  const within = url.pathname === endpoint.pathname || url.pathname.startsWith(`${endpoint.pathname}/`);
  if (url.origin !== endpoint.origin || !within || url.username || url.password) {
    throw fetchError(`does not send to ${url.origin}${url.pathname}, because only ${endpoint} may receive the token.`);
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
 * Returns the headers to send. Adds `application/json` to `Accept`, which the service requires in every request
 * (specification, "Request rules", rule 3).
 */
function headersOf(init: RequestInit): Record<string, string> {
  const headers = new Headers(init.headers);
  if (!headers.get('accept')?.includes('application/json')) headers.append('accept', 'application/json');
  return Object.fromEntries(headers);
}

function methodOf(method = 'GET'): 'GET' | 'POST' | 'DELETE' {
  if (method === 'GET' || method === 'POST' || method === 'DELETE') return method;
  throw fetchError(`sends only GET, POST and DELETE, not ${method}.`);
}

const fetchError = (what: string): ConfigurationError =>
  new ConfigurationError(`The \`fetch\` of \`connectMcp\` ${what}`);
