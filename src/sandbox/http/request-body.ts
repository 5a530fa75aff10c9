import type { Context } from 'hono';
import type { FileStats } from '../state.ts';
import { ConnectionCut } from './connection-cut.ts';

/** A JSON object of a request, its fields not yet checked. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** Returns whether a received value is a JSON object: not an array, not `null`. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Maximum nesting of a JSON body, so that it can be serialized again without exhausting the stack. */
const MAX_NESTING = 512;

/** Thrown for a body that is nested too deeply; each route reports it in its own error format. */
export class NestingError extends Error {
  override readonly name = 'NestingError';

  constructor() {
    super(`The body must not be nested more than ${MAX_NESTING} levels deep.`);
  }
}

/** A file in a `multipart/form-data` body. */
export class FilePart {
  readonly stats: FileStats;

  constructor(stats: FileStats) {
    this.stats = stats;
  }
}

/**
 * Reads the object in a request's body: JSON, or the fields of `multipart/form-data`, in which strings that hold a JSON
 * object or array are parsed. Returns `undefined` for any other body.
 *
 * @throws NestingError
 */
export async function readBody(context: Context): Promise<JsonObject | undefined> {
  const type = context.req.header('content-type') ?? '';
  const bytes = await readBytes(context);
  if (/^multipart\/form-data\s*;/i.test(type)) return readMultipart(bytes, type);
  if (!/^application\/json\s*(?:;|$)/i.test(type)) return undefined;
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
 * Parses JSON. Returns `undefined` if it is malformed.
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
  // Level by level, because recursion would exhaust the stack.
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
  // Read by a reader, because Safari cannot iterate over a stream.
  const reader = stream.getReader();
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    const chunk = read.value;
    size += chunk.length;
    last = chunk.at(-1) ?? last;
    for (let index = chunk.indexOf(NEWLINE); index >= 0; index = chunk.indexOf(NEWLINE, index + 1)) lines++;
  }
  return { size, lines: last === NEWLINE ? lines : lines + 1 };
}
