import { ConfigurationError } from '../errors/audience-error.ts';
import { WebhookVerificationError } from '../errors/webhook-errors.ts';
import { isEvent, type WebhookEvent } from './events.ts';
import { hex, hmac, isSigned, parseSignatureHeader } from './signature.ts';

/** The header that carries the signature ("Signature"); the operator's own name may stand in its place. */
export const SIGNATURE_HEADER = 'Service-Signature';

/** How far `t` may be off ("Other limits", signature timestamp tolerance). Seconds. */
const TOLERANCE = 300;

/** A body as it came, byte by byte. */
export type RawBody = string | Uint8Array | ArrayBuffer;

/** Headers of a request, or the value of the signature header alone. */
export type WebhookHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>> | string;

/** Options of {@link verifyWebhook}. */
export interface VerifyOptions {
  /** Seconds that the time of signing may differ from now, in either direction. @default 300 */
  readonly tolerance?: number | undefined;
  /** The current time in milliseconds since 1970. @default Date.now */
  readonly now?: (() => number) | undefined;
  /** @default 'Service-Signature' */
  readonly headerName?: string | undefined;
}

/**
 * Checks that a delivery is genuine, over the raw bytes of its body, and returns its event.
 *
 * @param secrets the endpoint's signing secret; several while it is rotated, or for several endpoints.
 * @throws {WebhookVerificationError} whose `reason` says what is wrong; answer 400.
 *
 * @example
 * const event = await verifyWebhook(await request.text(), request.headers, process.env.WEBHOOK_SECRET);
 */
export async function verifyWebhook(
  rawBody: RawBody,
  headers: WebhookHeaders,
  secrets: string | readonly string[],
  { tolerance = TOLERANCE, now = Date.now, headerName = SIGNATURE_HEADER }: VerifyOptions = {},
): Promise<WebhookEvent> {
  const known = checkSecrets(secrets);
  checkNumbers({ tolerance });
  const body = bytesOf(rawBody);
  const header = parseSignatureHeader(headerOf(headers, headerName));
  if (!(await isSigned(header, body, known))) throw noMatch(known);
  checkAge(header.timestamp, Math.floor(now() / 1000), tolerance);
  return parse(body);
}

/** Options of {@link signWebhook}. */
export interface SignOptions {
  /** Unix seconds. @default now */
  readonly timestamp?: number | undefined;
}

/** The signature header of a body, as the service would send it; for tests. */
export async function signWebhook(rawBody: RawBody, secret: string, { timestamp }: SignOptions = {}): Promise<string> {
  const seconds = timestamp ?? Math.floor(Date.now() / 1000);
  if (!(Number.isInteger(seconds) && seconds >= 0 && seconds < 1e12)) {
    throw new ConfigurationError(`\`timestamp\` is ${seconds}: give whole seconds.`);
  }
  const [key = ''] = checkSecrets(secret);
  return `t=${seconds},v1=${hex(await hmac(seconds, bytesOf(rawBody), key))}`;
}

/** Refuses numbers that are none, or less than 0. */
export function checkNumbers(numbers: Readonly<Record<string, number | undefined>>): void {
  for (const [name, value = 0] of Object.entries(numbers)) {
    if (!(value >= 0)) throw new ConfigurationError(`\`${name}\` is ${value}: give 0 or more.`);
  }
}

/** The secrets as a list; refuses what is none. */
export function checkSecrets(secrets: string | readonly string[]): readonly string[] {
  const list: readonly unknown[] = Array.isArray(secrets) ? secrets : [secrets];
  const known = list.filter((secret): secret is string => typeof secret === 'string' && secret !== '');
  if (known.length === list.length && known.length > 0) return known;
  throw new ConfigurationError('The webhook secret is missing: the console shows it once.');
}

/** A copy, because a caller may use the buffer again while the signature is computed. */
function bytesOf(body: unknown): Uint8Array {
  if (typeof body === 'string') return new TextEncoder().encode(body);
  try {
    if (ArrayBuffer.isView(body)) return new Uint8Array(body.buffer, body.byteOffset, body.byteLength).slice();
    if (body instanceof ArrayBuffer) return new Uint8Array(body).slice();
  } catch {
    // A buffer that was handed on is none any more.
  }
  throw new WebhookVerificationError(
    `The body is ${body ? 'parsed already' : 'missing'}: signatures are over its raw bytes, as of \`express.raw({ type: "application/json" })\` or \`await request.text()\`.`,
    { reason: 'parsed-body' },
  );
}

function headerOf(headers: unknown, name: string): string {
  const value = typeof headers === 'string' ? headers : findHeader(Object(headers), name.toLowerCase());
  if (value && typeof value === 'string') return value;
  throw new WebhookVerificationError(
    `The header ${name} is missing: removed by a proxy, or under another name (\`headerName\`).`,
    { reason: 'missing-header' },
  );
}

/** In `Headers` of any platform, or in a record. */
function findHeader(headers: object, name: string): unknown {
  const entries =
    'entries' in headers && typeof headers.entries === 'function' ? headers.entries() : Object.entries(headers);
  const [, value] = Array.from<readonly unknown[]>(entries).find(([key]) => String(key).toLowerCase() === name) ?? [];
  return Array.isArray(value) ? value.join(',') : value;
}

function noMatch(secrets: readonly string[]): WebhookVerificationError {
  const padded = secrets.some((secret) => secret.trim() !== secret);
  const why = padded
    ? 'The secret begins or ends with white space.'
    : 'Is the secret of this endpoint, and the body passed on byte by byte?';
  return new WebhookVerificationError(`No signature matches. ${why}`, { reason: 'no-match' });
}

function checkAge(timestamp: number, now: number, tolerance: number): void {
  const age = now - timestamp;
  if (Math.abs(age) <= tolerance) return;
  const [reason, how, why] =
    age > 0
      ? (['too-old', 'ago', 'it is a replay, or this machine’s clock is ahead'] as const)
      : (['too-new', 'in the future', 'this machine’s clock is behind, or a sandbox’s ahead (`now`)'] as const);
  throw new WebhookVerificationError(
    `It was signed ${Math.abs(age)} s ${how}, and ${tolerance} s are tolerated: ${why}.`,
    { reason },
  );
}

function parse(body: Uint8Array): WebhookEvent {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    throw new WebhookVerificationError('The body is signed, but no JSON.', { reason: 'not-json' });
  }
  if (isEvent(value)) return value;
  throw new WebhookVerificationError('The body is signed, but no event with `id` and `type`.', {
    reason: 'not-an-event',
  });
}
