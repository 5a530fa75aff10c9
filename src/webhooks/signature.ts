import { WebhookVerificationError } from '../errors/webhook-errors.ts';

/** What a `Service-Signature` header says ("Signature"). */
export interface SignatureHeader {
  /** Unix seconds, as they were signed. */
  readonly timestamp: number;
  /** The `v1` values, decoded. */
  readonly signatures: readonly Uint8Array[];
}

/** A header is no longer than this: two signatures take 150 characters. */
const LONGEST_HEADER = 4_096;
/** Keys kept ready; a receiver has two or three. */
const MOST_KEYS = 32;

const encoder = new TextEncoder();
const HMAC = { name: 'HMAC', hash: 'SHA-256' };

const malformed = (what: string): WebhookVerificationError =>
  new WebhookVerificationError(`The signature header ${what}: it reads like "t=1767225600,v1=5257a8…".`, {
    reason: 'malformed-header',
  });

/** Reads a header: `t` once, any number of `v1`, other keys ignored. */
export function parseSignatureHeader(header: string): SignatureHeader {
  if (header.length > LONGEST_HEADER) throw malformed(`has ${header.length} characters`);
  const signatures: Uint8Array[] = [];
  let timestamp: number | undefined;
  for (const part of header.split(',')) {
    const [, key, value = ''] = /^ *([^=\s]+)=(.*)$/.exec(part) ?? [];
    // Spaces at the end are left to what reads the value: one pattern for both takes quadratic time.
    if (key === undefined) throw malformed('is no list of "key=value"');
    if (key === 't') {
      if (timestamp !== undefined) throw malformed('holds `t` twice');
      if (!/^(?:0|[1-9]\d{0,11}) *$/.test(value)) throw malformed('holds no seconds as `t`');
      timestamp = Number(value);
    } else if (key === 'v1' && /^[0-9a-f]{64} *$/i.test(value)) {
      // One that is malformed does no harm to one that is not.
      signatures.push(Uint8Array.from({ length: 32 }, (_, at) => Number.parseInt(value.slice(2 * at, 2 * at + 2), 16)));
    }
  }
  if (timestamp === undefined) throw malformed('holds no `t`');
  if (signatures.length === 0) throw malformed('holds no `v1` of 64 digits');
  return { timestamp, signatures };
}

const keys = new Map<string, Promise<CryptoKey>>();

/** Importing a key takes longer than signing: it is done once. */
function keyOf(secret: string): Promise<CryptoKey> {
  const known = keys.get(secret);
  if (known) return known;
  if (keys.size >= MOST_KEYS) keys.clear();
  const key = crypto.subtle.importKey('raw', encoder.encode(secret), HMAC, false, ['sign']);
  keys.set(secret, key);
  return key;
}

/** HMAC-SHA256 over `<t>.<raw body>`. */
export async function hmac(timestamp: number, body: Uint8Array, secret: string): Promise<Uint8Array> {
  const prefix = encoder.encode(`${timestamp}.`);
  const signed = new Uint8Array(prefix.length + body.length);
  signed.set(prefix);
  signed.set(body, prefix.length);
  return new Uint8Array(await crypto.subtle.sign('HMAC', await keyOf(secret), signed));
}

/** Whether two are the same, in a time that does not depend on where they differ. */
function isSame(one: Uint8Array, other: Uint8Array): boolean {
  let difference = one.length ^ other.length;
  for (let at = 0; at < one.length; at++) difference |= (one[at] ?? 0) ^ (other[at] ?? 0);
  return difference === 0;
}

/** Whether one of the signatures is by one of the secrets. Every pair is compared. */
export async function isSigned(
  header: SignatureHeader,
  body: Uint8Array,
  secrets: readonly string[],
): Promise<boolean> {
  let found = false;
  for (const secret of secrets) {
    const due = await hmac(header.timestamp, body, secret);
    for (const signature of header.signatures) found = isSame(due, signature) || found;
  }
  return found;
}

/** Bytes as lower-case hexadecimal digits. */
export const hex = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
