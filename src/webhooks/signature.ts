import type { WebhookRefusal } from '../errors/error-details.ts';
import { WebhookVerificationError } from '../errors/webhook-errors.ts';

/** Decoded signature header (specification, "Signature"). */
export interface SignatureHeader {
  /** Signed timestamp, in Unix seconds. */
  readonly timestamp: number;
  /** The `v1` values, in lower case. */
  readonly signatures: readonly string[];
}

/** Maximum length of a header in characters. Two signatures need 150. */
const MAX_HEADER_LENGTH = 4_096;

/**
 * Encodes text as UTF-8. Creates the encoder at each call, because in jsdom there is no `TextEncoder` yet when the
 * module is loaded.
 */
export const encode = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text);

/** Returns the error for a delivery that cannot be verified. */
export const refused = (reason: WebhookRefusal, message: string, advice?: string): WebhookVerificationError =>
  new WebhookVerificationError(message, { reason, advice });

const malformed = (problem: string): WebhookVerificationError =>
  refused('malformed-header', `The signature header ${problem}. A valid header looks like "t=1767225600,v1=5257a8…".`);

/** Parses a signature header, which must contain one `t` and at least one valid `v1`. Ignores other keys. */
export function parseSignatureHeader(header: string): SignatureHeader {
  if (header.length > MAX_HEADER_LENGTH) throw malformed(`has more than ${MAX_HEADER_LENGTH} characters`);
  const signatures: string[] = [];
  let timestamp: number | undefined;
  for (const part of header.split(',')) {
    // Do not match trailing spaces here, which would take quadratic time. Later code handles them.
    const [, key, value = ''] = /^ *([^=\s]+)=(.*)$/.exec(part) ?? [];
    if (key === undefined) throw malformed('is not a list of "key=value"');
    if (key === 't') {
      if (timestamp !== undefined) throw malformed('has `t` twice');
      if (!/^(?:0|[1-9]\d{0,11}) *$/.test(value)) throw malformed('has an invalid `t`');
      timestamp = Number(value);
    } else if (key === 'v1' && /^[0-9a-f]{64} *$/i.test(value)) {
      // Skip a malformed `v1`, because another `v1` may match.
      signatures.push(value.trimEnd().toLowerCase());
    }
  }
  if (timestamp === undefined) throw malformed('has no `t`');
  if (signatures.length === 0) throw malformed('has no valid `v1`');
  return { timestamp, signatures };
}

/** Returns the HMAC-SHA256 of `<t>.<raw body>` in lower-case hexadecimal digits. */
export async function hmac(timestamp: number, body: Uint8Array, secret: string): Promise<string> {
  // Prefer `node:crypto`: WebCrypto signs in another thread, and switching threads takes much longer than signing.
  const nodeCrypto = globalThis.process?.getBuiltinModule?.('node:crypto');
  if (nodeCrypto) return nodeCrypto.createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest('hex');
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const key = await crypto.subtle.importKey('raw', encode(secret), algorithm, false, ['sign']);
  const prefix = encode(`${timestamp}.`);
  const message = new Uint8Array(prefix.length + body.length);
  message.set(prefix);
  message.set(body, prefix.length);
  const digest = await crypto.subtle.sign('HMAC', key, message);
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Compares two strings in a time that depends only on their lengths. */
function isEqual(signature: string, other: string): boolean {
  let difference = signature.length ^ other.length;
  for (let at = 0; at < signature.length; at++) difference |= signature.charCodeAt(at) ^ other.charCodeAt(at);
  return difference === 0;
}

/**
 * Returns whether any signature matches any secret. Compares all pairs, so that the duration does not reveal a match.
 */
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
