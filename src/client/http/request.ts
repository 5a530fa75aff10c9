import { v4 as uuid } from 'uuid';
import {
  isOperationName,
  type OperationOverride,
  type PathParams,
  type Query,
  type Reads,
  type ResolvedOperation,
} from '../../spec/operations.ts';
import { callbackError } from '../../util/callbacks.ts';
import {
  checkHeaders,
  checkSendable,
  formatValue,
  InvalidInputError,
  idProblem,
  lowerCased,
  numberErrors,
  promiseProblem,
  queryValueProblem,
  silenceRejection,
} from '../../util/input-checks.ts';
import { isObject } from '../../util/json.ts';

/** Path parameters, query and body of a call. */
export interface RequestInput {
  readonly params?: PathParams;
  readonly query?: Query;
  /** A JSON value or a `FormData`. */
  readonly body?: unknown;
}

/** A built request, whose bytes every attempt sends. */
export interface PreparedRequest {
  readonly method: string;
  readonly url: string;
  /** Path with its parameters, below the base URL, without query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array<ArrayBuffer>;
}

/** Replaces each `{name}` with the encoded value. Refuses values that would address another path, such as `..`. */
function fillPath(template: string, params: PathParams): string {
  let path = template;
  for (const [name, value] of Object.entries<unknown>(params)) {
    // URL parsers resolve `.` and `..`, so the request would address another resource.
    const isUsable =
      typeof value === 'number' ? Number.isFinite(value) : typeof value === 'string' && !/^\.{0,2}$/.test(value);
    if (!isUsable) throw paramError(name, value);
    path = path.replaceAll(`{${name}}`, encodeURIComponent(String(value)));
  }
  const missing = /\{(\w+)\}/.exec(path)?.[1];
  if (missing !== undefined) throw paramError(missing, undefined);
  return path;
}

const paramError = (name: string, value: unknown): InvalidInputError =>
  new InvalidInputError({
    [name]: [promiseProblem(value) ?? `${formatValue(value)} cannot be part of a path. Pass an id.`],
  });

/** Refuses an id that no resource can have. Does not check the parameters of `client.request`. */
function checkId({ name }: ResolvedOperation, { id }: PathParams): void {
  if ((Number.isSafeInteger(id) && Number(id) > 0) || !isOperationName(name)) return;
  const problem = idProblem(id);
  if (problem !== undefined) throw new InvalidInputError({ id: [problem] });
}

function queryString(query: Query): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const item of Array.isArray(value) ? value : [value]) {
      if (item === undefined || item === null) continue;
      const problem = queryValueProblem(item);
      if (problem !== undefined) throw new InvalidInputError({ [name]: [problem] });
      search.append(name, String(item));
    }
  }
  return search.size > 0 ? `?${search}` : '';
}

/** The bytes and the content type of a body. */
interface EncodedBody {
  readonly type: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/**
 * Serializes a form once, so that all attempts send the same boundary and bytes. Does not use a `Response`, because
 * WebKit cannot read a `Response` whose form has files.
 */
async function encodeForm(form: FormData): Promise<EncodedBody> {
  const boundary = `form-${uuid()}`;
  const parts = [...form].flatMap(([name, value]) => {
    const head = `--${boundary}\r\nContent-Disposition: form-data; name="${quotable(withCrlf(name))}"`;
    if (typeof value === 'string') return [`${head}\r\n\r\n${withCrlf(value)}\r\n`];
    const type = value.type || 'application/octet-stream';
    return [`${head}; filename="${quotable(value.name)}"\r\nContent-Type: ${type}\r\n\r\n`, value, '\r\n'];
  });
  const body = new Blob([...parts, `--${boundary}--\r\n`]);
  return { type: `multipart/form-data; boundary=${boundary}`, bytes: new Uint8Array(await body.arrayBuffer()) };
}

/** Normalizes line breaks, as the HTML standard requires of the names and values in a form. */
const withCrlf = (text: string): string => text.replace(/\r\n?|\n/g, '\r\n');

/** Escapes a name in a form, as the HTML standard requires. */
const quotable = (name: string): string => name.replaceAll('\r', '%0D').replaceAll('\n', '%0A').replaceAll('"', '%22');

/** Matches JSON that may contain a number beyond 2^53-1, or a `null` that replaces `NaN`. */
const ODD_NUMBER = /\d{16}|\de\+|null/;

const NO_JSON = 'must be a JSON value or a FormData.';

function encodeBody(body: unknown): EncodedBody | Promise<EncodedBody> {
  if (body instanceof FormData) {
    return encodeForm(body).catch((error) => {
      throw new InvalidInputError({
        body: [`The form cannot be read (${error.message}). A file in the form may have changed or been removed.`],
      });
    });
  }
  if (
    body instanceof Promise ||
    body instanceof Blob ||
    body instanceof ArrayBuffer ||
    ArrayBuffer.isView(body) ||
    body instanceof URLSearchParams
  ) {
    throw new InvalidInputError({ body: [NO_JSON] });
  }
  let text: string | undefined;
  try {
    text = JSON.stringify(body);
  } catch (error) {
    throw new InvalidInputError({
      body: [`The body cannot be written as JSON (${error instanceof Error ? error.message : error}).`],
    });
  }
  if (text === undefined) throw new InvalidInputError({ body: [NO_JSON] });
  if (ODD_NUMBER.test(text)) {
    const errors = numberErrors(body);
    if (Object.keys(errors).length > 0) throw new InvalidInputError(errors);
  }
  return { type: 'application/json', bytes: new TextEncoder().encode(text) };
}

/** The `Accept` header. The service requires that the header contains `application/json`. */
const ACCEPT: Readonly<Record<Reads, string>> = {
  envelope: 'application/json',
  'json-rpc': 'application/json, text/event-stream',
};

/**
 * Builds the URL, the headers and the body bytes of a call.
 *
 * @throws {InvalidInputError} for a path parameter, a query, a header or a body that the client cannot send.
 */
export async function prepareRequest({
  operation,
  input,
  settings,
  options,
  headers,
  key,
}: RequestPlan): Promise<PreparedRequest> {
  const { method, path: template, override, reads } = operation;
  if (/[?#]/.test(template)) {
    throw new InvalidInputError({ path: ['must not contain "?" or "#". Use `query` instead.'] });
  }
  const params = input.params ?? {};
  if ('id' in params) checkId(operation, params);
  const path = fillPath(template, params);
  const planned = options.query ? { ...input, query: { ...options.query, ...input.query } } : input;
  const { query, body } = override ? applyOverride(operation.name, override, { ...planned, params }) : planned;
  for (const [name, value] of Object.entries(params)) {
    if (template.includes(`{${name}}`) || contains(query, value) || contains(body, value)) continue;
    throw unsentError(name, override);
  }
  if (body !== undefined && method === 'GET')
    throw new InvalidInputError({ body: ['A GET request cannot have a body. Use `query`.'] });
  const encoded = body === undefined ? undefined : await encodeBody(body);
  // `{}` and `[]` are two bytes long.
  const isEmpty = body === undefined || body === null || encoded?.bytes.length === 2;
  if (operation.startsJob && !override && isEmpty) {
    throw new InvalidInputError({ body: ['The body is empty. Pass the fields of the resource to create.'] });
  }
  return {
    method,
    url: `${settings.baseUrl}${path}${query ? queryString(query) : ''}`,
    path,
    headers: {
      ...settings.headers,
      ...(headers && checkedHeaders(headers)),
      accept: ACCEPT[reads],
      ...(encoded && { 'content-type': encoded.type }),
      ...(key !== undefined && { 'idempotency-key': checkKey(key) }),
    },
    ...(encoded && { body: encoded.bytes }),
  };
}

/** The parts of a call that define its request. */
interface RequestPlan {
  readonly operation: ResolvedOperation;
  readonly input: RequestInput;
  readonly settings: { readonly baseUrl: string; readonly headers: HeaderRecord };
  readonly options: { readonly query?: Query | undefined };
  /** Additional headers of this call. */
  readonly headers: HeaderRecord | undefined;
  /** The idempotency key, for operations that take a key. */
  readonly key: string | undefined;
}

type HeaderRecord = Readonly<Record<string, string>>;

/** Checks the headers of a call, and returns them by lower-case name. */
export function checkedHeaders(headers: HeaderRecord): HeaderRecord {
  checkHeaders(headers);
  checkSendable(headers);
  return lowerCased(headers);
}

/** Matches a key that a header can contain unchanged: visible ASCII, with spaces only between other characters. */
const KEY = /^[\x21-\x7e](?:[\x20-\x7e]{0,253}[\x21-\x7e])?$/;

/** Returns the problem of an idempotency key that a header cannot contain unchanged. */
export const keyProblem = (key: string): string | undefined =>
  typeof key === 'string' && KEY.test(key)
    ? undefined
    : `must be 1 to 255 ASCII characters, without leading or trailing spaces, not ${formatValue(key)}.`;

function checkKey(key: string): string {
  const problem = keyProblem(key);
  if (problem !== undefined) throw new InvalidInputError({ idempotencyKey: [problem] });
  return key;
}

/** Returns the query and the body of a call after the user's override has changed them. */
function applyOverride(
  name: string,
  override: OperationOverride,
  { params = {}, query, body }: RequestInput,
): Pick<RequestInput, 'query' | 'body'> {
  let part = 'query';
  try {
    const changed = override.query ? checkQuery(override.query(query ?? {}, params)) : query;
    part = 'body';
    const changedBody = override.body ? silenceRejection(override.body(body, params)) : body;
    return { ...(changed && { query: changed }), body: changedBody };
  } catch (error) {
    throw callbackError(`\`operations["${name}"].${part}\``, error);
  }
}

/**
 * Returns the error for a path parameter that the request would not contain. Such a request could act on other
 * resources.
 */
function unsentError(name: string, override: OperationOverride | undefined): InvalidInputError {
  const fix = override
    ? `Write \`{${name}}\` into the path, or send \`params.${name}\` with the override's \`query\` or \`body\` function.`
    : `Write \`{${name}}\` into the path.`;
  return new InvalidInputError({ [name]: [`The request would not contain this parameter. ${fix}`] });
}

/** Returns whether a query or a body contains a value, alone or within a string. */
function contains(sent: unknown, value: string | number): boolean {
  if (sent instanceof FormData) return [...sent.values()].some((part) => contains(part, value));
  if (typeof sent !== 'object' || sent === null) return sent !== undefined && String(sent).includes(String(value));
  return Object.values(sent).some((part) => contains(part, value));
}

/** Refuses a query that is not an object. A promise, for example, would be sent as an empty query. */
function checkQuery(query: Query): Query {
  if (isObject(silenceRejection(query)) && !(query instanceof Promise)) return query;
  throw new TypeError(`it must return an object, not ${query instanceof Promise ? 'a promise' : formatValue(query)}`);
}
