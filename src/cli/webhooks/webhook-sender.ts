import { randomUUID } from 'node:crypto';
import pThrottle from 'p-throttle';
import { sleep } from '../../util/abort.ts';
import { SIGNATURE_HEADER, signWebhook } from '../../webhooks/index.ts';
import { isDryRun, usageError } from '../terminal/exit-codes.ts';

export interface SenderOptions {
  readonly url: string;
  readonly secret: string;
  /** Divisor of the service's waits between attempts. 0 means a single attempt. */
  readonly speed: number;
  /** Maximum number of requests per second, evenly spaced. */
  readonly rate: number;
  readonly signal: AbortSignal;
  /** Sends the deliveries. @default the global `fetch` */
  readonly fetch?: typeof fetch | undefined;
  /** Called after each attempt. */
  onAttempt(attempt: DeliveryAttempt): void;
}

/** An attempt to deliver an event. */
export interface DeliveryAttempt {
  readonly event: WebhookEnvelope;
  /** Number of the attempt, from 1 to 6. */
  readonly attempt: number;
  /** HTTP status of the receiver, or why it did not respond. */
  readonly result: number | string;
  readonly delivered: boolean;
  /** Milliseconds until the next attempt. Not set if there is none. */
  readonly retryIn?: number;
}

/** The envelope of a delivery (specification, "Webhook delivery envelope"). */
export interface WebhookEnvelope {
  readonly schema_version: 1;
  readonly id: string;
  readonly type: string;
  readonly created_at: string;
  readonly company_id: number;
  readonly data: unknown;
}

/** Waits between the attempts to deliver an event, in milliseconds (specification, "Delivery"). */
const RETRY_WAITS_MS: readonly number[] = [60_000, 300_000, 1_500_000, 7_200_000, 21_600_000];

/** Milliseconds within which a receiver must respond (specification, "Delivery"). */
const RESPONSE_TIMEOUT_MS = 10_000;

/**
 * Returns the URL of a receiver.
 *
 * @throws {CommandError} unless it is an http(s) URL without a user name and password. The error does not show the URL.
 */
export function receiverUrl(text = ''): string {
  const { protocol = '', username, password } = URL.parse(text) ?? {};
  if (!/^https?:$/.test(protocol))
    throw usageError('--forward-to must be the URL of a receiver, such as http://localhost:3000/webhooks.');
  // `fetch` rejects URLs with a user name or a password.
  if (username || password) throw usageError('--forward-to must not contain a user name or a password.');
  return text;
}

/** Creates the envelope of a new event. The user sets the company id, because the API does not return it. */
export const createEvent = (type: string, data: unknown, companyId: number): WebhookEnvelope => ({
  schema_version: 1,
  id: `evt_${randomUUID().replaceAll('-', '')}`,
  type,
  created_at: new Date().toISOString().replace(/\.\d+Z$/, 'Z'),
  company_id: companyId,
  data,
});

/**
 * Returns a function that delivers an event like the service: up to six attempts, each with a new signature. The
 * function resolves with whether the receiver accepted the event. Spaces the requests evenly, so that a development
 * server does not receive all events of a thousand jobs at the same time.
 */
export function createSender(options: SenderOptions): (event: WebhookEnvelope) => Promise<boolean> {
  const { speed, rate, signal, onAttempt } = options;
  const send = pThrottle({ limit: 1, interval: 1_000 / rate, signal })((body: string) => post(body, options));
  const waits = [...(speed > 0 ? RETRY_WAITS_MS.map((ms) => ms / speed) : []), undefined];
  return async (event) => {
    const body = JSON.stringify(event);
    for (const [index, retryIn] of waits.entries()) {
      const result = await send(body);
      signal.throwIfAborted();
      const delivered = typeof result === 'number' && result >= 200 && result < 300;
      const next = delivered ? undefined : retryIn;
      onAttempt({ event, attempt: index + 1, result, delivered, ...(next !== undefined && { retryIn: next }) });
      if (delivered || next === undefined) return delivered;
      await sleep(next, signal);
    }
    return false;
  };
}

/** Returns the status of the receiver, or why it did not respond. */
async function post(
  body: string,
  { url, secret, signal, fetch = globalThis.fetch }: SenderOptions,
): Promise<number | string> {
  const headers = { 'content-type': 'application/json', [SIGNATURE_HEADER]: await signWebhook(body, secret) };
  const timeout = AbortSignal.timeout(RESPONSE_TIMEOUT_MS);
  try {
    const init = {
      method: 'POST',
      headers,
      body,
      redirect: 'manual',
      signal: AbortSignal.any([signal, timeout]),
    } as const;
    const response = await fetch(url, init);
    await response.body?.cancel();
    return response.status;
  } catch (error) {
    if (isDryRun(error)) throw error;
    if (timeout.aborted) return `no response within ${RESPONSE_TIMEOUT_MS / 1_000} s`;
    const { code, message = 'failed' }: { readonly code?: unknown; readonly message?: unknown } = Object(
      Object(error).cause,
    );
    return `not reached (${String(code ?? message)})`;
  }
}
