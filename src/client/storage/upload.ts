import { AudienceError, withDetails } from '../../errors/audience-error.ts';
import type { SlotState } from '../../errors/error-details.ts';
import { abortable } from '../../util/abort.ts';
import { MAX_CAUSE_DEPTH } from '../../util/redact.ts';
import { runHook } from '../../util/run-hooks.ts';
import { isServerRuntime } from '../../util/runtime.ts';
import { AttemptFailure } from '../http/response-errors.ts';
import type { Failure } from '../http/retry-policy.ts';
import { platformFetch } from '../http/send.ts';
import type { Transport } from '../http/transport.ts';
import { redirectFailure } from './storage-errors.ts';
import { Transfer, type TransferOptions } from './transfer.ts';
import { UploadBody, type UploadSource } from './upload-source.ts';
import { type PutRequest, putByXhr } from './xhr-upload.ts';

/** Progress of an upload, in bytes. */
export interface UploadProgress {
  /** Bytes sent so far. Never decreases. Equals `total` only after storage has accepted the file. */
  readonly loaded: number;
  /** Size of the file. */
  readonly total: number;
}

/** Options of an upload. */
export interface UploadOptions extends TransferOptions {
  /**
   * Called while the client sends bytes, at most every 50 ms, and at the end. If `onProgress` throws, the client logs
   * the error, and the upload continues.
   */
  readonly onProgress?: ((progress: UploadProgress) => void) | undefined;
  /**
   * Size of the data in bytes. Required for a stream, unless this client has reserved the slot with `uploads.reserve`.
   * @default the size of the data; for a stream, the reserved size
   */
  readonly size?: number | undefined;
  /** Headers that the presigned URL was signed for, such as `Content-Type`. @default none */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** A file to send to its upload slot. */
export interface UploadPlan {
  readonly transport: Transport;
  readonly url: string;
  readonly source: UploadSource;
  readonly options: UploadOptions;
  /** Time at which the slot expires, in milliseconds of `performance.now()`. */
  readonly expiresAt: number;
}

/**
 * Sends a file to its slot, with up to `maxRetries` retries until the slot expires. The `slot` of an error says whether
 * another upload to the slot is possible.
 */
export async function uploadFile({ transport, url, source, options, expiresAt }: UploadPlan): Promise<void> {
  const { settings } = transport;
  const { headers = {}, onProgress } = options;
  const total = source.size;
  let reported = 0;
  const report = (loaded: number): void => {
    reported = loaded;
    if (onProgress) runHook(settings, 'onProgress', () => onProgress({ loaded, total }));
  };
  const onBytes = (bytes: number): void => {
    transfer.touch();
    if (onProgress && bytes > reported && bytes < total && transfer.isProgressDue()) report(bytes);
  };
  const transfer = new Transfer({
    operation: 'uploads.send',
    method: 'PUT',
    url: new URL(url),
    transport,
    options,
    expiresAt,
    canRetry: () => source.isReadable,
  });
  const put = settings.fetch === platformFetch && hasXhr ? putByXhr : putByFetch;
  const { signal } = transfer.scope;
  const send = async (): Promise<void> => {
    try {
      await transfer.run(() =>
        transfer.exchange((sent) => put({ url, headers, source, transfer, signal: sent, onBytes })),
      );
      report(total);
    } catch (error) {
      throw withSlot(signal.aborted ? signal.reason : (source.failure ?? error), expiresAt <= performance.now());
    }
  };
  try {
    await transfer.begin(send);
    transfer.end('success');
  } catch (error) {
    transfer.fail(error);
    throw error;
  } finally {
    transfer.close();
  }
}

/** True in browsers, where only XMLHttpRequest reports progress. */
const hasXhr = !isServerRuntime && typeof XMLHttpRequest === 'function';

/**
 * True in Node and Bun, whose `fetch` sends the length of a stream, which storage may require, and supports
 * `redirect: 'error'`. Deno, Workers and browsers send a Blob.
 */
const canStream =
  isServerRuntime && !('Deno' in globalThis) && globalThis.navigator?.userAgent !== 'Cloudflare-Workers';

async function putByFetch({ url, headers, source, transfer, signal, onBytes }: PutRequest): Promise<Response> {
  const { fetch, settings } = transfer;
  const body = canStream ? new UploadBody(source, onBytes) : undefined;
  try {
    const init = { ...settings.fetchOptions, credentials: 'omit', method: 'PUT', signal } as const;
    const data = await bodyInit(source, body, headers, signal);
    // With `redirect: 'error'` and `window: null`, undici does not keep a copy of the body in memory.
    const sent = fetch(url, { ...init, ...data, redirect: body ? 'error' : 'manual', window: null });
    const response = await abortable(sent, signal);
    if (!response.ok) return response;
    response.body?.cancel().catch(() => {});
    if (body && !body.isComplete) throw new Error('storage responded before it had the entire file');
    return response;
  } catch (error) {
    throw isRedirectError(error) ? redirectFailure(transfer.event) : error;
  } finally {
    await body?.close();
  }
}

/** Returns the body and the headers of a request. */
async function bodyInit(
  source: UploadSource,
  body: UploadBody | undefined,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<RequestInit & { readonly duplex?: 'half' }> {
  if (!body) return { body: await abortable(source.blob(), signal), headers };
  return { body: body.stream, duplex: 'half', headers: { ...headers, 'content-length': String(source.size) } };
}

/** Returns whether `fetch` failed because of a redirect: runtimes report it only in the message of an error. */
function isRedirectError(error: unknown, depth = 0): boolean {
  if (!(error instanceof Error) || depth > MAX_CAUSE_DEPTH) return false;
  return /redirect/i.test(error.message) || isRedirectError(error.cause, depth + 1);
}

const ADVICE: Readonly<Record<SlotState, string>> = {
  usable: 'The slot can still be used: uploading again is safe.',
  unusable: 'The slot can no longer be used: reserve another slot and upload again.',
  unknown: 'The slot might no longer be usable: reserve another slot and upload again.',
};

/** Statuses of an expired, used or unknown slot. */
const REFUSED: ReadonlySet<number> = new Set([401, 403, 404, 410]);
const TRANSIENT: ReadonlySet<number> = new Set([408, 429]);

/** Returns the error for the caller. If the error is from this package, adds whether the slot is still usable. */
function withSlot(thrown: unknown, isExpired: boolean): unknown {
  const failed = thrown instanceof AttemptFailure ? thrown : undefined;
  const error = failed ? failed.error : thrown;
  if (!AudienceError.isInstance(error)) return error;
  const slot = isExpired ? 'unusable' : failed ? slotAfter(failed.failure) : 'usable';
  // Only failed attempts need advice. Other errors already have advice.
  return withDetails(error, { slot }, failed ? ADVICE[slot] : '');
}

function slotAfter(failure: Failure): SlotState {
  if (failure.kind === 'final') return 'unknown';
  if (failure.kind !== 'status' || failure.status >= 500 || TRANSIENT.has(failure.status)) return 'usable';
  return REFUSED.has(failure.status) ? 'unusable' : 'unknown';
}
