import type { Context } from 'hono';
import type { FileStats } from '../state.ts';
import { ConnectionCut } from './connection-cut.ts';

export type JsonObject = Readonly<Record<string, unknown>>;

/** Returns whether a value is a JSON object: neither an array nor `null`. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Maximum nesting depth of a JSON body. Serializing a deeper body could exhaust the stack. */
const MAX_NESTING = 512;

/** Thrown for a body that is nested too deeply. Each route reports this in its own error format. */
export class NestingError extends Error {
  override readonly name = 'NestingError';

  constructor() {
    super(`The body must not be nested more than ${MAX_NESTING} levels deep.`);
  }
}

/** Maximum size of a JSON body (assumed), in bytes. */
const MAX_JSON_BYTES = 8 * 2 ** 20;

/** Thrown for a JSON body that is too large. */
export class JsonSizeError extends Error {
  override readonly name = 'JsonSizeError';

  constructor(max: number, length: number) {
    super(`A JSON body must have at most ${max} bytes, not ${length}.`);
  }
}

export class FilePart {
  readonly stats: FileStats;

  constructor(stats: FileStats) {
    this.stats = stats;
  }
}

/**
 * Reads the object in a request's body: JSON, or the fields of `multipart/form-data`. In a form, parses strings that
 * contain a JSON object or array. Returns `undefined` for any other body.
 *
 * @param max Maximum number of bytes of JSON.
 * @throws NestingError, JsonSizeError, ConnectionCut
 */
export async function readBody(context: Context, max = MAX_JSON_BYTES): Promise<JsonObject | undefined> {
  const type = context.req.header('content-type') ?? '';
  const bytes = await readBytes(context);
  if (/^multipart\/form-data\s*;/i.test(type)) return readMultipart(bytes, type);
  if (!/^application\/json\s*(?:;|$)/i.test(type)) return undefined;
  if (bytes.length > max) throw new JsonSizeError(max, bytes.length);
  const value = parseJson(bytes);
  return isObject(value) ? value : undefined;
}

/** Reads the fields of an `application/x-www-form-urlencoded` body. */
export const readForm = async (context: Context): Promise<URLSearchParams> =>
  new URLSearchParams(new TextDecoder().decode(await readBytes(context)));

/** Reads the bytes of a request's body. Throws a `ConnectionCut` if the client disconnects before their end. */
export async function readBytes(context: Context): Promise<Uint8Array<ArrayBuffer>> {
  try {
    const bytes = new Uint8Array(await context.req.arrayBuffer());
    context.set('body', bytes);
    return bytes;
  } catch (cause) {
    throw new ConnectionCut({ cause });
  }
}

/** Maximum size of a body to keep for the sandbox's observer, in bytes. */
export const MAX_KEPT_BODY = 2 ** 20;

/** Maximum wait for a body that no route has read, in milliseconds of the machine's clock. */
const UNREAD_BODY_TIMEOUT_MS = 1_000;

/** Keeps the body of a request that the service refused before reading it, unless the body is too long or too late. */
export async function readUnreadBody(context: Context): Promise<void> {
  const { raw, method } = context.req;
  const isEmpty = method === 'GET' || method === 'HEAD' || context.get('body') !== undefined;
  const length = Number(context.req.header('content-length') ?? 0);
  if (isEmpty || raw.signal.aborted || length > MAX_KEPT_BODY || raw.bodyUsed || !raw.body) return;
  // Ignore the error: the client has disconnected.
  const bytes = await readUpTo(MAX_KEPT_BODY, raw.body, UNREAD_BODY_TIMEOUT_MS).catch(() => undefined);
  if (bytes && bytes.length >= length) context.set('body', bytes);
}

/** Reads a stream to its end, or for a limited time. Returns `undefined` if the stream has more than `max` bytes. */
async function readUpTo(
  max: number,
  stream: ReadableStream<Uint8Array<ArrayBuffer>>,
  timeout?: number,
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const reader = stream.getReader();
  const stop = (): void => void reader.cancel().catch(() => {});
  const timer = timeout === undefined ? undefined : setTimeout(stop, timeout);
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      size += read.value.length;
      if (size > max) return undefined;
      chunks.push(read.value);
    }
    // Do not use a `Blob`: its reads do not follow the virtual clock of a test.
    const bytes = new Uint8Array(size);
    let at = 0;
    for (const chunk of chunks) {
      bytes.set(chunk, at);
      at += chunk.length;
    }
    return bytes;
  } finally {
    clearTimeout(timer);
    reader.releaseLock();
  }
}

/**
 * Returns whether a request's body has at most `max` bytes. Reads the body only if its length is unknown.
 */
export async function isBodyWithin(max: number, { req }: Context): Promise<boolean> {
  const length = req.header('content-length');
  if (length !== undefined) return Number(length) <= max;
  if (req.header('transfer-encoding') === undefined || !req.raw.body) return true;
  const bytes = await readUpTo(max, req.raw.body);
  if (bytes) req.bodyCache.arrayBuffer = bytes.buffer;
  return bytes !== undefined;
}

async function readMultipart(bytes: Uint8Array<ArrayBuffer>, type: string): Promise<JsonObject | undefined> {
  const form = await new Response(bytes, { headers: { 'content-type': type } }).formData().catch(() => undefined);
  if (!form) return undefined;
  const fields = [...form].map(async ([name, value]) => [
    name,
    typeof value === 'string' ? parseField(value) : new FilePart(await measureFile(value.stream())),
  ]);
  return Object.fromEntries(await Promise.all(fields));
}

const parseField = (field: string): unknown => (/^\s*[[{]/.test(field) ? (parseJson(field) ?? field) : field);

/**
 * Parses JSON. Returns `undefined` if the JSON is malformed.
 *
 * @throws NestingError
 */
export function parseJson(json: string | Uint8Array): unknown {
  let value: unknown;
  try {
    value = JSON.parse(typeof json === 'string' ? json : new TextDecoder().decode(json));
  } catch {
    return undefined;
  }
  // Check level by level, because recursion would exhaust the stack.
  let level = [value].filter(isContainer);
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > MAX_NESTING) throw new NestingError();
    level = level.flatMap((container) => Object.values(container)).filter(isContainer);
  }
  return value;
}

const isContainer = (value: unknown): value is object => typeof value === 'object' && value !== null;

const NEWLINE = 10;

/** Counts the bytes and lines of a stream. Rejects if the stream fails. */
export async function measureFile(stream: ReadableStream<Uint8Array>): Promise<FileStats> {
  let size = 0;
  let lines = 0;
  let last = NEWLINE;
  // Use a reader, because Safari cannot iterate over a stream.
  const reader = stream.getReader();
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    const chunk = read.value;
    size += chunk.length;
    last = chunk.at(-1) ?? last;
    for (let index = chunk.indexOf(NEWLINE); index >= 0; index = chunk.indexOf(NEWLINE, index + 1)) lines++;
  }
  return { size, lines: last === NEWLINE ? lines : lines + 1 };
}
