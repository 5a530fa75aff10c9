import { AudienceError } from '../../errors/audience-error.ts';
import { FileError } from '../../errors/file-errors.ts';
import { abortable } from '../../util/abort.ts';
import { InvalidInputError, promiseProblem } from '../../util/input-checks.ts';
import type { Redactor } from '../../util/redact.ts';

/** A stream of bytes: a web `ReadableStream`, including the result of Node's `Readable.toWeb`. */
export interface ByteStream {
  /** `true` if the stream has a reader. The client cannot upload a locked stream. */
  readonly locked: boolean;
  /** Returns the only reader, and locks the stream. */
  getReader(): ByteReader;
  /** Ends the stream without reading it to its end. */
  cancel(reason?: unknown): Promise<void>;
}

/** The reader of a {@link ByteStream}. */
export interface ByteReader {
  /** Resolves with the next bytes, or with `done` at the end. */
  read(): Promise<{
    /** `true` at the end of the stream. */
    readonly done: boolean;
    /** The next bytes; not set at the end. */
    readonly value?: Uint8Array | undefined;
  }>;
  /** Ends the stream without reading it to its end. */
  cancel(reason?: unknown): Promise<void>;
}

/** Data to upload. A stream can be sent only once, and usually needs the `size` option. */
export type UploadData = Blob | Uint8Array<ArrayBuffer> | ByteStream;

export const isStream = (data: UploadData): data is ByteStream => 'getReader' in Object(data);
const isBlob = (data: UploadData): data is Blob =>
  'stream' in data && typeof data.stream === 'function' && typeof data.size === 'number';
/**
 * Returns whether data are a `Uint8Array`, also from another realm. The `length` of other views might not be in bytes.
 */
const isBytes = (data: unknown): data is Uint8Array<ArrayBuffer> =>
  Object.prototype.toString.call(data) === '[object Uint8Array]';

const UNSUPPORTED_DATA =
  'must be a Blob, a File, a Uint8Array or a ReadableStream. In Node, use `openFile(path)`, or `Readable.toWeb(stream)` with `size`.';
const STREAM_IN_OBJECT =
  'The object contains a `stream`. Pass the stream as `data`, and its length in bytes as `size`.';
const BLOB_WITHOUT_STREAM =
  'The file has no `stream()`, like a File of jsdom. Pass `new Uint8Array(await file.arrayBuffer())`.';
const FILE_OF_REACT_NATIVE =
  'This is a file of React Native. Send it with PUT to the `url` of `uploads.reserve()` with the uploader of your platform.';

/** Returns why data cannot be uploaded. */
function dataProblem(data: unknown): string {
  const parts = Object(data);
  if ('stream' in parts) return STREAM_IN_OBJECT;
  if ('uri' in parts) return FILE_OF_REACT_NATIVE;
  return promiseProblem(data) ?? ('slice' in parts && 'size' in parts ? BLOB_WITHOUT_STREAM : UNSUPPORTED_DATA);
}

const invalid = (field: string, message: string): InvalidInputError => new InvalidInputError({ [field]: [message] });

/**
 * Data to upload. A second attempt can read the data again, unless they are a stream that was not collected in memory.
 */
export class UploadSource {
  readonly size: number;
  /** The reason why the data could not be read. */
  failure: AudienceError | undefined;
  readonly #data: UploadData;
  readonly #redactor: Redactor;
  #reader: ByteReader | undefined;
  #collected: Promise<Blob> | undefined;

  /** @throws {InvalidInputError} for data that are empty or cannot be uploaded, or a wrong or missing `size`. */
  constructor(data: UploadData, size: number | undefined, redactor: Redactor) {
    const isObject = typeof data === 'object' && data !== null;
    if (!isObject || !(isStream(data) || isBlob(data) || isBytes(data))) throw invalid('data', dataProblem(data));
    if (isStream(data) && data.locked) throw invalid('data', 'The stream is already being read. Pass a new stream.');
    const actual = isStream(data) ? size : isBlob(data) ? data.size : data.length;
    if (actual === undefined) throw invalid('size', 'must be set to the length of the stream in bytes.');
    if (size !== undefined && size !== actual)
      throw invalid('size', `The option is ${size}, but the data has ${actual} bytes. Omit this option.`);
    if (actual === 0)
      throw invalid(isStream(data) ? 'size' : 'data', 'The file is empty, so the service would import nothing.');
    this.size = actual;
    this.#data = data;
    this.#redactor = redactor;
  }

  /** True if another attempt can read the data. */
  get isReadable(): boolean {
    if (this.failure) return false;
    return !isStream(this.#data) || this.#collected !== undefined || !this.#data.locked;
  }

  /** Opens the data at their beginning. */
  open(): ByteReader {
    const data = this.#data;
    if (isBlob(data)) return data.stream().getReader();
    if (isBytes(data)) {
      const chunks = [data].values();
      return { read: async () => ({ done: false, ...chunks.next() }), cancel: async () => {} };
    }
    if (data.locked) throw this.fail(new Error('the stream is already being read'));
    const reader = data.getReader();
    this.#reader = reader;
    // Do not await the cancellation: for a branch of `tee()`, it waits until the other branch is also cancelled.
    const cancel = async (reason?: unknown): Promise<void> => void reader.cancel(reason).catch(() => {});
    return { read: () => reader.read(), cancel };
  }

  /**
   * Returns the data as a `Blob` without a type, for senders that cannot stream. Collects a stream in memory. Checks
   * the first and the last byte of a file, because browsers would wait forever for missing bytes.
   */
  async blob(): Promise<Blob> {
    const data = this.#data;
    if (isBlob(data)) {
      // Chromium reports size 0 for a deleted file, Firefox for an empty file that has grown.
      if (data.size === 0) await this.#readAll();
      for (const end of [data.slice(0, 1), data.slice(-1)]) {
        const { byteLength } = await end.arrayBuffer().catch((error) => {
          throw this.fail(error);
        });
        if (byteLength < end.size) throw this.fail(sizeMismatch(this.size, 'has fewer'));
      }
      // Remove the type: it would be sent as a header that the URL was not signed for. After `slice`, Firefox would not
      // notice that the file has grown.
      return new Blob([data]);
    }
    if (isBytes(data)) return new Blob([data]);
    this.#collected ??= new Response(new UploadBody(this).stream).blob();
    return this.#collected.catch((error) => {
      throw this.fail(error);
    });
  }

  /**
   * Reads a file after a failed attempt, and records whether the file has changed. Reads to the end, because Firefox
   * notices only at the end that the file has grown.
   */
  async verify(signal: AbortSignal): Promise<void> {
    try {
      await abortable(this.blob(), signal);
      if (isBlob(this.#data)) await this.#readAll({ signal });
    } catch {
      // The reason is in `failure`, or the attempt was aborted.
    }
  }

  /** Reads all data. Rejects if this fails, or if the size differs. */
  #readAll(options?: StreamPipeOptions): Promise<void> {
    return new UploadBody(this).stream.pipeTo(new WritableStream(), options);
  }

  /** Cancels a stream that has not been read to its end, so that its producer can stop. */
  close(reason: unknown): void {
    const data = this.#data;
    if (isStream(data) && (this.#reader || !data.locked)) (this.#reader ?? data).cancel(reason).catch(() => {});
  }

  /** Records why the data could not be read; returns it as the error for the caller. */
  fail(error: unknown): AudienceError {
    this.failure ??= AudienceError.isInstance(error) ? error : unreadable(this.#redactor.cause(error));
    return this.failure;
  }
}

/**
 * Bytes per piece. Small pieces show the progress on a slow connection; large pieces save time on a fast connection.
 */
const PIECE_SIZE = { slow: 65_536, fast: 1_048_576 } as const;
/**
 * Minimum bytes to measure the speed of a connection. Buffers take the first bytes immediately, even if the connection
 * is slow.
 */
const MIN_MEASURED_BYTES = 16 * 2 ** 20;
/** Minimum speed of a connection for large pieces. */
const FAST_BYTES_PER_MS = (10 * 2 ** 20) / 1_000;

/** Returns the size of the next piece after `bytes` bytes were sent in `ms` milliseconds. A pure function. */
export function pieceSize(bytes: number, ms: number): number {
  return bytes >= MIN_MEASURED_BYTES && bytes >= FAST_BYTES_PER_MS * ms ? PIECE_SIZE.fast : PIECE_SIZE.slow;
}

/**
 * Maximum number of consecutive reads. After these, timers and aborts can run, which a stream of empty chunks would
 * otherwise block.
 */
const MAX_READS_IN_A_ROW = 100;

const NO_BYTES: Uint8Array = new Uint8Array(0);

/** The body of one attempt. It fails unless the data have exactly the announced size. */
export class UploadBody {
  readonly stream: ReadableStream<Uint8Array>;
  readonly #source: UploadSource;
  readonly #reader: ByteReader;
  readonly #startedAt = performance.now();
  #chunk = NO_BYTES;
  #passed = 0;
  #isClosed = false;

  /** @param onBytes Called with the number of bytes that the sender has taken so far. */
  constructor(source: UploadSource, onBytes?: (bytes: number) => void) {
    this.#source = source;
    this.#reader = source.open();
    this.stream = new ReadableStream(
      {
        pull: (controller) => {
          if (!this.#isClosed) onBytes?.(this.#passed);
          // Pass on pieces that are in memory synchronously, which is faster.
          return this.#chunk.length > 0 ? this.#enqueue(controller) : this.#refill(controller);
        },
        cancel: () => this.close(),
      },
      { highWaterMark: 0 },
    );
  }

  /** True if all bytes have been passed on. */
  get isComplete(): boolean {
    return this.#passed === this.#source.size;
  }

  /** Stops reading and cancels the reader of the data. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#reader.cancel().catch(() => {});
  }

  /** Passes on the next piece of the current chunk. */
  #enqueue(controller: ReadableStreamDefaultController<Uint8Array>): void {
    const size = pieceSize(this.#passed, performance.now() - this.#startedAt);
    const piece = this.#chunk.subarray(0, size);
    this.#chunk = this.#chunk.subarray(size);
    this.#passed += piece.length;
    if (piece.length > 0) controller.enqueue(piece);
    if (this.isComplete) controller.close();
  }

  async #refill(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    try {
      await this.#readChunk();
      this.#enqueue(controller);
    } catch (error) {
      // After `close`, never settle: an error would end the connection before the client reads the response.
      if (this.#isClosed) return new Promise(() => {});
      throw this.#source.fail(error);
    }
  }

  /**
   * Reads a chunk. Passes on the last chunk only after the end of the data: if the size has changed, storage must not
   * receive a complete file.
   */
  async #readChunk(): Promise<void> {
    const { size } = this.#source;
    for (let reads = 1; this.#chunk.length === 0 || this.#passed + this.#chunk.length === size; reads++) {
      const { done, value } = await this.#reader.read();
      const read = this.#passed + this.#chunk.length;
      if (done && read < size) throw sizeMismatch(size, `ended after ${read}`);
      if (done) return;
      if (!isBytes(value)) throw new TypeError(NOT_BYTES);
      if (read + value.length > size) throw sizeMismatch(size, 'has more');
      if (value.length > 0) this.#chunk = value;
      if (reads % MAX_READS_IN_A_ROW === 0) await new Promise((resolve) => setTimeout(resolve, 0));
    }
  }
}

const NOT_BYTES = 'a chunk is not a Uint8Array; pipe text through a `TextEncoderStream`';

function sizeMismatch(size: number, actual: string): FileError {
  const message = `\`size\` is ${size} bytes, but the data ${actual} bytes.`;
  const advice = 'Set the right `size`, or open the file again; do not claim this upload.';
  return new FileError(message, { code: 'size-mismatch', advice });
}

function unreadable(cause: Error): FileError {
  const message = `The data to upload could not be read: ${cause.message}`;
  const advice = 'The file may have changed or been removed: open and upload the file again.';
  return new FileError(message, { code: 'file-unreadable', cause, advice });
}
