import ky, { isNetworkError, isTimeoutError } from 'ky';
import { abortable } from '../util/abort.ts';
import { MAX_CAUSE_DEPTH } from '../util/redact.ts';
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

/** The platform's own, looked up at the call: one that was replaced after the client was created is used. */
export const platformFetch: Fetch = (input, init) => globalThis.fetch(input, init);

/** Options of `fetch` that a user may set; the SDK's own win. */
export type FetchOptions = Omit<RequestInit, 'body' | 'headers' | 'method' | 'redirect' | 'signal' | 'window'>;

/** How requests are sent. */
export interface SendOptions {
  readonly fetch: Fetch;
  readonly fetchOptions: FetchOptions;
  readonly maxResponseBytes: number;
  /** Milliseconds until the entire body has arrived. */
  readonly timeout: number;
}

/** The connection failed after the response had begun: the request has reached the service, whatever the error says. */
export class BodyError extends Error {
  override readonly name = 'BodyError';
}

/** The attempt took longer than `timeout`. */
export class AttemptTimeout extends Error {
  override readonly name = 'AttemptTimeout';
}

/** The longest timeout that ky takes, some 24 days; a longer one is none. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

/**
 * Sends a request once and reads its entire body, both within `timeout`.
 *
 * @throws {AttemptTimeout} {@link BodyError}, the signal's reason, or what `fetch` rejected with.
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
  let received: ReceivedResponse | undefined;
  try {
    await ky(url, {
      method,
      headers,
      ...(body && { body }),
      signal,
      timeout: timeout > MAX_TIMEOUT_MS ? false : timeout,
      retry: 0,
      throwHttpErrors: false,
      // A `Request` or `Headers` of the platform is not accepted by every `fetch`, so it gets URL and plain options.
      async fetch(input) {
        const built = input as Request; // ky always passes the request that it has built
        const init = { method, headers, signal: built.signal, redirect: 'manual', ...(body && { body }) } as const;
        // A `fetch` may ignore the signal. ky clears its timer when this settles.
        const response = await abortable(fetch(url, { ...fetchOptions, ...init }), signal);
        received = await abortable(readResponse(response, maxResponseBytes), signal);
        return response;
      },
    });
  } catch (error) {
    // ky's errors hold the request, bearer included: only the cause is kept.
    if (isTimeoutError(error)) throw new AttemptTimeout();
    if (!received) throw isNetworkError(error) ? error.cause : error;
  }
  if (!received) throw new TypeError('`fetch` was not called.');
  return received;
}

/**
 * Reads a response, its body up to `maxBytes` after decompression: a small response can become a large body.
 *
 * @throws {BodyError} when the connection fails.
 */
export async function readResponse(response: Response, maxBytes: number): Promise<ReceivedResponse> {
  try {
    const { status, headers, body } = response;
    if (typeof headers?.get !== 'function') throw new TypeError('`fetch` must resolve with a `Response`.');
    // The headers of a user's `fetch` may throw; later they are read where no error is expected.
    headers.get('date');
    if (!body) {
      // Without streams, reading cannot stop early.
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

/** Codes of errors before the first byte: no connection (Node, Bun), no TLS, an untrusted certificate, options that undici refuses. */
const CODES_BEFORE_SENDING =
  /^(?:UND_ERR_CONNECT_TIMEOUT|UND_ERR_INVALID_ARG|ECONNREFUSED|ENOTFOUND|ConnectionRefused|FailedToOpenSocket)$|WRONG_VERSION_NUMBER|PROTOCOL_VERSION|HANDSHAKE_FAILURE|CERT|SELF_SIGNED|UNABLE_TO_VERIFY/;

/** Alerts about the client's certificate arrive after the request has left (TLS 1.3). */
const CODES_AFTER_SENDING = /ALERT_\w*CERTIFICATE/;

/** Returns whether a failed `fetch` certainly sent nothing. Browsers do not report it, so there it is `false`. */
export function isNotSent(error: unknown, depth = 0): boolean {
  if (!(error instanceof Error) || error instanceof BodyError || depth > MAX_CAUSE_DEPTH) return false;
  if ('syscall' in error && SYSCALLS_BEFORE_SENDING.has(error.syscall)) return true;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  if (CODES_BEFORE_SENDING.test(code) && !CODES_AFTER_SENDING.test(code)) return true;
  // `fetch` refuses some ports; Deno names the step that failed in its message only.
  if (error.message === 'bad port' || error.message.includes('client error (Connect)')) return true;
  if (error instanceof AggregateError && error.errors.length > 0)
    return error.errors.every((inner) => isNotSent(inner, depth + 1));
  return isNotSent(error.cause, depth + 1);
}
