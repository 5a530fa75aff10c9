import { ConfigurationError } from '../errors/audience-error.ts';
import type { FieldErrors } from '../errors/error-details.ts';

/** Input that cannot be sent; `errors` contains messages by field. */
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

/** Formats a caller's value for a message; strings are quoted. */
export const formatValue = (value: unknown): string =>
  typeof value === 'string' ? JSON.stringify(value) : String(value);

/** Refuses options that are not numbers of 0 or more: `NaN`, for example, could cause endless retries. */
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

/** Refuses invalid header names and values. */
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

/** Returns headers with lower-case names. Of several names that differ only in case, the last one is used. */
export function lowerCased(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

/** Names of the headers that only the SDK may set. */
const RESERVED_HEADERS: ReadonlySet<string> = new Set(['authorization', 'accept', 'content-type', 'idempotency-key']);

/** Refuses {@link RESERVED_HEADERS}. */
export function checkHeaders(headers: Readonly<Record<string, string>>): void {
  for (const name of Object.keys(headers)) {
    if (!RESERVED_HEADERS.has(name.toLowerCase())) continue;
    throw new ConfigurationError(
      `\`headers\` must not set ${name}: the client sets it. Use \`token\` for authorization and \`idempotencyKey\` for keys.`,
    );
  }
}

/** Names of headers that would break an upload or reveal a secret to storage. */
const NOT_FOR_STORAGE: ReadonlySet<string> = new Set([
  'authorization',
  'connection',
  'content-length',
  'cookie',
  'expect',
  'host',
  'idempotency-key',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Refuses invalid headers, and those that must not be sent to storage. */
export function checkStorageHeaders(headers: Readonly<Record<string, string>>): void {
  const name = Object.keys(headers).find((header) => NOT_FOR_STORAGE.has(header.toLowerCase()));
  if (name !== undefined) throw new ConfigurationError(`\`headers\` of an upload must not set ${name}.`);
  checkSendable(headers);
}
