import { ResponseError } from '../../errors/call-errors.ts';
import { onAbort } from '../../util/abort.ts';
import { runHook } from '../../util/run-hooks.ts';
import { isServerRuntime } from '../../util/runtime.ts';
import type { RequestOptions } from '../http/request-options.ts';
import { AttemptFailure } from '../http/response-errors.ts';
import type { Transport } from '../http/transport.ts';
import { fewestBytes, showsEncoding, versionOf } from './file-headers.ts';
import { isPage, linkAdvice, requestLink } from './result-links.ts';
import { Transfer, type TransferOptions } from './transfer.ts';
import type { ByteReader } from './upload-source.ts';

export interface DownloadPlan {
  readonly transport: Transport;
  readonly url: URL;
  /** Requests a new link from the service. A link may expire before the client has read its file. */
  readonly renew: (signal: AbortSignal) => Promise<URL>;
  readonly options: TransferOptions & Pick<RequestOptions, 'token'>;
  /** `loaded` and `total` are bytes. `total` is `undefined` while the length is unknown. */
  readonly onProgress: ((loaded: number, total: number | undefined) => void) | undefined;
  /** Called with the `Content-Encoding` of the file, if the response has this header. */
  readonly onEncoding: (encoding: string) => void;
}

/**
 * Opens a file in storage. The stream reads only as fast as its consumer. After a lost connection, the download resumes
 * at the next byte if the response headers prove that the file is unchanged.
 */
export async function openDownload(plan: DownloadPlan): Promise<ReadableStream<Uint8Array>> {
  const download = new Download(plan);
  await download.open();
  return new ReadableStream<Uint8Array>(
    {
      start: (controller) => download.onAbort((reason) => controller.error(reason)),
      async pull(controller) {
        const chunk = await download.next();
        if (chunk) controller.enqueue(chunk);
        else controller.close();
      },
      cancel: () => download.close(),
    },
    { highWaterMark: 0 },
  );
}

/** Returns whether storage has refused a link, for example because the link has expired. */
const isRefusal = (error: unknown): boolean =>
  error instanceof AttemptFailure &&
  error.failure.kind === 'status' &&
  error.failure.status < 500 &&
  ![408, 429].includes(error.failure.status);

/** The reader of a response without a body. */
const NO_BODY: ByteReader = { read: () => Promise.resolve({ done: true }), cancel: () => Promise.resolve() };

class Download {
  readonly #plan: DownloadPlan;
  readonly #transfer: Transfer;
  /** Link to the file, before any redirects. */
  #link: URL;
  /** Reader of the latest response. */
  #reader = NO_BODY;
  #loaded = 0;
  #total: number | undefined;
  /** Minimum size of the complete file in bytes, if `#total` is unknown. */
  #fewest = 0;
  /** Value of `#loaded` when the link was last renewed. */
  #renewedAt = -1;
  /** `ETag` or `Last-Modified` of the file; `undefined` if the download cannot be resumed. */
  #version: string | undefined;

  constructor(plan: DownloadPlan) {
    const { transport, options, url } = plan;
    this.#plan = plan;
    this.#link = url;
    this.#transfer = new Transfer({
      operation: 'activations.download',
      method: 'GET',
      url,
      transport,
      options,
      advice: (status) => linkAdvice(status, this.#link, transport.settings),
      canRetry: () => this.#loaded === 0 || this.#version !== undefined,
      progress: () => ` after ${this.#loaded}${this.#total === undefined ? '' : ` of ${this.#total}`} bytes`,
    });
  }

  /** Sends the first request. */
  open(): Promise<void> {
    return this.#transfer
      .begin(() => this.#run(() => this.#connect()))
      .catch((error: unknown) => {
        // If `around` never started the download, nothing else ends it.
        this.#transfer.fail(error);
        this.close();
        throw error;
      });
  }

  /** Returns the next bytes; `undefined` at the end. */
  async next(): Promise<Uint8Array | undefined> {
    const first = this.#read();
    try {
      return await first;
    } catch {
      // Enter the retry loop only after a failure, because the loop takes longer than a read.
      let attempts = 0;
      return this.#run(() => (attempts++ === 0 ? first : this.#connect().then(() => this.#read())));
    }
  }

  /** Calls `callback` as soon as the download is aborted, even between two reads. */
  onAbort(callback: (reason: unknown) => void): void {
    const { signal } = this.#transfer.scope;
    onAbort(signal, () => {
      callback(signal.reason);
      this.close();
    });
  }

  close(): void {
    // Abort the request: if a custom `fetch` keeps a clone of the response, cancelling the body would not close it.
    this.#transfer.attempt?.abort(new Error('closed'));
    this.#transfer.close();
  }

  async #run<T>(attempt: () => Promise<T>): Promise<T> {
    try {
      return await this.#transfer.run(attempt);
    } catch (error) {
      const reason = error instanceof AttemptFailure ? error.error : error;
      this.#transfer.fail(reason);
      this.close();
      throw reason;
    }
  }

  /** Requests the rest of the file. If storage refuses the link, requests the rest once more with a new link. */
  #connect(): Promise<void> {
    return this.#request().catch(async (error: unknown) => {
      const transfer = this.#transfer;
      if (!isRefusal(error) || this.#renewedAt === this.#loaded) throw error;
      this.#renewedAt = this.#loaded;
      transfer.rest();
      const { signal } = transfer.scope;
      const url = await this.#plan.renew(signal).catch(() => undefined);
      signal.throwIfAborted();
      if (!url) throw error;
      this.#link = url;
      return this.#request();
    });
  }

  async #request(): Promise<void> {
    const transfer = this.#transfer;
    const response = await requestLink(transfer, this.#plan, {
      link: this.#link,
      headers: this.#loaded > 0 ? { range: `bytes=${this.#loaded}-` } : {},
      accepts: ({ status, headers }) =>
        this.#loaded > 0 && status === 416 && headers.get('content-range') === `bytes */${this.#loaded}`,
    });
    // An accepted 416 means that all bytes had arrived before the last response was interrupted.
    if (response.ok) {
      if (this.#loaded === 0) this.#beginFile(response);
      else this.#checkSameFile(response);
    }
    const reader = response.ok && response.body ? response.body.getReader() : NO_BODY;
    this.#reader = reader;
    // End a pending read even if a custom `fetch` ignores the signal.
    if (transfer.attempt) onAbort(transfer.attempt.signal, () => void reader.cancel().catch(() => {}));
    transfer.rest();
  }

  /** Records the length and the version of the file, to recognize a later response that continues the file. */
  #beginFile(response: Response): void {
    const { status, headers } = response;
    if (status !== 200) throw this.#invalid(status, `failed: storage responded with ${status} instead of the file`);
    if (isPage(response, this.#link)) {
      const advice = linkAdvice(status, this.#link, this.#transfer.settings);
      throw this.#invalid(status, 'failed: storage responded with an HTML page instead of the file', advice);
    }
    // A download cannot resume an encoded file, because the headers count encoded bytes.
    const encoding = headers.get('content-encoding');
    if (encoding !== null) this.#plan.onEncoding(encoding);
    const isPlain = encoding === null && showsEncoding(response);
    const length = headers.get('content-length');
    this.#total = isPlain && length !== null ? Number(length) : undefined;
    this.#fewest = fewestBytes(Number(length));
    this.#version = isPlain && isServerRuntime ? (versionOf(headers) ?? undefined) : undefined;
  }

  /** Checks that a later response continues the same file at the next byte. */
  #checkSameFile({ status, headers }: Response): void {
    const [, from, size] = /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(headers.get('content-range') ?? '') ?? [];
    const total = size === '*' ? this.#total : Number(size);
    const isSame = versionOf(headers) === this.#version && (this.#total ?? total) === total;
    if (status !== 206 || Number(from) !== this.#loaded || !isSame) throw this.#fileChanged(status);
    this.#total = total;
  }

  #fileChanged(status: number): AttemptFailure {
    const problem = `cannot resume after ${this.#loaded} bytes: the file has changed, or storage sent an unexpected response (${status})`;
    return this.#invalid(status, problem, 'Download the file again.');
  }

  #invalid(status: number, problem: string, advice?: string): AttemptFailure {
    const { operation, attempt } = this.#transfer.event;
    const message = `${operation} ${problem}.`;
    const error = new ResponseError(message, { status, operation, attempts: attempt, body: '', advice });
    return new AttemptFailure({ kind: 'final', outcome: 'unknown' }, error);
  }

  async #read(): Promise<Uint8Array | undefined> {
    const transfer = this.#transfer;
    transfer.touch();
    const { done, value } = await this.#reader.read();
    transfer.rest();
    transfer.attempt?.signal.throwIfAborted();
    if (value) this.#count(value.length);
    else if (done) this.#finish();
    return value;
  }

  #count(bytes: number): void {
    this.#transfer.retries = 0;
    this.#loaded += bytes;
    if (this.#plan.onProgress && this.#loaded !== this.#total && this.#transfer.isProgressDue())
      this.#report(this.#total);
  }

  #finish(): void {
    // Firefox does not report that an encoded response was truncated. A custom `fetch` might never report it.
    const isComplete = this.#total === undefined ? this.#loaded >= this.#fewest : this.#loaded === this.#total;
    if (!isComplete) throw new Error('the response ended too early');
    this.#report(this.#loaded);
    this.#transfer.end('success');
    this.close();
  }

  #report(total: number | undefined): void {
    const { transport, onProgress } = this.#plan;
    if (onProgress) runHook(transport.settings, 'onProgress', () => onProgress(this.#loaded, total));
  }
}
