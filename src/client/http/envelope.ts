import type { Envelope } from '../../spec/wire-values.ts';
import { isObject } from '../../util/json.ts';

/** The content of a 2xx body: an envelope, a refusal (`status: error`), or the reason why the body is neither. */
export type EnvelopeReading =
  | { readonly envelope: Envelope }
  | { readonly refusal: unknown }
  | { readonly problem: string };

/** Returns whether a value is the envelope of a refusal. */
export function isRefusal(value: unknown): boolean {
  return isObject(value) && value.status === 'error';
}

/** Reads the envelope in a response's body. */
export function readEnvelope(text: string): EnvelopeReading {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { problem: problemOf(text, undefined) };
  }
  const { status, code, message }: Partial<Envelope> = Object(value);
  if (status === 'success' && Number.isInteger(code) && typeof message === 'string') {
    return { envelope: value as Envelope }; // all of its fields are checked
  }
  return isRefusal(value) ? { refusal: value } : { problem: problemOf(text, value) };
}

/** Returns why a body is not JSON, or `undefined` if the body is JSON. `value` is the parsed body. */
export function notJson(text: string, value: unknown): string | undefined {
  if (text.trim() === '') return 'the body is empty';
  if (value !== undefined) return undefined;
  return /^\s*</.test(text)
    ? 'the body is HTML or XML, so a proxy probably responded: check the base URL'
    : 'the body is not complete JSON';
}

function problemOf(text: string, value: unknown): string {
  const broken = notJson(text, value);
  if (broken !== undefined) return broken;
  if (Array.isArray(value)) return 'the body is an array instead of an envelope';
  if (!isObject(value)) return `the body is ${value === null ? 'null' : `a ${typeof value}`} instead of an envelope`;
  return 'the body lacks the envelope: `status`, an integer `code`, or `message`';
}

/** Maximum total length of field names and messages, in UTF-16 code units. The client drops further field errors. */
const FIELD_ERRORS_LIMIT = 65_536;

/** Length added for each name and message, which also limits the number of empty messages. */
const MIN_COST = 16;

/** Returns the field errors of a 422, whatever their form in the body. Applies `clean` to every string. */
export function readFieldErrors(body: unknown, clean: (text: string) => string): Record<string, string[]> {
  const errors = isObject(body) ? body.errors : undefined;
  const fields = new Map<string, string[]>();
  let left = FIELD_ERRORS_LIMIT;
  for (const [name, value] of isObject(errors) ? Object.entries(errors) : []) {
    const messages: string[] = [];
    for (const message of Array.isArray(value) ? value : [value]) {
      if (left <= 0) break;
      messages.push(clean(textOf(message)));
      left -= MIN_COST + (messages.at(-1)?.length ?? 0);
    }
    if (left <= 0 && messages.length === 0) break;
    const field = clean(name);
    fields.set(field, [...(fields.get(field) ?? []), ...messages]);
    left -= MIN_COST + field.length;
  }
  return Object.fromEntries(fields);
}

function textOf(message: unknown): string {
  if (typeof message === 'string') return message;
  try {
    return JSON.stringify(message);
  } catch {
    return '(nested too deeply)';
  }
}
