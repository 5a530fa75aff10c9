import type { Context } from 'hono';
import { ConnectionCut } from '../faults.ts';
import { type Body, isBody } from '../routes/body-fields.ts';
import { measure } from '../storage/file-measure.ts';
import { FilePart } from '../storage/upload-slots.ts';

/** Maximum nesting of a JSON body: what is stored can be serialized again without exhausting the stack. */
const MAX_NESTING = 512;

/** Thrown where a body is nested too deeply; each route answers it in its own error shape. */
export class NestingError extends Error {
  override readonly name = 'NestingError';

  constructor() {
    super(`The body must not be nested more than ${MAX_NESTING} levels deep.`);
  }
}

/**
 * The object in a request's body: JSON, or the parts of `multipart/form-data`, where a text that is a JSON object or
 * array is read as such. Nothing for any other body.
 *
 * @throws NestingError
 */
export async function readBody(context: Context): Promise<Body | undefined> {
  const type = context.req.header('content-type') ?? '';
  const bytes = await bytesOf(context);
  if (/^multipart\/form-data\s*;/i.test(type)) return readForm(bytes, type);
  if (!/^application\/json\s*(?:;|$)/i.test(type)) return undefined;
  const value = parseJson(bytes);
  return isBody(value) ? value : undefined;
}

async function readForm(bytes: Uint8Array<ArrayBuffer>, type: string): Promise<Body | undefined> {
  const form = await new Response(bytes, { headers: { 'content-type': type } }).formData().catch(() => undefined);
  if (!form) return undefined;
  const parts = [...form].map(async ([name, value]) => [
    name,
    typeof value === 'string' ? readText(value) : new FilePart(await measure(value.stream())),
  ]);
  return Object.fromEntries(await Promise.all(parts));
}

const readText = (text: string): unknown => (/^\s*[[{]/.test(text) ? (parseJson(text) ?? text) : text);

/**
 * The value of a JSON text; nothing for a text that is not JSON.
 *
 * @throws NestingError
 */
export function parseJson(text: string | Uint8Array): unknown {
  let value: unknown;
  try {
    value = JSON.parse(typeof text === 'string' ? text : new TextDecoder().decode(text));
  } catch {
    return undefined;
  }
  // Level by level: recursion would exhaust the stack itself.
  let level = [value].filter(isContainer);
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > MAX_NESTING) throw new NestingError();
    level = level.flatMap((container) => Object.values(container)).filter(isContainer);
  }
  return value;
}

const isContainer = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** The bytes of a request's body; a caller that hangs up before their end gets no answer. */
export async function bytesOf(context: Context): Promise<Uint8Array<ArrayBuffer>> {
  try {
    return new Uint8Array(await context.req.arrayBuffer());
  } catch (cause) {
    throw new ConnectionCut({ cause });
  }
}

/** The fields of an `application/x-www-form-urlencoded` body. */
export const fieldsOf = async (context: Context): Promise<URLSearchParams> =>
  new URLSearchParams(new TextDecoder().decode(await bytesOf(context)));
