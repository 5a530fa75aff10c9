import type { FieldErrors } from '../errors/api.ts';
import { ConfigurationError } from '../errors/base.ts';
import type { Query, ResolvedOperation } from '../operations.ts';

/** Values of a path's parameters. */
export type PathParams = Readonly<Record<string, string | number>>;

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

/** The input cannot be sent; nothing was. */
export class InvalidInputError extends Error {
  readonly errors: FieldErrors;
  constructor(errors: FieldErrors) {
    super(
      Object.entries(errors)
        .map(([field, messages]) => `${field}: ${messages.join(' ')}`)
        .join('; '),
    );
    this.name = 'InvalidInputError';
    this.errors = errors;
  }
}

/** Fills `{name}` with encoded values; refuses what would change the path's shape. */
function fillPath(template: string, params: PathParams): string {
  return template.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = Object.hasOwn(params, name) ? String(params[name]) : '';
    // URL parsers drop `.` and `..` and would address another resource.
    if (value === '' || /^\.{1,2}$/.test(value) || value === 'NaN') {
      throw new InvalidInputError({ [name]: [`"${value}" cannot be part of a path; give an id.`] });
    }
    return encodeURIComponent(value);
  });
}

function queryString(query: Query): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== undefined && one !== null) search.append(name, String(one));
    }
  }
  return search.size > 0 ? `?${search}` : '';
}

async function encodeBody(body: unknown): Promise<{ type: string; bytes: Uint8Array<ArrayBuffer> }> {
  if (body instanceof FormData) {
    // Serialised once, so that repeats carry the same boundary and bytes.
    const form = new Response(body);
    return {
      type: form.headers.get('content-type') ?? 'multipart/form-data',
      bytes: new Uint8Array(await form.arrayBuffer()),
    };
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

/**
 * Builds URL, headers and body bytes of a call.
 *
 * @throws {InvalidInputError} for a path parameter or a body that cannot be sent.
 */
export async function prepareRequest(
  operation: ResolvedOperation,
  input: RequestInput,
  base: { readonly url: string; readonly headers: Readonly<Record<string, string>> },
  idempotencyKey: string | undefined,
): Promise<PreparedRequest> {
  const path = fillPath(operation.path, input.params ?? {});
  const query = operation.query ? operation.query(input.query ?? {}) : (input.query ?? {});
  const adapted = operation.body && !(input.body instanceof FormData) ? operation.body(input.body) : input.body;
  const body = adapted === undefined ? undefined : await encodeBody(adapted);
  return {
    method: operation.method,
    url: `${base.url}${path}${queryString(query)}`,
    path,
    headers: {
      ...base.headers,
      accept: 'application/json',
      ...(body && { 'content-type': body.type }),
      ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
    },
    ...(body && { body: body.bytes }),
  };
}

/** Header names that belong to the SDK. */
const RESERVED_HEADERS: ReadonlySet<string> = new Set(['authorization', 'accept', 'content-type', 'idempotency-key']);

/** Refuses headers that only the SDK may set. */
export function checkHeaders(headers: Readonly<Record<string, string>>): void {
  for (const name of Object.keys(headers)) {
    if (!RESERVED_HEADERS.has(name.toLowerCase())) continue;
    throw new ConfigurationError(
      `\`headers\` may not set ${name}: the client sets it itself. Use \`token\` for authorization and \`idempotencyKey\` for keys.`,
    );
  }
}
