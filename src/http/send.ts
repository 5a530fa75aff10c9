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

/** Calls the platform's `fetch`, looked up at each call: a replacement made after the client was created is used. */
export const platformFetch: Fetch = (input, init) => globalThis.fetch(input, init);

/** Options of `fetch` that a user may set; those of the SDK take precedence. */
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

/** The longest timeout that ky accepts, about 24 days. A longer one is treated as no timeout. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

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
  let received: ReceivedResponse | undefined;
  try {
    await ky(url, {
      signal,
      timeout: timeout > MAX_TIMEOUT_MS ? false : timeout,
      retry: 0,
      throwHttpErrors: false,
      // Not every custom `fetch` accepts the platform's `Request` or `Headers`: pass the URL and plain options.
      async fetch(input) {
        const built = input as Request; // ky always passes the request that it has built
        const init = { method, headers, signal: built.signal, redirect: 'manual', ...(body && { body }) } as const;
        // Settle on abort even if `fetch` ignores the signal: ky clears its timer only when this function settles.
        const response = await abortable(fetch(url, { ...fetchOptions, ...init }), signal);
        received = await abortable(readResponse(response, maxResponseBytes), signal);
        return response;
      },
    });
  } catch (error) {
    // ky's errors contain the request with its bearer token: keep only the cause.
    if (isTimeoutError(error)) throw new AttemptTimeout();
    if (!received) throw isNetworkError(error) ? error.cause : error;
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
    const { status, headers, body } = response;
    if (typeof headers?.get !== 'function') throw new TypeError('`fetch` must resolve with a `Response`.');
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
