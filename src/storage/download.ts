import { ResponseError } from '../errors/call-errors.ts';
import { watch } from '../http/hooks.ts';
import { AttemptFailure } from '../http/response-errors.ts';
import { type AbortScope, onAbort } from '../util/abort.ts';
import { redirectFailure, statusFailure, type TransferFacts } from './storage-errors.ts';
import { getFile, type IdleScope, isRedirection, isServerRuntime, readAnswer } from './storage-request.ts';
import {
  announce,
  type StorageContext,
  startIdle,
  type Transfer,
  type TransferOptions,
  transferFailure,
  waitToRepeat,
} from './transfer.ts';

/** A download to be made. */
export interface DownloadPlan {
  readonly context: StorageContext;
  readonly url: URL;
  readonly options: TransferOptions;
  /** `total` is `undefined` while the length is not known. */
  readonly onProgress: (loaded: number, total: number | undefined) => void;
}

/**
 * Opens a file in storage. The stream reads as fast as it is read; where it is cut, it goes on from
 * there, if storage can tell that the file is still the same.
 */
export async function openDownload(plan: DownloadPlan): Promise<ReadableStream<Uint8Array>> {
  const download = new Download(plan);
  await download.connect();
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

class Download {
  readonly #plan: DownloadPlan;
  readonly #scope: AbortScope;
  readonly #transfer: Transfer;
  #idle: IdleScope | undefined;
  #reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  #attempts = 0;
  /** Repeats since a byte last moved. */
  #retries = 0;
  #loaded = 0;
  #total: number | undefined;
  /** Tells whether the file is still the same; none where going on is not possible. */
  #version: string | undefined;

  constructor(plan: DownloadPlan) {
    const { context, options } = plan;
    this.#plan = plan;
    this.#scope = context.state.open({ parent: options.signal });
    this.#transfer = {
      context,
      options,
      signal: this.#scope.signal,
      timeLeft: () => Number.POSITIVE_INFINITY,
      facts: () => this.#facts(),
    };
  }

  /** Gets an answer whose body begins where the last one was cut. */
  async connect(): Promise<void> {
    for (;;) {
      try {
        this.#scope.signal.throwIfAborted();
        await this.#request();
        return;
      } catch (error) {
        await this.#waitOrThrow(error);
      }
    }
  }

  /** The next bytes; `undefined` at the end. */
  async next(): Promise<Uint8Array | undefined> {
    for (;;) {
      this.#idle?.touch();
      try {
        const { done, value } = (await this.#reader?.read()) ?? { done: true };
        this.#idle?.rest();
        this.#idle?.signal.throwIfAborted();
        if (value) this.#count(value.length);
        else if (done) this.#end();
        return value;
      } catch (thrown) {
        const error = this.#failure(thrown);
        if (this.#version === undefined && this.#loaded > 0) this.#fail(error);
        await this.#waitOrThrow(error);
        await this.connect();
      }
    }
  }

  /** Calls `work` as soon as the download is aborted, also between two reads. */
  onAbort(work: (reason: unknown) => void): void {
    const { signal } = this.#scope;
    onAbort(signal, () => {
      work(signal.reason);
      this.close();
    });
  }

  /** Drops the connection; nothing stays open. */
  close(): void {
    this.#scope.dispose();
    // Frees the connection also where somebody else holds a copy of the answer.
    this.#idle?.abort(new Error('closed'));
    this.#idle?.dispose();
  }

  async #request(): Promise<void> {
    const { context, url } = this.#plan;
    this.#attempts++;
    this.#idle?.dispose();
    this.#idle = startIdle(this.#transfer);
    const { signal } = this.#idle;
    const answered = announce(this.#transfer);
    try {
      const response = await getFile(url.href, this.#loaded, signal, context.settings);
      answered(response.status);
      const { status, headers } = response;
      if (isRedirection(response)) throw redirectFailure(this.#facts());
      if (this.#isAtEnd(response)) return;
      if (!response.ok) {
        const text = await readAnswer(response, signal);
        throw statusFailure({ status, headers, text }, this.#facts(), context.settings.redactor);
      }
      this.#begin(response);
      this.#idle.rest();
    } catch (error) {
      throw this.#failure(error);
    }
  }

  /** Takes over the body of an answer, at the right place. */
  #begin(response: Response): void {
    const { headers, status } = response;
    // Only lengths and places of bytes as sent can be counted on.
    const plain = headers.get('content-encoding') === null;
    const tag = headers.get('etag');
    const version = (tag?.startsWith('W/') ? null : tag) ?? headers.get('last-modified');
    if (this.#loaded > 0) {
      const range = /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(headers.get('content-range') ?? '');
      const total = range?.[2] === '*' ? this.#total : Number(range?.[2]);
      const same = version === this.#version && (this.#total ?? total) === total;
      if (status !== 206 || Number(range?.[1]) !== this.#loaded || !same) throw this.#changed(status);
      this.#total = total;
    } else {
      if (status !== 200) throw this.#changed(status);
      const length = headers.get('content-length');
      this.#total = plain && length !== null ? Number(length) : undefined;
      this.#version = plain && isServerRuntime ? (version ?? undefined) : undefined;
    }
    const reader = response.body?.getReader();
    this.#reader = reader;
    // Ends a pending read even where `fetch` pays no heed to the signal.
    if (this.#idle) onAbort(this.#idle.signal, () => void reader?.cancel().catch(() => {}));
  }

  /** Everything had come, but not the end of it: asked to go on, storage says that there is no more. */
  #isAtEnd({ status, headers }: Response): boolean {
    if (status !== 416 || this.#loaded === 0 || headers.get('content-range') !== `bytes */${this.#loaded}`)
      return false;
    this.#reader = undefined;
    return true;
  }

  #count(bytes: number): void {
    this.#retries = 0;
    this.#loaded += bytes;
    if (this.#loaded !== this.#total) this.#report(this.#loaded > (this.#total ?? 0) ? undefined : this.#total);
  }

  #end(): void {
    // A `fetch` of the user's may not notice that an answer was cut.
    if (isServerRuntime && this.#total !== undefined && this.#loaded !== this.#total) {
      throw new Error('the answer did not end where it should');
    }
    this.#report(this.#loaded);
    this.close();
  }

  #report(total: number | undefined): void {
    watch(this.#plan.context.settings, () => this.#plan.onProgress(this.#loaded, total));
  }

  #facts(): TransferFacts {
    return { operation: 'activations.download', method: 'GET', url: this.#plan.url, attempts: this.#attempts };
  }

  /** What a failed attempt means; an abort is the caller's own reason. */
  #failure(error: unknown): unknown {
    this.#scope.signal.throwIfAborted();
    if (error instanceof AttemptFailure) return error;
    const done = ` after ${this.#loaded}${this.#total === undefined ? '' : ` of ${this.#total}`} bytes`;
    return transferFailure(error, this.#idle, this.#transfer, done);
  }

  #changed(status: number): AttemptFailure {
    const message = `activations.download cannot go on after ${this.#loaded} bytes: the file has changed, or storage answers (${status}) something else. Download it anew.`;
    const details = { status, operation: 'activations.download', attempts: this.#attempts, body: '' };
    return new AttemptFailure({ kind: 'final', outcome: 'unknown' }, new ResponseError(message, details));
  }

  async #waitOrThrow(error: unknown): Promise<void> {
    try {
      if (await waitToRepeat(error, this.#retries++, this.#transfer)) return;
    } catch (reason) {
      this.#fail(reason);
    }
    this.#fail(error);
  }

  #fail(error: unknown): never {
    this.close();
    throw error instanceof AttemptFailure ? error.error : error;
  }
}
