import { ConfigurationError } from '../errors/audience-error.ts';
import type { FieldErrors } from '../errors/error-details.ts';

/** Input that cannot be sent. */
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

/** Returns a caller's value as messages show it. */
export const shown = (value: unknown): string => (typeof value === 'string' ? JSON.stringify(value) : String(value));

/** Refuses numbers that a typo or a missing value would turn into endless work. */
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

/** Refuses header names and values that no request can carry. */
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

/** Returns headers by lower-case name, so that a later one replaces an earlier one. */
export function lowerCased(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

/** Header names that belong to the SDK. */
const RESERVED_HEADERS: ReadonlySet<string> = new Set(['authorization', 'accept', 'content-type', 'idempotency-key']);

/** Refuses headers that only the SDK may set. */
export function checkHeaders(headers: Readonly<Record<string, string>>): void {
  for (const name of Object.keys(headers)) {
    if (!RESERVED_HEADERS.has(name.toLowerCase())) continue;
    throw new ConfigurationError(
      `\`headers\` must not set ${name}: the client sets it. Use \`token\` for authorization and \`idempotencyKey\` for keys.`,
    );
  }
}

/** Headers that would break an upload or reveal a secret to storage. */
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

/** Refuses headers that storage must not be sent. */
export function checkStorageHeaders(headers: Readonly<Record<string, string>>): void {
  const name = Object.keys(headers).find((one) => NOT_FOR_STORAGE.has(one.toLowerCase()));
  if (name !== undefined) throw new ConfigurationError(`\`headers\` of an upload must not set ${name}.`);
  checkSendable(headers);
}
