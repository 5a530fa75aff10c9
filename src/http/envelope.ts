import { isObject, type JsonObject, parseJson } from '../util/json.ts';

/** The service's response envelope of a success ("Response envelope"). */
export interface Envelope {
  readonly status: 'success';
  /** Mirrors the HTTP status. */
  readonly code: number;
  /** Human-readable; log it, but branch on `status` and `code`. */
  readonly message: string;
  /** The payload; absent where there is none. */
  readonly data?: unknown;
}

function isEnvelope(value: unknown): value is Envelope & JsonObject {
  return (
    isObject(value) && value.status === 'success' && Number.isInteger(value.code) && typeof value.message === 'string'
  );
}

/** What the text of a 2xx is: a success, a refusal all the same (`status: error`), or no envelope. */
export type EnvelopeReading =
  | { readonly envelope: Envelope }
  | { readonly refusal: unknown }
  | { readonly problem: string };

/** Whether a value is the envelope of a refusal. */
export function isRefusal(value: unknown): boolean {
  return isObject(value) && value.status === 'error';
}

/** Reads the envelope in an answer's text. */
export function readEnvelope(text: string): EnvelopeReading {
  const value = parseJson(text);
  if (isEnvelope(value)) return { envelope: value };
  if (isRefusal(value)) return { refusal: value };
  return { problem: problemOf(text, value) };
}

/** Why a text has no JSON value. */
export function notJson(text: string, value: unknown): string | undefined {
  if (text.trim() === '') return 'the body is empty';
  if (value !== undefined) return undefined;
  return /^\s*</.test(text) ? 'the body is HTML or XML, as from a proxy' : 'the body is not complete JSON';
}

function problemOf(text: string, value: unknown): string {
  const broken = notJson(text, value);
  if (broken !== undefined) return broken;
  if (Array.isArray(value)) return 'the body is a list instead of an envelope';
  if (!isObject(value)) return `the body is ${value === null ? 'null' : `a ${typeof value}`} instead of an envelope`;
  return 'the body lacks the envelope: `status`, an integer `code`, and `message`';
}

/** How much of all messages about fields is kept, in UTF-16 units. */
const FIELD_ERRORS_LIMIT = 65_536;

/** What a name or a message counts besides its length: empty ones are bounded, too. */
const LEAST_COST = 16;

/** Returns the field errors of a 422 in one shape, whatever the body holds; `clean` is applied to every text. */
export function readFieldErrors(body: unknown, clean: (text: string) => string): Record<string, string[]> {
  const errors = isObject(body) ? body.errors : undefined;
  const fields = new Map<string, string[]>();
  let left = FIELD_ERRORS_LIMIT;
  for (const [name, value] of isObject(errors) ? Object.entries(errors) : []) {
    const messages: string[] = [];
    for (const message of Array.isArray(value) ? value : [value]) {
      if (left <= 0) break;
      messages.push(clean(textOf(message)));
      left -= LEAST_COST + (messages.at(-1)?.length ?? 0);
    }
    if (left <= 0 && messages.length === 0) break;
    const field = clean(name);
    fields.set(field, [...(fields.get(field) ?? []), ...messages]);
    left -= LEAST_COST + field.length;
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
