import { ConfigurationError } from '../errors/audience-error.ts';
import type { FieldErrors } from '../errors/error-details.ts';
import { isObject, jsonTypeOf } from './json.ts';
import { lettersOf, similarName } from './similar-names.ts';

/** Error of input that the client cannot send. `errors` contains messages by field. */
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

/** Formats a caller's value for a message. Puts strings in quotes, and names only the type of an object. */
export function formatValue(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value);
  return Object(value) === value ? jsonTypeOf(value) : String(value);
}

/** Matches a short address without user, query or fragment. Somebody may have passed a token instead of the URL. */
const URL_WITHOUT_SECRET = /^(?=.*[.:/])[\w.:/-]{1,60}$/;

/** Formats a URL for a message, unless a part of it may contain credentials. */
export const formatUrl = (url: unknown): string =>
  typeof url === 'string' && !URL_WITHOUT_SECRET.test(url) ? '[redacted]' : formatValue(url);

/**
 * Refuses an option whose name is not in `names`, because a misspelled option would have no effect.
 *
 * @param of Owner of the options, as named in errors, such as `audiences.create`.
 */
export function checkOptionNames(options: unknown, of: string, names: readonly string[]): void {
  if (!isObject(options)) throw new ConfigurationError(`The options of ${of} must be an object.`);
  const unknown = Object.keys(options).find((name) => !names.includes(name) && options[name] !== undefined);
  if (unknown !== undefined) throw new ConfigurationError(unknownOption(unknown, of, names));
}

/** Maximum number of names that an error lists. */
const MAX_LISTED_NAMES = 11;

/** Minimum letters of a name to match the end of a known name, such as `retries` for `maxRetries`. */
const MIN_PART_LETTERS = 5;

/** Names that other packages use for the `token` option, in lower case and without separators. */
const TOKEN_NAMES = /^(?:apikey|apitoken|accesstoken|authtoken|bearer|bearertoken)$/;

export function unknownOption(name: string, of: string, names: readonly string[], prefix = ''): string {
  const option = `\`${prefix}${name}\` is not an option of ${of}`;
  const spelled = names.find((other) => lettersOf(other) === lettersOf(name));
  if (spelled !== undefined) return `${option}: it is spelled \`${spelled}\`.`;
  if (names.includes('token') && TOKEN_NAMES.test(lettersOf(name))) return `${option}. Did you mean \`token\`?`;
  if (names.length <= MAX_LISTED_NAMES) return `${option}: use ${names.join(', ')}.`;
  const longer = names.filter((other) => name.length >= MIN_PART_LETTERS && lettersOf(other).endsWith(lettersOf(name)));
  const similar = similarName(name, names) ?? (longer.length === 1 ? longer[0] : undefined);
  return similar === undefined ? `${option}.` : `${option}. Did you mean \`${similar}\`?`;
}

/** Returns whether a value is a promise, including promises of another realm or library. */
const isPromise = (value: unknown): boolean => isObject(value) && typeof value.then === 'function';

/** Handles the rejection of a refused promise: an unhandled rejection would end the process. */
export function silenceRejection<T>(value: T): T {
  if (value instanceof Promise) value.catch(() => {});
  return value;
}

export function promiseProblem(value: unknown): string | undefined {
  return isPromise(silenceRejection(value)) ? 'The value is a Promise. Add `await`.' : undefined;
}

/** Refuses a promise, or an object with a promise in a field. As JSON, a promise would be `{}`. */
export function refusePromises(name: string, value: unknown): void {
  if (!isObject(value) || ArrayBuffer.isView(value)) return;
  for (const [field, content] of Object.entries(isPromise(value) ? { [name]: value } : value)) {
    const problem = promiseProblem(content);
    if (problem !== undefined) throw new InvalidInputError({ [field]: [problem] });
  }
}

/** Returns why a number cannot be sent exactly. In JSON, for example, `NaN` would become `null`. */
export function numberProblem(value: unknown): string | undefined {
  if (typeof value !== 'number' || Math.abs(value) <= Number.MAX_SAFE_INTEGER) return undefined;
  return Number.isFinite(value)
    ? 'The number is beyond 2^53-1, so JavaScript may have rounded it. Pass a string if the service accepts one.'
    : `must be a finite number, not ${value}.`;
}

/** Returns the errors of the numbers in a value, by path. The value must not be circular. */
export function numberErrors(value: unknown, path = ''): FieldErrors {
  if (typeof value !== 'object' || value === null) {
    const problem = numberProblem(value);
    return problem === undefined ? {} : { [path || 'body']: [problem] };
  }
  // The result of `toJSON` is not known here.
  if ('toJSON' in value) return {};
  const errors = Object.entries(value).map(([name, item]) => numberErrors(item, path ? `${path}.${name}` : name));
  return Object.assign({}, ...errors);
}

/**
 * Refuses a query whose entries are not properties, such as `URLSearchParams`. The client would send an empty query.
 */
export function refuseOddQuery(name: string, query: unknown): void {
  if (query === null) return;
  refusePromises(name, query);
  if (Object.prototype.toString.call(query) === '[object Object]') return;
  const problem = 'must be an object with the parameters as properties. Convert entries with `Object.fromEntries`.';
  throw new InvalidInputError({ [name]: [problem] });
}

/** Returns why a query parameter cannot have this value, or `undefined` if it can. */
export function queryValueProblem(value: unknown): string | undefined {
  if (typeof value === 'object' || typeof value === 'function' || typeof value === 'symbol') {
    return (
      promiseProblem(value) ??
      'must be a string, a number, a boolean, or an array of these. Convert other values to strings.'
    );
  }
  return numberProblem(value);
}

export function idProblem(id: unknown): string | undefined {
  if (Number.isSafeInteger(id) && Number(id) > 0) return undefined;
  return promiseProblem(id) ?? `must be a positive integer, not ${formatValue(id)}.`;
}

/** Refuses options that are not numbers of 0 or more. `NaN`, for example, could cause endless retries. */
export function checkNumbers<Name extends string>(
  options: Readonly<Partial<Record<Name, unknown>>>,
  names: readonly Name[],
): void {
  for (const name of names) {
    const value = options[name];
    if (value === undefined || (typeof value === 'number' && value >= 0)) continue;
    throw new ConfigurationError(`\`${name}\` must be a number of 0 or more, not ${value}.`);
  }
}

export function checkSendable(headers: Readonly<Record<string, string>>): void {
  if (isSendable(headers)) return;
  const [name] = Object.entries(headers).find(([one, value]) => !isSendable({ [one]: value })) ?? [];
  throw new InvalidInputError({
    headers: [`"${name}" is not a valid header name, or its value is not a valid header value.`],
  });
}

function isSendable(headers: Readonly<Record<string, string>>): boolean {
  try {
    return new Headers(headers) !== undefined;
  } catch {
    return false;
  }
}

/** Returns headers with lower-case names. If several names differ only in case, keeps the last header. */
export function lowerCased(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

/** Names of the headers that only the client may set. */
const RESERVED_HEADERS: ReadonlySet<string> = new Set(['authorization', 'accept', 'content-type', 'idempotency-key']);

export function checkHeaders(headers: Readonly<Record<string, string>>): void {
  for (const name of Object.keys(headers)) {
    if (!RESERVED_HEADERS.has(name.toLowerCase())) continue;
    throw new ConfigurationError(`\`headers\` must not set ${name}: the client sets it.`, {
      advice: 'Use `token` for authorization and `idempotencyKey` for keys.',
    });
  }
}

/** Names of headers that would break an upload or reveal a secret to storage. */
const NOT_FOR_STORAGE =
  /^(?:authorization|connection|content-length|cookie|expect|host|idempotency-key|keep-alive|te|trailer|transfer-encoding|upgrade)$/i;

/** Refuses invalid headers, and headers that the client must not send to storage. */
export function checkStorageHeaders(headers: Readonly<Record<string, string>>): void {
  const name = Object.keys(headers).find((header) => NOT_FOR_STORAGE.test(header));
  if (name !== undefined) throw new ConfigurationError(`\`headers\` of an upload must not set ${name}.`);
  checkSendable(headers);
}

/** Matches printable ASCII without spaces: tokens that a header can contain. */
const HEADER_SAFE = /^[\x21-\x7e]+$/;

/** Returns whether a value can be sent as a bearer token. */
export function isUsableToken(token: unknown): token is string {
  return typeof token === 'string' && HEADER_SAFE.test(token);
}
