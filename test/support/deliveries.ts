import { type ReceiverLogger, signWebhook } from '../../src/webhooks/index.ts';
import { wireAudience } from './wire-audience.ts';

export const SECRET = 'whsec_canary-0123456789';

/** Returns an event as the service sends it. */
export const wireEvent = (id: string, more: object = {}): Record<string, unknown> => ({
  schema_version: 1,
  id,
  type: 'audience.completed',
  created_at: '2026-11-21T10:00:00Z',
  company_id: 7,
  data: wireAudience(),
  ...more,
});

/** Returns a delivery of an event, signed now. */
export async function delivery(event: object, init: RequestInit = {}): Promise<Request> {
  const body = JSON.stringify(event);
  const headers = { 'service-signature': await signWebhook(body, SECRET), 'content-type': 'application/json' };
  return new Request('http://localhost/webhooks', { method: 'POST', headers, body, ...init });
}

/** Creates a logger that records its lines. */
export function recordingLogger(): ReceiverLogger & { readonly lines: string[] } {
  const lines: string[] = [];
  return {
    lines,
    warn: (message) => void lines.push(`warn ${message}`),
    error: (message, cause) =>
      void lines.push(
        `error ${message} ${cause instanceof Error ? [cause.message, Object(cause).advice ?? ''].join(' ') : ''}`.trim(),
      ),
  };
}
