import ky, { isNetworkError } from 'ky';
import { AbortScope } from '../../util/abort.ts';
import { isSameHost } from '../../util/loopback.ts';
import { MAX_CAUSE_DEPTH } from '../../util/redact.ts';
import { isServerRuntime } from '../../util/runtime.ts';
import type { PreparedRequest } from './request.ts';

/** A response whose body has arrived. */
export interface ReceivedResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** True if the body was larger than `maxResponseBytes`; `text` is its beginning then. */
  readonly isTruncated?: boolean;
  /** The response itself, its body read. */
  readonly response: Response;
}

/** The `fetch` that requests go through. */
export type Fetch = (input: Request | URL | string, init?: RequestInit) => Promise<Response>;

/** Calls the platform's `fetch`, looked up at each call: a replacement made after the client was created is used. */
export const platformFetch: Fetch = (input, init) => globalThis.fetch(input, init);

/** Options of `fetch` that a user may set. The client's own options take precedence. */
export type FetchOptions = Omit<RequestInit, 'body' | 'headers' | 'method' | 'redirect' | 'signal' | 'window'>;

/** Options of `fetch` that {@link FetchOptions} must not contain. */
export const OWN_FETCH_OPTIONS: readonly string[] = ['body', 'headers', 'method', 'redirect', 'signal', 'window'];

/** How requests are sent. */
export interface SendOptions {
  readonly fetch: Fetch;
  readonly fetchOptions: FetchOptions;
  readonly maxResponseBytes: number;
  /** Milliseconds until the entire body has arrived. */
  readonly timeout: number;
}

/** Reading the body failed. The request reached the service, whatever `cause` says. */
export class BodyError extends Error {
  override readonly name = 'BodyError';
}

/** The attempt took longer than `timeout`. */
export class AttemptTimeout extends Error {
  override readonly name = 'AttemptTimeout';
}

/** Keeps responses out of every cache of the runtime: a poll that a cache answers would never see its job end. */
let noStore: Pick<RequestInit, 'cache'> | undefined;

/** Returns whether the runtime knows the option: Workers with a compatibility date before 2024-11-11 throw. */
function knowsNoStore(): boolean {
  try {
    return new Request('http://localhost', { cache: 'no-store' }).cache === 'no-store';
  } catch {
    return false;
  }
}

/**
 * Sends a request once and reads its entire body, both within `timeout`.
 *
 * @throws {AttemptTimeout | BodyError} or the signal's reason, or the error that `fetch` rejected with.
 */
export async function send(
  request: PreparedRequest,
  token: string | undefined,
  signal: AbortSignal,
  options: SendOptions,
): Promise<ReceivedResponse> {
  const { fetch, fetchOptions, maxResponseBytes, timeout } = options;
  const { method, url, body } = request;
  const headers = token === undefined ? request.headers : { ...request.headers, authorization: `Bearer ${token}` };
  const scope = new AbortScope({ parents: [signal], ms: timeout });
  let received: ReceivedResponse | undefined;
  noStore ??= knowsNoStore() ? { cache: 'no-store' } : {};
  // Not every custom `fetch` accepts the `Request` that ky builds: pass the URL and plain options.
  const init = { method, headers, signal: scope.signal, redirect: 'manual', ...(body && { body }) } as const;
  const fetchOnce = async (): Promise<Response> => {
    const response = await fetch(url, { ...noStore, ...fetchOptions, ...init });
    received = await readResponse(response, maxResponseBytes);
    return response;
  };
  try {
    // Settle on abort even if `fetch` ignores the signal.
    await scope.race(ky(url, { timeout: false, retry: 0, throwHttpErrors: false, fetch: fetchOnce }));
  } catch (error) {
    if (scope.signal.aborted && !signal.aborted) throw new AttemptTimeout();
    // ky's errors contain the request: keep only the cause.
    if (!received) throw isNetworkError(error) ? error.cause : error;
  } finally {
    scope.dispose();
  }
  if (!received) throw new TypeError('`fetch` was not called.');
  return received;
}

/**
 * Reads a response and up to `maxBytes` of its body, counted after decompression: a small response can be a large body.
 *
 * @throws {BodyError} if the response cannot be read.
 */
export async function readResponse(response: Response, maxBytes: number): Promise<ReceivedResponse> {
  try {
    if (typeof response?.headers?.get !== 'function') throw new TypeError('`fetch` must resolve with a `Response`.');
    const { status, headers, body } = response;
    // Fail here if the headers of a custom `fetch` throw: where they are read later, no error is expected.
    headers.get('date');
    if (!body) {
      // Without a stream, reading cannot stop early.
      const text = await response.text();
      return { status, headers, response, text: text.slice(0, maxBytes), isTruncated: text.length > maxBytes };
    }
    const reader = body.getReader();
    const decoder = new TextDecoder();
    let text = '';
    let bytes = 0;
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return { status, headers, response, text: text + decoder.decode() };
      bytes += value.byteLength;
      if (bytes > maxBytes) {
        reader.cancel().catch(() => {});
        return { status, headers, response, text, isTruncated: true };
      }
      text += decoder.decode(value, { stream: true });
    }
  } catch (cause) {
    throw new BodyError('The response cannot be read.', { cause });
  }
}

/** System calls that precede the first byte of a request. */
const SYSCALLS_BEFORE_SENDING: ReadonlySet<unknown> = new Set(['connect', 'getaddrinfo']);

/**
 * Codes of errors before the first byte: a failed connection (Node, Bun) or TLS handshake, an untrusted certificate,
 * options that undici refuses.
 */
const CODES_BEFORE_SENDING =
  /^(?:UND_ERR_CONNECT_TIMEOUT|UND_ERR_INVALID_ARG|ECONNREFUSED|ENOTFOUND|ConnectionRefused|FailedToOpenSocket)$|WRONG_VERSION_NUMBER|PROTOCOL_VERSION|HANDSHAKE_FAILURE|UNRECOGNIZED_NAME|INSUFFICIENT_SECURITY|NO_APPLICATION_PROTOCOL|INAPPROPRIATE_FALLBACK|CERT|SELF_SIGNED|UNABLE_TO_VERIFY/;

/** Alerts about the client's certificate arrive after the request has left (TLS 1.3). */
const CODES_AFTER_SENDING = /ALERT_\w*CERTIFICATE/;

/** Message of undici, also within Node's `fetch`, when a proxy refuses the tunnel to the service. */
const PROXY_REFUSAL = /^Proxy response \(\d+\) !== 200 when HTTP Tunneling/;

/** Errors of calls that may have sent something, although they look like a failed connection. */
const MAYBE_SENT = new WeakSet<Error>();

/**
 * Returns whether a failed `fetch` certainly sent nothing. Browsers do not report it, so there it is `false`.
 *
 * @param address If set, the error must name it.
 */
export function isNotSent(error: unknown, address?: string, depth = 0): boolean {
  if (!(error instanceof Error) || error instanceof BodyError || MAYBE_SENT.has(error)) return false;
  if (depth > MAX_CAUSE_DEPTH) return false;
  if (precedesSending(error)) return address === undefined || namesAddress(error, address);
  if (error instanceof AggregateError && error.errors.length > 0)
    return error.errors.every((inner) => isNotSent(inner, address, depth + 1));
  return isNotSent(error.cause, address, depth + 1);
}

function precedesSending(error: Error): boolean {
  if ('syscall' in error && SYSCALLS_BEFORE_SENDING.has(error.syscall)) return true;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  if (CODES_BEFORE_SENDING.test(code) && !CODES_AFTER_SENDING.test(code)) return true;
  // `fetch` refuses some ports. Deno names the failed step only in its message.
  const { message } = error;
  return message === 'bad port' || message.includes('client error (Connect)') || PROXY_REFUSAL.test(message);
}

/** Messages with which V8, JavaScriptCore, SpiderMonkey and this package report a mistake in a program. */
const MISTAKE = /is not (?:a |an |iterable)|is (?:undefined|null)\b|^(?:Cannot |can't access|`fetch` must)/;

/**
 * Returns whether a `fetch` failed because of a mistake in its own code, which another attempt would repeat. The request
 * may have been sent.
 */
export function isMistake(error: unknown): boolean {
  if (error instanceof ReferenceError || error instanceof RangeError) return true;
  return error instanceof TypeError && !error.cause && MISTAKE.test(error.message);
}

/** Messages of a `fetch` without a response in Chromium, Firefox and Safari, which hide the reason from pages. */
const HIDDEN_REASON = /^(?:Failed to fetch|NetworkError when attempting to fetch resource|Load failed)/;

/** Returns why a `fetch` may have got no response from `server` in a browser; `undefined` for any other failure. */
export function hiddenReason({ message }: Error, server: string): string | undefined {
  if (isServerRuntime || !HIDDEN_REASON.test(message)) return undefined;
  if (navigator.onLine === false) return 'the device is offline';
  return `the connection failed, or ${server} does not allow requests from this origin (CORS)`;
}

/** Returns why a `fetch` failed. Node reports "fetch failed" only, with the reason as the deepest cause. */
export function reasonOf(error: Error): string {
  if (error.message !== 'fetch failed') return error.message.trim();
  let deepest = error;
  for (let inner: unknown = error; inner instanceof Error; ) {
    deepest = inner;
    inner = inner instanceof AggregateError ? inner.errors[0] : inner.cause;
  }
  const { message } = deepest;
  return PROXY_REFUSAL.test(message)
    ? `${message}. The proxy refused the connection: check its credentials and its rules`
    : message.trim();
}

/**
 * Returns whether a system error is about a connection to the host of `address`, and to its port if the error names
 * one.
 */
function namesAddress(error: Error, address: string): boolean {
  const url = new URL(address);
  const { hostname, host, address: ip, port }: Readonly<Record<string, unknown>> = { ...error };
  const expectedPort = url.port || (url.protocol === 'https:' ? '443' : '80');
  const isNamed = [hostname, host, ip].some((name) => typeof name === 'string' && isSameHost(name, url));
  return isNamed && (port === undefined || String(port) === expectedPort);
}

/**
 * Returns the user's `fetch`, or the `fetch` of the platform. A failure of the user's `fetch` counts as not sent only
 * if the error names the address of the request, because the function may use other connections.
 */
export function fetchOf(fetch?: Fetch): Fetch {
  if (!fetch) return platformFetch;
  return async (input, init) => {
    try {
      return await fetch(input, init);
    } catch (error) {
      const isUnsent = isNotSent(error, input instanceof Request ? input.url : String(input));
      throw isUnsent ? error : markSent(error);
    }
  };
}

/**
 * Returns `wrap(fetch)`. Its failure counts as not sent only if it has called `fetch`, and each of these calls failed
 * before sending.
 */
export function wrappedFetch(fetch: Fetch, wrap: (fetch: Fetch) => Fetch): Fetch {
  let calls = 0;
  let unsent = 0;
  const wrapped = wrap(async (input, init) => {
    calls++;
    try {
      return await fetch(input, init);
    } catch (error) {
      if (isNotSent(error)) unsent++;
      throw error;
    }
  });
  return async (input, init) => {
    try {
      return await wrapped(input, init);
    } catch (error) {
      throw calls > 0 && calls === unsent ? error : markSent(error);
    }
  };
}

/** Returns an error of a request that may have been sent, marked as one. */
function markSent(error: unknown): unknown {
  if (error instanceof Error) MAYBE_SENT.add(error);
  return error;
}
