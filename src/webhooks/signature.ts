import { WebhookVerificationError } from '../errors/webhook-errors.ts';

/** Decoded `Service-Signature` header ("Signature"). */
export interface SignatureHeader {
  /** Unix seconds, as signed. */
  readonly timestamp: number;
  /** The `v1` values. */
  readonly signatures: readonly Uint8Array[];
}

/** Maximum length of a header in characters; two signatures take 150. */
const MAX_HEADER_LENGTH = 4_096;

const encoder = new TextEncoder();
const HMAC = { name: 'HMAC', hash: 'SHA-256' };

function malformed(problem: string): WebhookVerificationError {
  const message = `The signature header ${problem}. It must be like "t=1767225600,v1=5257a8…".`;
  return new WebhookVerificationError(message, { reason: 'malformed-header' });
}

/** Parses a header: one `t`, any number of `v1`; other keys are ignored. */
export function parseSignatureHeader(header: string): SignatureHeader {
  if (header.length > MAX_HEADER_LENGTH) throw malformed(`has ${header.length} characters`);
  const signatures: Uint8Array[] = [];
  let timestamp: number | undefined;
  for (const part of header.split(',')) {
    // The patterns for values match trailing spaces; matching them here as well would take quadratic time.
    const [, key, value = ''] = /^ *([^=\s]+)=(.*)$/.exec(part) ?? [];
    if (key === undefined) throw malformed('is not a list of "key=value"');
    if (key === 't') {
      if (timestamp !== undefined) throw malformed('has `t` twice');
      if (!/^(?:0|[1-9]\d{0,11}) *$/.test(value)) throw malformed('has an invalid `t`');
      timestamp = Number(value);
    } else if (key === 'v1' && /^[0-9a-f]{64} *$/i.test(value)) {
      // A malformed `v1` is skipped, because another one may match.
      signatures.push(Uint8Array.from({ length: 32 }, (_, at) => Number.parseInt(value.slice(2 * at, 2 * at + 2), 16)));
    }
  }
  if (timestamp === undefined) throw malformed('has no `t`');
  if (signatures.length === 0) throw malformed('has no valid `v1`');
  return { timestamp, signatures };
}

/** Maximum number of cached keys; a receiver uses two or three. */
const MAX_KEYS = 32;

const keys = new Map<string, Promise<CryptoKey>>();

/** Returns the cached key of a secret, because importing takes longer than signing. */
function keyOf(secret: string): Promise<CryptoKey> {
  const cached = keys.get(secret);
  if (cached) return cached;
  if (keys.size >= MAX_KEYS) keys.clear();
  const key = crypto.subtle.importKey('raw', encoder.encode(secret), HMAC, false, ['sign']);
  keys.set(secret, key);
  return key;
}

/** Returns the HMAC-SHA256 of `<t>.<raw body>`. */
export async function hmac(timestamp: number, body: Uint8Array, secret: string): Promise<Uint8Array> {
  const prefix = encoder.encode(`${timestamp}.`);
  const message = new Uint8Array(prefix.length + body.length);
  message.set(prefix);
  message.set(body, prefix.length);
  return new Uint8Array(await crypto.subtle.sign('HMAC', await keyOf(secret), message));
}

/** Compares in constant time. */
function isEqual(one: Uint8Array, other: Uint8Array): boolean {
  let difference = one.length ^ other.length;
  for (let at = 0; at < one.length; at++) difference |= (one[at] ?? 0) ^ (other[at] ?? 0);
  return difference === 0;
}

/** Checks whether any signature matches any secret. Compares every pair, so that the time does not reveal a match. */
export async function isSigned(
  { timestamp, signatures }: SignatureHeader,
  body: Uint8Array,
  secrets: readonly string[],
): Promise<boolean> {
  let isMatch = false;
  for (const secret of secrets) {
    const expected = await hmac(timestamp, body, secret);
    for (const signature of signatures) isMatch = isEqual(expected, signature) || isMatch;
  }
  return isMatch;
}

/** Encodes bytes as lower-case hexadecimal digits. */
export const hex = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
