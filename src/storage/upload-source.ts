import { AudienceError } from '../errors/audience-error.ts';
import { FileError } from '../errors/file-errors.ts';
import { InvalidInputError } from '../util/input-checks.ts';
import type { Redactor } from '../util/redact.ts';

/** Bytes as they come: a `ReadableStream` of the web, or what `Readable.toWeb` of Node makes. */
export interface ByteStream {
  readonly locked: boolean;
  getReader(): ByteReader;
  cancel(reason?: unknown): Promise<void>;
}

/** What reads a {@link ByteStream}. */
export interface ByteReader {
  read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>;
  cancel(reason?: unknown): Promise<void>;
}

/** What can be uploaded. A stream needs its `size` told, and can be sent once only. */
export type UploadData = Blob | Uint8Array<ArrayBuffer> | ByteStream;

/** Data to upload, read as often as they can be. */
export interface UploadSource {
  readonly size: number;
  /** Whether reading may begin: always, for a stream only once. */
  readonly readable: boolean;
  /** Reads from the start. */
  open(): ByteReader;
  /** All of it as one body, for senders that cannot stream. A stream is collected first. */
  blob(): Promise<Blob>;
  /** Gives up what was not read, so that its producer can stop. */
  close(reason?: unknown): Promise<void>;
}

const isBlob = (data: UploadData): data is Blob => 'stream' in data && typeof data.size === 'number';
/** Also one of another realm; other views count their length in more than bytes. */
const isBytes = (data: unknown): data is Uint8Array<ArrayBuffer> =>
  Object.prototype.toString.call(data) === '[object Uint8Array]';
/** Whether data come as a stream. */
export const isStream = (data: UploadData): data is ByteStream => 'getReader' in data;

/**
 * The source of some data.
 *
 * @throws {InvalidInputError} for what cannot be uploaded, or a wrong or missing `size`.
 */
export function sourceOf(data: UploadData, size: number | undefined): UploadSource {
  const given: unknown = data;
  if (typeof given !== 'object' || given === null) throw new InvalidInputError({ data: [WHAT_FITS] });
  if (isStream(data)) {
    if (data.locked) throw new InvalidInputError({ data: ['is a stream that is read already: give a fresh one.'] });
    if (size === undefined) throw new InvalidInputError({ size: ['must be given for a stream: its length in bytes.'] });
    return streamSource(data, size);
  }
  const source = isBlob(data) ? blobSource(data) : isBytes(data) ? bytesSource(data) : undefined;
  if (!source) throw new InvalidInputError({ data: [WHAT_FITS] });
  if (size !== undefined && size !== source.size) {
    throw new InvalidInputError({ size: [`is ${size}, but the data hold ${source.size} bytes: leave it out.`] });
  }
  return source;
}

const WHAT_FITS =
  'must be a Blob, a File, a Uint8Array or a ReadableStream. In Node: `openFile(path)`, or `Readable.toWeb(stream)` with `size`.';

const nothing = (): Promise<void> => Promise.resolve();

function blobSource(data: Blob): UploadSource {
  return {
    size: data.size,
    readable: true,
    open: () => data.stream().getReader(),
    blob: () => Promise.resolve(data),
    close: nothing,
  };
}

function bytesSource(data: Uint8Array<ArrayBuffer>): UploadSource {
  const open = (): ByteReader =>
    new ReadableStream<Uint8Array>({
      start(controller) {
        if (data.length > 0) controller.enqueue(data);
        controller.close();
      },
    }).getReader();
  return { size: data.length, readable: true, open, blob: () => Promise.resolve(new Blob([data])), close: nothing };
}

function streamSource(data: ByteStream, size: number): UploadSource {
  let reader: ByteReader | undefined;
  let collected: Promise<Blob> | undefined;
  // Nobody waits for a producer to stop: one that has been forked stops only when both forks do.
  const close = (reason?: unknown): Promise<void> => {
    if (reader || !data.locked) (reader ?? data).cancel(reason).catch(() => {});
    return Promise.resolve();
  };
  const open = (): ByteReader => {
    const opened = data.getReader();
    reader = opened;
    return { read: () => opened.read(), cancel: close };
  };
  return {
    size,
    get readable() {
      return collected !== undefined || !data.locked;
    },
    open,
    blob() {
      collected ??= collect(new UploadBody(open(), size));
      return collected;
    },
    close,
  };
}

async function collect(body: UploadBody): Promise<Blob> {
  try {
    return await new Response(body.stream).blob();
  } catch (error) {
    throw body.failed ? body.failure : error;
  }
}

/** Bytes handed over at a time: small, so that a slow line still shows that it moves. */
const PIECE = 65_536;

const NONE = new Uint8Array(0);
const NO_BYTES = 'a chunk of the stream is no Uint8Array; text goes through a `TextEncoderStream` first';

/** Empty chunks in a row after which other work gets its turn. */
const MANY = 100;

/** The bytes of one attempt: as many as announced, neither fewer nor more. */
export class UploadBody {
  readonly stream: ReadableStream<Uint8Array>;
  /** Whether the data could not be read to their end, and why. */
  failed = false;
  failure: unknown;
  /** Resolves when the data have been read to their end, or have failed. */
  readonly ended: Promise<void>;
  #end = (): void => {};
  readonly #reader: ByteReader;
  readonly #size: number;
  #chunk: Uint8Array = NONE;
  #handed = 0;

  /** `onTaken` is told how many bytes the sender has taken. */
  constructor(reader: ByteReader, size: number, onTaken?: (bytes: number) => void) {
    this.#reader = reader;
    this.#size = size;
    this.ended = new Promise((resolve) => {
      this.#end = resolve;
    });
    this.stream = new ReadableStream(
      {
        pull: (controller) => {
          onTaken?.(this.#handed);
          // Most pieces are at hand: no promise is made for them.
          if (this.#chunk.length > 0) return this.#hand(controller);
          return this.#refill(controller);
        },
        cancel: () => this.close(),
      },
      { highWaterMark: 0 },
    );
  }

  /** Whether every byte has been handed over. */
  get complete(): boolean {
    return this.#handed === this.#size;
  }

  /** Stops reading; what was opened for it is closed. */
  async close(): Promise<void> {
    await this.#reader.cancel().catch(() => {});
  }

  /** Hands over the next piece of the chunk at hand. */
  #hand(controller: ReadableStreamDefaultController<Uint8Array>): void {
    const piece = this.#chunk.subarray(0, PIECE);
    this.#chunk = this.#chunk.subarray(PIECE);
    this.#handed += piece.length;
    if (this.#handed > this.#size) this.#fail(controller, mismatch(this.#size, 'go on beyond that'));
    else controller.enqueue(piece);
  }

  async #refill(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    try {
      for (let empty = 0; this.#chunk.length === 0; empty++) {
        const { done, value } = await this.#reader.read();
        if (done) return this.#finish(controller);
        if (!isBytes(value)) throw new TypeError(NO_BYTES);
        this.#chunk = value;
        // Chunks without content must not keep timers and aborts from running.
        if (empty % MANY === MANY - 1) await new Promise((resolve) => setTimeout(resolve, 0));
      }
      this.#hand(controller);
    } catch (error) {
      this.#fail(controller, error);
    }
  }

  #finish(controller: ReadableStreamDefaultController<Uint8Array>): void {
    if (this.#handed < this.#size) throw mismatch(this.#size, `ended after ${this.#handed}`);
    controller.close();
    this.#end();
  }

  #fail(controller: ReadableStreamDefaultController<Uint8Array>, error: unknown): void {
    this.failed = true;
    this.failure = error;
    controller.error(error);
    this.#end();
  }
}

function mismatch(size: number, found: string): FileError {
  const message = `The data were announced with ${size} bytes, but ${found}: give the right \`size\`, and do not claim this upload.`;
  return new FileError(message, { code: 'size-mismatch' });
}

/** What stopped the reading of the data, as the caller is told. */
export function sourceError(failure: unknown, redactor: Redactor): AudienceError {
  if (AudienceError.isInstance(failure)) return failure;
  const cause = redactor.cause(failure);
  const text = `The data to upload could not be read: they may have changed or been removed since they were chosen. ${cause.message}`;
  return new FileError(text, { code: 'file-unreadable', cause });
}
