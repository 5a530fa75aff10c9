import ky, { isNetworkError } from 'ky';
import { AbortScope } from '../../util/abort.ts';
import { BodyError, isNotSent, markSent } from '../../util/fetch-errors.ts';
import type { PreparedRequest } from './request.ts';

/** A response whose body has arrived. */
export interface ReceivedResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** True if the body was larger than `maxResponseBytes`. Then `text` is the beginning of the body. */
  readonly isTruncated?: boolean;
  /** The response, after its body was read. */
  readonly response: Response;
}

/** A function that sends requests. */
export type Fetch = (input: Request | URL | string, init?: RequestInit) => Promise<Response>;

/** Calls the current global `fetch`, even if it was replaced after the client was created. */
export const platformFetch: Fetch = (input, init) => globalThis.fetch(input, init);

/** Options of `fetch` that a user may set. The client's own options take precedence. */
export type FetchOptions = Omit<RequestInit, 'body' | 'headers' | 'method' | 'redirect' | 'signal' | 'window'>;

/** Options of `fetch` that {@link FetchOptions} must not contain. */
export const OWN_FETCH_OPTIONS: readonly string[] = ['body', 'headers', 'method', 'redirect', 'signal', 'window'];

/** How the client sends requests. */
export interface SendOptions {
  readonly fetch: Fetch;
  readonly fetchOptions: FetchOptions;
  readonly maxResponseBytes: number;
  /** Milliseconds until the entire body has arrived. */
  readonly timeout: number;
}

/** Error of an attempt that took longer than `timeout`. */
export class AttemptTimeout extends Error {
  override readonly name = 'AttemptTimeout';
}

/**
 * Option that bypasses the caches of the runtime. With a cached response, a poll would never see the end of its job.
 */
let noStore: Pick<RequestInit, 'cache'> | undefined;

/** Returns whether the runtime supports the option. Workers with a compatibility date before 2024-11-11 throw. */
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
 * @throws {AttemptTimeout | BodyError} or the reason of the signal, or the error with which `fetch` rejected.
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
    // Throw only the cause: ky's errors contain the request with its token.
    if (!received) throw isNetworkError(error) ? error.cause : error;
  } finally {
    scope.dispose();
  }
  if (!received) throw new TypeError('`fetch` was not called.');
  return received;
}

/**
 * Reads a response and up to `maxBytes` of its body, counted after decompression.
 *
 * @throws {BodyError} if the response cannot be read.
 */
export async function readResponse(response: Response, maxBytes: number): Promise<ReceivedResponse> {
  try {
    if (typeof response?.headers?.get !== 'function') throw new TypeError('`fetch` must resolve with a `Response`.');
    const { status, headers, body } = response;
    // If the headers of a custom `fetch` throw, fail here: code that reads them later expects no error.
    headers.get('date');
    if (!body) {
      // Without a stream, reading cannot stop after `maxBytes`.
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

/**
 * Returns the user's `fetch`, or the global `fetch`. The user's `fetch` may open connections to other addresses. So
 * after its failure, the request counts as not sent only if the error names the address of the request.
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
 * Returns `wrap(fetch)`. If the returned function fails, the request counts as not sent only if the function called
 * `fetch` and each of its calls failed before sending.
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
