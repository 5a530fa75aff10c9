import type { Context } from 'hono';
import { type Body, isBody } from './bodies.ts';
import { measure } from './file-measure.ts';
import { FilePart } from './uploads.ts';

/**
 * The object in a request's body: JSON, or the parts of `multipart/form-data`, where a text that is a JSON object or
 * array is read as such. Nothing for any other body.
 */
export async function readBody(context: Context): Promise<Body | undefined> {
  const type = context.req.header('content-type') ?? '';
  const bytes = await context.req.arrayBuffer();
  try {
    if (/^multipart\/form-data\s*;/i.test(type)) {
      const form = await new Response(bytes, { headers: { 'content-type': type } }).formData();
      const parts = [...form].map(async ([name, value]) => [
        name,
        typeof value === 'string' ? read(value) : await fileOf(value),
      ]);
      return Object.fromEntries(await Promise.all(parts));
    }
    if (!/^application\/json\s*(?:;|$)/i.test(type)) return undefined;
    const value: unknown = JSON.parse(new TextDecoder().decode(bytes));
    return isBody(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const fileOf = async (file: File): Promise<FilePart> => new FilePart(await measure(file.stream()));

function read(text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** The bytes of a request's body. */
export const bytesOf = async (context: Context): Promise<Uint8Array> => new Uint8Array(await context.req.arrayBuffer());
