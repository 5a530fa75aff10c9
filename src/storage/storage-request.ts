import { type Fetch, type FetchOptions, platformFetch, type SendOptions } from '../http/send.ts';
import { AbortScope, abortable, onAbort, startTimer } from '../util/abort.ts';
import { DEEPEST_CAUSE } from '../util/redact.ts';
import { UploadBody, type UploadSource } from './upload-source.ts';

/** A file on its way to a presigned URL. */
export interface PutRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly source: UploadSource;
  readonly signal: AbortSignal;
  /** Told how many bytes have been taken so far. */
  readonly onBytes: (bytes: number) => void;
}

/** What storage answers to a file. */
export interface StorageAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** Storage pointed elsewhere; a file goes where it was meant to go, or nowhere. */
export class RedirectRefusal extends Error {
  override readonly name = 'RedirectRefusal';
}

/** The data themselves failed, not the sending. */
export class SourceFailure extends Error {
  override readonly name = 'SourceFailure';
}

/** Whether `fetch` streams bodies over HTTP/1.1 and shows every header of an answer: not so in browsers. */
export const isServerRuntime: boolean = globalThis.process?.versions?.node !== undefined || 'Deno' in globalThis;

/**
 * Whether a stream is sent with its length, which storage may insist on, and `redirect: 'error'` is known: in Node and
 * Bun. Deno and workers (with what Node has or without) send data as a Blob, as browsers do.
 */
const streamsLength =
  isServerRuntime && !('Deno' in globalThis) && globalThis.navigator?.userAgent !== 'Cloudflare-Workers';

/** Storage gets no cookie either. */
const PLAIN = { credentials: 'omit' } as const satisfies FetchOptions;

/**
 * Sends a file to storage, without bearer token and without any header of the client: this file is
 * the only one besides `send.ts` that sends.
 *
 * @throws {SourceFailure} when the data could not be read; {@link RedirectRefusal}; what `fetch` throws.
 */
export function putFile(request: PutRequest, { fetch, fetchOptions }: SendOptions): Promise<StorageAnswer> {
  const own = fetch !== platformFetch;
  if (!own && !isServerRuntime && typeof XMLHttpRequest === 'function') return putByXhr(request);
  return putByFetch(request, (url, init) => fetch(url, { ...fetchOptions, ...PLAIN, ...init }));
}

type PlainFetch = (url: string, init: RequestInit & { readonly duplex?: 'half' }) => Promise<Response>;

async function putByFetch(request: PutRequest, fetch: PlainFetch): Promise<StorageAnswer> {
  const { url, headers, source, signal } = request;
  const streamed = streamsLength ? streamedBody(request) : undefined;
  try {
    if (streamed && source.size === 0) await abortable(emptied(streamed), signal);
    const body =
      streamed && source.size > 0
        ? {
            body: streamed.stream,
            duplex: 'half' as const,
            headers: { ...headers, 'content-length': String(source.size) },
          }
        : // An empty body is none: `fetch` announces its length of 0 by itself.
          { body: source.size > 0 ? await abortable(source.blob().catch(sourceFailed), signal) : null, headers };
    // With 'error' and no window, undici does not copy the whole body in memory.
    const redirect = streamed ? 'error' : 'manual';
    const sent = fetch(url, { method: 'PUT', ...body, redirect, window: null, signal });
    const response = await abortable(sent, signal);
    if (isRedirection(response)) {
      response.body?.cancel().catch(() => {});
      throw new RedirectRefusal();
    }
    const text = await readAnswer(response, signal);
    if (response.ok && streamed) await delivered(streamed, signal);
    return { status: response.status, headers: response.headers, text };
  } catch (error) {
    if (streamed?.failed) return sourceFailed(streamed.failure);
    throw isRedirect(error) ? new RedirectRefusal() : error;
  } finally {
    await streamed?.close();
  }
}

function streamedBody({ source, onBytes }: PutRequest): UploadBody {
  try {
    return new UploadBody(source.open(), source.size, onBytes);
  } catch (error) {
    return sourceFailed(error);
  }
}

/** Data announced as empty are looked at, too. */
async function emptied(body: UploadBody): Promise<void> {
  await body.stream.getReader().read().catch(sourceFailed);
}

/** A success counts only when all the data have been handed over, and were what was announced. */
async function delivered(body: UploadBody, signal: AbortSignal): Promise<void> {
  if (!body.complete) throw new Error('storage answered before it had the whole file');
  await abortable(body.ended, signal);
  if (body.failed) throw body.failure;
}

/** How much of the body of an error response is read, in characters: its code and message come first. */
const ANSWER_LIMIT = 2_048;

/** What storage says of a failure, as far as it arrives. A success says nothing that matters. */
export async function readAnswer(response: Response, signal: AbortSignal): Promise<string> {
  const reader = response.body?.getReader();
  const decoder = new TextDecoder();
  let text = '';
  try {
    while (reader && !response.ok && text.length < ANSWER_LIMIT) {
      const { done, value } = await abortable(reader.read(), signal);
      if (done) break;
      text += decoder.decode(value, { stream: true });
    }
  } catch {
    // The status is known; what is missing of its reasons changes nothing.
  }
  reader?.cancel().catch(() => {});
  return text.slice(0, ANSWER_LIMIT);
}

function sourceFailed(cause: unknown): never {
  throw new SourceFailure('The data could not be read.', { cause });
}

/** Whether an answer points elsewhere. */
export const isRedirection = ({ type, status }: Response): boolean =>
  type === 'opaqueredirect' || (status >= 300 && status < 400);

/** Runtimes tell a refused redirect by their own words only. */
function isRedirect(error: unknown, depth = 0): boolean {
  if (!(error instanceof Error) || depth > DEEPEST_CAUSE) return false;
  return /redirect/i.test(error.message) || isRedirect(error.cause, depth + 1);
}

/** By XMLHttpRequest, which alone tells browsers how far an upload is. It cannot be kept from following a redirect. */
async function putByXhr({ url, headers, source, signal, onBytes }: PutRequest): Promise<StorageAnswer> {
  const data = await abortable(source.blob().catch(sourceFailed), signal);
  signal.throwIfAborted();
  const xhr = new XMLHttpRequest();
  const off = onAbort(signal, () => xhr.abort());
  let answer: Omit<StorageAnswer, 'text'> | undefined;
  try {
    await new Promise<void>((resolve, reject) => {
      // The status counts, whatever becomes of the words that follow it.
      const settle = (reason: () => unknown) => (): void => (answer ? resolve() : reject(reason()));
      xhr.open('PUT', url);
      for (const [name, value] of Object.entries(headers)) xhr.setRequestHeader(name, value);
      xhr.upload.onprogress = ({ loaded }) => onBytes(loaded);
      xhr.onreadystatechange = () => {
        if (xhr.readyState === xhr.HEADERS_RECEIVED) answer = { status: xhr.status, headers: receivedHeaders(xhr) };
      };
      xhr.onload = () => resolve();
      xhr.onabort = settle(() => signal.reason);
      xhr.onerror = settle(() => new TypeError(NO_CONNECTION));
      // A Blob's own type would be sent as a header that no signature expects.
      xhr.send(data.slice());
    });
  } catch (error) {
    if (!signal.aborted) await data.slice(0, 1).arrayBuffer().catch(sourceFailed);
    throw error;
  } finally {
    off();
  }
  if (xhr.responseURL !== '' && xhr.responseURL !== new URL(url).href) throw new RedirectRefusal();
  return { status: xhr.status, headers: new Headers(), ...answer, text: xhr.responseText.slice(0, ANSWER_LIMIT) };
}

const NO_CONNECTION = 'The connection failed, or storage allows no uploads from this origin (CORS).';

function receivedHeaders(xhr: XMLHttpRequest): Headers {
  const lines = xhr.getAllResponseHeaders().trim().split(/\r?\n/).filter(Boolean);
  return new Headers(
    lines.map((line): [string, string] => {
      const at = line.indexOf(':');
      return [line.slice(0, at), line.slice(at + 1).trim()];
    }),
  );
}

/** Asks storage for a file, from byte `from` on, without bearer token; the body is still to be read. */
export async function getFile(
  url: string,
  from: number,
  signal: AbortSignal,
  { fetch, fetchOptions }: { readonly fetch: Fetch; readonly fetchOptions: FetchOptions },
): Promise<Response> {
  const headers: Record<string, string> = from > 0 ? { range: `bytes=${from}-` } : {};
  return abortable(fetch(url, { ...fetchOptions, ...PLAIN, headers, redirect: 'manual', signal }), signal);
}

/** A signal that aborts when nothing has moved for a time. */
export interface IdleScope extends Pick<AbortScope, 'abort' | 'dispose'> {
  readonly signal: AbortSignal;
  /** Something has moved; from now on the next is awaited. */
  touch(): void;
  /** Nothing is awaited for now. */
  rest(): void;
}

/** A scope that follows `parent` and aborts by itself after `ms` without a `touch`. */
export function idleScope(parent: AbortSignal, ms: number): IdleScope {
  const scope = new AbortScope({ parent });
  let moved = 0;
  let resting = false;
  let stop: (() => void) | undefined;
  // Touches and rests come by the thousand: they note the time, and one timer looks at it.
  const watch = (): void => {
    const left = moved + ms - performance.now();
    stop = undefined;
    if (resting) return;
    if (left > 0) stop = startTimer(left, watch);
    else scope.abort(new Error('idle'));
  };
  const touch = (): void => {
    moved = performance.now();
    resting = false;
    if (!stop) watch();
  };
  touch();
  return {
    signal: scope.signal,
    abort: (reason) => scope.abort(reason),
    touch,
    rest() {
      resting = true;
    },
    dispose() {
      stop?.();
      scope.dispose();
    },
  };
}
