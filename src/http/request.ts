import type { PathParams, Query, Reads, ResolvedOperation } from '../spec/operations.ts';
import { checkHeaders, checkSendable, InvalidInputError, lowerCased, shown } from '../util/input-checks.ts';
import { isObject } from '../util/json.ts';

/** The data of a call. */
export interface RequestInput {
  readonly params?: PathParams;
  readonly query?: Query;
  /** A JSON value or a `FormData`. */
  readonly body?: unknown;
}

/** A request built once; every attempt sends the same bytes. */
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
  throw new InvalidInputError({ [name]: [`${shown(value)} cannot be part of a path; pass an id.`] });
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

/** A body's bytes and their content type. */
interface EncodedBody {
  readonly type: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** Serializes once, so that retries carry the same boundary and bytes. */
async function encodeForm(body: FormData): Promise<EncodedBody> {
  const form = new Response(body);
  return {
    type: form.headers.get('content-type') ?? 'multipart/form-data',
    bytes: new Uint8Array(await form.arrayBuffer()),
  };
}

function encodeJson(body: unknown): EncodedBody {
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

/** The `Accept` header; the service requires `application/json` in it. */
const ACCEPT: Readonly<Record<Reads, string>> = {
  envelope: 'application/json',
  'json-rpc': 'application/json, text/event-stream',
};

/**
 * Builds URL, headers and body bytes of a call; only a form is built asynchronously.
 *
 * @throws {InvalidInputError} for a path parameter or a body that cannot be sent.
 */
export function prepareRequest({
  operation,
  input,
  settings,
  options,
  key,
}: RequestPlan): PreparedRequest | Promise<PreparedRequest> {
  if (/[?#]/.test(operation.path)) {
    throw new InvalidInputError({ path: ['must not contain "?" or "#": use `query` instead.'] });
  }
  const { method } = operation;
  const params = input.params ?? {};
  for (const [name, value] of Object.entries(params)) checkParam(name, value);
  const path = fillPath(operation.path, params);
  const { query, body } = applyOverride(operation, { ...input, params });
  if (body instanceof Promise) throw new InvalidInputError({ body: ['must not be a promise.'] });
  if (body !== undefined && method === 'GET') throw new InvalidInputError({ body: ['cannot be sent with a GET.'] });
  const url = `${settings.baseUrl}${path}${queryString(query)}`;
  const headers = headersOf(settings.headers, options.headers);
  const withBody = (encoded?: EncodedBody): PreparedRequest => ({
    method,
    url,
    path,
    headers: {
      ...headers,
      accept: ACCEPT[operation.reads],
      ...(encoded && { 'content-type': encoded.type }),
      ...(key !== undefined && { 'idempotency-key': checkKey(key) }),
    },
    ...(encoded && { body: encoded.bytes }),
  });
  if (body instanceof FormData) return encodeForm(body).then(withBody);
  return withBody(body === undefined ? undefined : encodeJson(body));
}

/** The parts of a call that its request is built from. */
interface RequestPlan {
  readonly operation: ResolvedOperation;
  readonly input: RequestInput;
  readonly settings: { readonly baseUrl: string; readonly headers: HeaderRecord };
  readonly options: { readonly headers?: HeaderRecord | undefined };
  /** The idempotency key, for operations that take one. */
  readonly key: string | undefined;
}

type HeaderRecord = Readonly<Record<string, string>>;

/** Returns the client's headers with those of the call. */
function headersOf(clientHeaders: HeaderRecord, callHeaders: HeaderRecord | undefined): HeaderRecord {
  if (!callHeaders) return clientHeaders;
  checkHeaders(callHeaders);
  checkSendable(callHeaders);
  return { ...clientHeaders, ...lowerCased(callHeaders) };
}

/** The characters that a header carries unchanged: visible ASCII, spaces inside. */
const KEY = /^[\x21-\x7e](?:[\x20-\x7e]{0,253}[\x21-\x7e])?$/;

function checkKey(key: unknown): string {
  if (typeof key === 'string' && KEY.test(key)) return key;
  throw new InvalidInputError({
    idempotencyKey: ['must be 1 to 255 characters of ASCII, without leading or trailing spaces.'],
  });
}

/** The data of a request besides its path. */
interface RequestData {
  readonly query: Query | undefined;
  readonly body: unknown;
}

/**
 * Returns query and body of a call, adapted by the user's override of its operation.
 *
 * @throws {InvalidInputError} for a value that would not be sent: the request would act on another resource, or on all.
 */
export function applyOverride({ path, override }: ResolvedOperation, input: RequestInput): RequestData {
  const { params = {} } = input;
  const query = override?.query ? checkQuery(override.query(input.query ?? {}, params)) : input.query;
  const body = override?.body ? silenceRejection(override.body(input.body, params)) : input.body;
  const unsent = Object.entries(params).find(
    ([name, value]) => !path.includes(`{${name}}`) && !holds(query, value) && !holds(body, value),
  );
  if (!unsent) return { query, body };
  const [name] = unsent;
  const fix = override
    ? `write \`{${name}}\` into the path, or have \`query\` or \`body\` of the override send \`params.${name}\`.`
    : `write \`{${name}}\` into the path.`;
  throw new InvalidInputError({ [name]: [`would not be sent: ${fix}`] });
}

/** Whether a query or a body contains a value, alone or within a string. */
function holds(sent: unknown, value: string | number): boolean {
  if (sent instanceof FormData) return [...sent.values()].some((part) => holds(part, value));
  if (typeof sent !== 'object' || sent === null) return sent !== undefined && String(sent).includes(String(value));
  return Object.values(sent).some((part) => holds(part, value));
}

/** Refuses what would be sent as an empty query. */
function checkQuery(query: Query): Query {
  if (isObject(silenceRejection(query)) && !(query instanceof Promise)) return query;
  throw new TypeError('the `query` of an override must return an object, not a promise');
}

/** Keeps the rejection of a promise, which is refused anyway, from ending the process. */
function silenceRejection<T>(value: T): T {
  if (value instanceof Promise) value.catch(() => {});
  return value;
}
