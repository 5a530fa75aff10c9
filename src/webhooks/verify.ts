import { ConfigurationError, check } from '../errors/audience-error.ts';
import { AUDIENCE_FLAGS } from '../spec/job-status.ts';
import { checkNumbers } from '../util/input-checks.ts';
import { normalizeFlags } from '../util/json.ts';
import { isEvent, isKnownEvent, type WebhookEvent } from './events.ts';
import { encode, hmac, isSigned, parseSignatureHeader, refused } from './signature.ts';

/** Default name of the signature header (specification, "Signature"). An operator may use another name. */
export const SIGNATURE_HEADER = 'Service-Signature';

/** Default maximum age of a signature in seconds (specification, "Other limits"). */
const TOLERANCE_S = 300;

/** The body as received, not parsed and with every byte unchanged. */
export type RawBody = string | Uint8Array | ArrayBuffer;

/** Headers of a request, or the value of the signature header. */
export type WebhookHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>> | string;

/** Options of {@link verifyWebhook}. */
export interface VerifyOptions {
  /**
   * Maximum difference between the signed time and the current time in seconds, in the past or the future.
   * @default 300 seconds
   */
  readonly tolerance?: number | undefined;
  /** Returns the current time in milliseconds since 1970. @default Date.now */
  readonly now?: (() => number) | undefined;
  /** Name of the signature header. An operator may use another name. @default 'Service-Signature' */
  readonly headerName?: string | undefined;
}

export const VERIFY_OPTIONS: readonly string[] = ['tolerance', 'now', 'headerName'];

/**
 * Verifies the signature of a delivery over the raw bytes of its body, and returns its event.
 *
 * @param secrets Signing secret of the endpoint, or several secrets, during a rotation or for several endpoints.
 * @param options Tolerance, clock and header.
 * @throws {WebhookVerificationError} if the delivery cannot be verified. Respond with 400.
 * @throws {ConfigurationError} for a missing secret or an invalid option.
 *
 * @example
 * const event = await verifyWebhook(await request.text(), request.headers, process.env.WEBHOOK_SECRET);
 * if (isKnownEvent(event) && event.type === 'audience.completed') console.log(event.data.results_count);
 */
export async function verifyWebhook(
  rawBody: RawBody,
  headers: WebhookHeaders,
  secrets: string | readonly string[] | undefined,
  options: VerifyOptions = {},
): Promise<WebhookEvent> {
  checkOptions(options, 'verifyWebhook', VERIFY_OPTIONS);
  return verifyDelivery(rawBody, headers, secrets, options);
}

/** Verifies a delivery like {@link verifyWebhook}, but without checking the options. */
export async function verifyDelivery(
  rawBody: RawBody,
  headers: WebhookHeaders,
  secrets: string | readonly string[] | undefined,
  { tolerance = TOLERANCE_S, now = Date.now, headerName = SIGNATURE_HEADER }: VerifyOptions,
): Promise<WebhookEvent> {
  const keys = checkSecrets(secrets);
  checkNumbers({ tolerance }, ['tolerance']);
  const body = bytesOf(rawBody);
  const header = parseSignatureHeader(headerOf(headers, headerName));
  if (!(await isSigned(header, body, keys))) {
    const isPadded = keys.some((secret) => secret.trim() !== secret);
    const advice = isPadded
      ? 'Remove the white space around the secret.'
      : 'Check the secret, and that the body is unchanged.';
    throw refused('no-match', 'The signature does not match.', advice);
  }
  checkAge(header.timestamp, Math.floor(now() / 1000), tolerance);
  return parseEvent(body);
}

/** Options of {@link signWebhook}. */
export interface SignOptions {
  /** Time of signing in Unix seconds. @default now */
  readonly timestamp?: number | undefined;
}

/**
 * Returns the signature header of a body, like the service, for tests.
 *
 * @param options Time of signing.
 */
export async function signWebhook(rawBody: RawBody, secret: string, options: SignOptions = {}): Promise<string> {
  checkOptions(options, 'signWebhook', ['timestamp']);
  const { timestamp } = options;
  const seconds = timestamp ?? Math.floor(Date.now() / 1000);
  check(
    Number.isInteger(seconds) && seconds >= 0 && seconds < 1e12,
    `\`timestamp\` must be in Unix seconds, not ${seconds}.`,
  );
  const [key = ''] = checkSecrets(secret);
  return `t=${seconds},v1=${await hmac(seconds, bytesOf(rawBody), key)}`;
}

/** Refuses options that are not in `names`, because they would have no effect. */
export function checkOptions(options: object, of: string, names: readonly string[]): void {
  const [unknown] = Object.entries(options).find(([name, value]) => value !== undefined && !names.includes(name)) ?? [];
  check(unknown === undefined, `\`${unknown}\` is not an option of \`${of}\`: use ${names.join(', ')}.`);
}

/** Returns the secrets as an array. Throws if there are no secrets, or if a secret is empty. */
export function checkSecrets(secrets: string | readonly string[] | undefined): readonly string[] {
  const list: readonly unknown[] = Array.isArray(secrets) ? secrets : [secrets];
  const valid = list.filter((secret): secret is string => typeof secret === 'string' && secret !== '');
  if (valid.length === list.length && valid.length > 0) return valid;
  throw new ConfigurationError('The webhook secret is missing or empty. Is its environment variable set?', {
    advice: 'The console shows a secret only once, when it is created.',
  });
}

/** Returns a copy of a body's bytes, because a caller may reuse the buffer before the signature is computed. */
function bytesOf(body: unknown): Uint8Array {
  if (typeof body === 'string') return encode(body);
  try {
    if (ArrayBuffer.isView(body)) return new Uint8Array(body.buffer, body.byteOffset, body.byteLength).slice();
    if (body instanceof ArrayBuffer) return new Uint8Array(body).slice();
  } catch {
    // A detached buffer has no bytes.
  }
  throw refused(
    'parsed-body',
    `The body is ${body ? 'already parsed' : 'missing'}.`,
    'Pass the raw bytes, for example from `express.raw({ type: "application/json" })` or `await request.text()`.',
  );
}

function headerOf(headers: unknown, name: string): string {
  const value = typeof headers === 'string' ? headers : findHeader(Object(headers), name.toLowerCase());
  if (value && typeof value === 'string') return value;
  throw refused(
    'missing-header',
    `The header ${name} is missing. A proxy may have removed it, or the service uses another name: set \`headerName\`.`,
  );
}

/** Finds a header in a record, or in `Headers` of any implementation. */
function findHeader(headers: object, name: string): unknown {
  const entries =
    'entries' in headers && typeof headers.entries === 'function' ? headers.entries() : Object.entries(headers);
  const [, value] = Array.from<readonly unknown[]>(entries).find(([key]) => String(key).toLowerCase() === name) ?? [];
  return Array.isArray(value) ? value.join(',') : value;
}

function checkAge(timestamp: number, now: number, tolerance: number): void {
  const age = now - timestamp;
  if (Math.abs(age) <= tolerance) return;
  const [reason, direction, cause] =
    age > 0
      ? (['too-old', 'ago', 'The delivery is a replay, or this machine’s clock is ahead.'] as const)
      : ([
          'too-new',
          'in the future',
          'This machine’s clock is behind, or the clock of a sandbox is ahead: set `now`.',
        ] as const);
  throw refused(
    reason,
    `The delivery was signed ${Math.abs(age)} s ${direction}; \`tolerance\` is ${tolerance} s. ${cause}`,
  );
}

function parseEvent(body: Uint8Array): WebhookEvent {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    throw refused('not-json', 'The body is signed, but not JSON: ask the operator of the service.');
  }
  if (!isEvent(value))
    throw refused(
      'not-an-event',
      'The body is signed, but not an event with `id` and `type`: ask the operator of the service.',
    );
  if (isKnownEvent(value) && value.type.startsWith('audience')) normalizeFlags(value.data, AUDIENCE_FLAGS);
  return value;
}
