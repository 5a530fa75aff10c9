import { AudienceError } from '../errors/base.ts';
import { FileError } from '../errors/file.ts';
import { InvalidInputError } from './input.ts';
import type { Redactor } from './redact.ts';

/** What can be uploaded. A stream needs its `size` told, and can be sent once only. */
export type UploadData = Blob | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>;

/** Data to upload, read as often as they can be. */
export interface UploadSource {
  readonly size: number;
  /** Whether reading may begin: always, for a stream only once. */
  readonly readable: boolean;
  /** Reads from the start. */
  open(): ReadableStreamDefaultReader<Uint8Array>;
  /** All of it as one body, for senders that cannot stream. A stream is collected first. */
  blob(): Promise<Blob>;
  /** Gives up what was not read, so that its producer can stop. */
  close(): Promise<void>;
}

const isBlob = (data: UploadData): data is Blob => 'stream' in data && typeof data.size === 'number';
const isStream = (data: UploadData): data is ReadableStream<Uint8Array> => 'getReader' in data;

/**
 * The source of some data.
 *
 * @throws {InvalidInputError} for what cannot be uploaded, or a wrong or missing `size`.
 */
export function sourceOf(data: UploadData, size: number | undefined): UploadSource {
  const given: unknown = data;
  if (typeof given !== 'object' || given === null) throw new InvalidInputError({ data: [WHAT_FITS] });
  if (isStream(data)) {
    if (size === undefined) throw new InvalidInputError({ size: ['must be given for a stream: its length in bytes.'] });
    return streamSource(data, size);
  }
  const source = isBlob(data) ? blobSource(data) : ArrayBuffer.isView(data) ? bytesSource(data) : undefined;
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
  const open = (): ReadableStreamDefaultReader<Uint8Array> =>
    new ReadableStream<Uint8Array>({
      start(controller) {
        if (data.length > 0) controller.enqueue(data);
        controller.close();
      },
    }).getReader();
  return { size: data.length, readable: true, open, blob: () => Promise.resolve(new Blob([data])), close: nothing };
}

function streamSource(data: ReadableStream<Uint8Array>, size: number): UploadSource {
  let reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  let collected: Promise<Blob> | undefined;
  const open = (): ReadableStreamDefaultReader<Uint8Array> => {
    reader = data.getReader();
    return reader;
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
    async close() {
      await (reader ?? data).cancel().catch(() => {});
    },
  };
}

async function collect(body: UploadBody): Promise<Blob> {
  try {
    return await new Response(body.stream).blob();
  } catch (error) {
    throw body.failure ?? error;
  }
}

/** Bytes handed over at a time: small, so that a slow line still shows that it moves. */
const PIECE = 65_536;

const NONE = new Uint8Array(0);

/** The bytes of one attempt: as many as announced, neither fewer nor more. */
export class UploadBody {
  readonly stream: ReadableStream<Uint8Array>;
  /** Why the data could not be read to their end, if so. */
  failure: unknown;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #size: number;
  #chunk: Uint8Array = NONE;
  #handed = 0;

  /** `onTaken` is told how many bytes the sender has taken. */
  constructor(reader: ReadableStreamDefaultReader<Uint8Array>, size: number, onTaken?: (bytes: number) => void) {
    this.#reader = reader;
    this.#size = size;
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
      while (this.#chunk.length === 0) {
        const { done, value } = await this.#reader.read();
        if (done && this.#handed < this.#size) throw mismatch(this.#size, `ended after ${this.#handed}`);
        if (done) return controller.close();
        if (!ArrayBuffer.isView(value)) throw new TypeError('a chunk of the stream is no Uint8Array');
        this.#chunk = value;
      }
      this.#hand(controller);
    } catch (error) {
      this.#fail(controller, error);
    }
  }

  #fail(controller: ReadableStreamDefaultController<Uint8Array>, error: unknown): void {
    this.failure = error;
    controller.error(error);
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
  return new FileError(`The data to upload could not be read: ${cause.message}`, { code: 'file-unreadable', cause });
}
