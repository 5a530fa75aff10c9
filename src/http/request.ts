import type { PathParams, Query, Reads, ResolvedOperation } from '../spec/operations.ts';
import { InvalidInputError, shown } from '../util/input-checks.ts';
import { applyOverride } from './apply-override.ts';

/** What a call wants to send. */
export interface RequestInput {
  readonly params?: PathParams;
  readonly query?: Query;
  /** A JSON value or a `FormData`. */
  readonly body?: unknown;
}

/** A request built once; every attempt sends the very same bytes. */
export interface PreparedRequest {
  readonly method: string;
  readonly url: string;
  /** Path with its parameters, below the base URL, without query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array<ArrayBuffer>;
}

/** Fills `{name}` with encoded values. */
function fillPath(template: string, params: PathParams): string {
  return template.replace(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(checkParam(name, Object.hasOwn(params, name) ? params[name] : undefined)),
  );
}

/** Refuses what would change the shape of a path, and no id is, wherever it goes. */
function checkParam(name: string, value: unknown): string {
  // URL parsers drop `.` and `..` and would address another resource.
  const usable =
    typeof value === 'number' ? Number.isFinite(value) : typeof value === 'string' && !/^\.{0,2}$/.test(value);
  if (usable) return String(value);
  throw new InvalidInputError({ [name]: [`${shown(value)} cannot be part of a path; give an id.`] });
}

function queryString(query: Query | undefined): string {
  if (!query) return '';
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== undefined && one !== null) search.append(name, String(one));
    }
  }
  return search.size > 0 ? `?${search}` : '';
}

/** A body's bytes, and what they are. */
interface Encoded {
  readonly type: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** Serialised once, so that repeats carry the same boundary and bytes. */
async function encodeForm(body: FormData): Promise<Encoded> {
  const form = new Response(body);
  return {
    type: form.headers.get('content-type') ?? 'multipart/form-data',
    bytes: new Uint8Array(await form.arrayBuffer()),
  };
}

function encodeJson(body: unknown): Encoded {
  if (
    body instanceof Blob ||
    body instanceof ArrayBuffer ||
    ArrayBuffer.isView(body) ||
    body instanceof URLSearchParams
  ) {
    throw new InvalidInputError({ body: ['must be a JSON value or a FormData.'] });
  }
  let text: string | undefined;
  try {
    text = JSON.stringify(body);
  } catch (error) {
    throw new InvalidInputError({
      body: [`cannot be written as JSON: ${error instanceof Error ? error.message : error}`],
    });
  }
  if (text === undefined) throw new InvalidInputError({ body: ['cannot be written as JSON.'] });
  return { type: 'application/json', bytes: new TextEncoder().encode(text) };
}

/** What is asked for; the service wants `application/json` among it. */
const ACCEPT: Readonly<Record<Reads, string>> = {
  envelope: 'application/json',
  'json-rpc': 'application/json, text/event-stream',
};

/**
 * Builds URL, headers and body bytes of a call; only a form takes time.
 *
 * @throws {InvalidInputError} for a path parameter or a body that cannot be sent.
 */
export function prepareRequest(
  operation: ResolvedOperation,
  input: RequestInput,
  base: { readonly url: string; readonly headers: Readonly<Record<string, string>> },
  idempotencyKey: string | undefined,
): PreparedRequest | Promise<PreparedRequest> {
  if (/[?#]/.test(operation.path)) {
    throw new InvalidInputError({ path: ['must not hold "?" or "#": give `query` instead.'] });
  }
  const { method } = operation;
  const params = input.params ?? {};
  for (const [name, value] of Object.entries(params)) checkParam(name, value);
  const path = fillPath(operation.path, params);
  const { query, body } = applyOverride(operation, { ...input, params });
  if (body instanceof Promise) throw new InvalidInputError({ body: ['must not be a promise.'] });
  if (body !== undefined && method === 'GET') throw new InvalidInputError({ body: ['cannot go with a GET.'] });
  const url = `${base.url}${path}${queryString(query)}`;
  const withBody = (encoded?: Encoded): PreparedRequest => ({
    method,
    url,
    path,
    headers: {
      ...base.headers,
      accept: ACCEPT[operation.reads],
      ...(encoded && { 'content-type': encoded.type }),
      ...(idempotencyKey !== undefined && { 'idempotency-key': checkKey(idempotencyKey) }),
    },
    ...(encoded && { body: encoded.bytes }),
  });
  if (body instanceof FormData) return encodeForm(body).then(withBody);
  return withBody(body === undefined ? undefined : encodeJson(body));
}

/** What a header carries unchanged: visible ASCII, spaces inside. */
const KEY = /^[\x21-\x7e](?:[\x20-\x7e]{0,253}[\x21-\x7e])?$/;

function checkKey(key: unknown): string {
  if (typeof key === 'string' && KEY.test(key)) return key;
  throw new InvalidInputError({ idempotencyKey: ['must be 1 to 255 characters of ASCII, without space at its ends.'] });
}
