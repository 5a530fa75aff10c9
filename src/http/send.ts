import { abortable } from '../util/abort.ts';
import { part } from '../util/part.ts';
import { DEEPEST_CAUSE } from '../util/redact.ts';
import type { PreparedRequest } from './request.ts';

/** Loading ky takes Node longer than all else here, because it tries out the platform's requests: it waits for the first call. */
export const sending = part('ky', () => import('ky'));

/** A complete answer: its body has arrived. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Whether the body was larger than `maxResponseBytes`; `text` is its beginning then. */
  readonly cut?: boolean;
  /** The answer itself, its body read. */
  readonly response: Response;
}

/** The `fetch` that requests go through. */
export type Fetch = (input: Request | URL | string, init?: RequestInit) => Promise<Response>;

/** The platform's own, looked up late: one that was replaced after the client was created is used. */
export const platformFetch: Fetch = (input, init) => globalThis.fetch(input, init);

/** ky's own retry, timeout and error throwing are off. */
const ONCE = { retry: 0, throwHttpErrors: false, timeout: false } as const;

/** Options of `fetch` that a user may set; the SDK's own win. */
export type FetchOptions = Omit<RequestInit, 'body' | 'headers' | 'method' | 'redirect' | 'signal' | 'window'>;

/** How requests are sent. */
export interface SendOptions {
  readonly fetch: Fetch;
  readonly fetchOptions: FetchOptions;
  readonly maxResponseBytes: number;
}

/** The connection failed after the response had begun: the request has reached the service, whatever the error says. */
export class BodyFailure extends Error {
  override readonly name = 'BodyFailure';
}

/**
 * Sends one attempt and reads its whole body: the way of every API call but those of MCP, which {@link open} sends.
 * `life` covers the body, too.
 */
export function send(
  request: PreparedRequest,
  token: string | undefined,
  life: AbortSignal,
  options: SendOptions,
): Promise<Answer> {
  // A `fetch` may ignore the signal, also one that replaced the platform's; the call ends all the same.
  return abortable(exchange(request, token, life, options), life);
}

/**
 * As {@link send}, for an answer whose body may be a stream without an end: it is left to be read. `life` ends with the
 * headers, `signal` holds for the body, too.
 */
export function open(
  request: PreparedRequest,
  token: string | undefined,
  { life, signal }: { readonly life: AbortSignal; readonly signal: AbortSignal },
  { fetch, fetchOptions }: Omit<SendOptions, 'maxResponseBytes'>,
): Promise<Response> {
  const sent = async (): Promise<Response> => fetch(request.url, initOf(request, token, signal, fetchOptions));
  return abortable(sent(), life);
}

function initOf(
  { method, headers, body }: PreparedRequest,
  token: string | undefined,
  signal: AbortSignal,
  fetchOptions: FetchOptions,
): RequestInit {
  return {
    ...fetchOptions,
    method,
    headers: token === undefined ? headers : { ...headers, authorization: `Bearer ${token}` },
    redirect: 'manual',
    signal,
    ...(body && { body }),
  };
}

async function exchange(
  request: PreparedRequest,
  token: string | undefined,
  signal: AbortSignal,
  { fetch, fetchOptions, maxResponseBytes }: SendOptions,
): Promise<Answer> {
  const { default: ky, isNetworkError } = sending.loaded ?? (await sending.load());
  const { method, url } = request;
  const init = initOf(request, token, signal, fetchOptions);
  let hasResponse = false;
  // What is sent goes to `fetch` itself: a `Request` of the platform is none to another `fetch`, and costs a copy.
  const sendOnce = async (): Promise<Response> => {
    const response = await fetch(url, init);
    hasResponse = true;
    return response;
  };
  try {
    const response = await ky(url, { method, ...ONCE, fetch: sendOnce });
    const { status, headers } = response;
    if (typeof headers?.get !== 'function') throw new TypeError('`fetch` must resolve with a `Response`.');
    return { status, headers, ...(await readBody(response, maxResponseBytes)), response };
  } catch (error) {
    // ky wraps what `fetch` threw together with the request, bearer included: only its cause is kept.
    const cause = isNetworkError(error) ? error.cause : error;
    throw hasResponse && !(cause instanceof BodyFailure)
      ? new BodyFailure('The response is not one.', { cause })
      : cause;
  }
}

/**
 * Reads a body as text, up to `maxBytes` after decompression: a small response can become a large body.
 *
 * @throws {BodyFailure} when the connection fails.
 */
export async function readBody(response: Response, maxBytes: number): Promise<Pick<Answer, 'text' | 'cut'>> {
  try {
    return await read(response, maxBytes);
  } catch (cause) {
    throw new BodyFailure('The body did not arrive.', { cause });
  }
}

async function read(response: Response, maxBytes: number): Promise<Pick<Answer, 'text' | 'cut'>> {
  if (!response.body) {
    // Without streams, reading cannot stop early.
    const text = await response.text();
    return text.length > maxBytes ? { text: text.slice(0, maxBytes), cut: true } : { text };
  }
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return { text: text + decoder.decode() };
    bytes += value.byteLength;
    if (bytes > maxBytes) {
      reader.cancel().catch(() => {});
      return { text, cut: true };
    }
    text += decoder.decode(value, { stream: true });
  }
}

/** System calls that precede the first byte of a request. */
const BEFORE_SENDING: ReadonlySet<unknown> = new Set(['connect', 'getaddrinfo']);

/** Errors before the first byte, by code: no connection (Node, Bun), no TLS, an untrusted certificate, options that undici refuses. */
const NEVER_SENT =
  /^(?:UND_ERR_CONNECT_TIMEOUT|UND_ERR_INVALID_ARG|ECONNREFUSED|ENOTFOUND|ConnectionRefused|FailedToOpenSocket)$|WRONG_VERSION_NUMBER|PROTOCOL_VERSION|HANDSHAKE_FAILURE|CERT|SELF_SIGNED|UNABLE_TO_VERIFY/;

/** Alerts about the client's certificate arrive after the request has left (TLS 1.3). */
const AFTER_SENDING = /ALERT_\w*CERTIFICATE/;

/** Whether a failed `fetch` surely did not reach the service. Browsers do not tell, so there it is `false`. */
export function surelyNotSent(error: unknown, depth = 0): boolean {
  if (!(error instanceof Error) || error instanceof BodyFailure || depth > DEEPEST_CAUSE) return false;
  if ('syscall' in error && BEFORE_SENDING.has(error.syscall)) return true;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  if (NEVER_SENT.test(code) && !AFTER_SENDING.test(code)) return true;
  // `fetch` refuses some ports by itself; Deno names the step that failed in its message alone.
  if (error.message === 'bad port' || error.message.includes('client error (Connect)')) return true;
  if (error instanceof AggregateError && error.errors.length > 0)
    return error.errors.every((one) => surelyNotSent(one, depth + 1));
  return surelyNotSent(error.cause, depth + 1);
}
