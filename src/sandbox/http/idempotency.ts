import type { Context, MiddlewareHandler } from 'hono';
import type { Service } from '../service.ts';
import { REPLAY_WINDOW_MS } from '../service-limits.ts';
import type { IdempotencyRecord } from '../state.ts';
import { type Env, refuse } from './access.ts';
import { readBytes } from './request-body.ts';
import { failure } from './responses.ts';

/**
 * Middleware that stores the response of a create request by its idempotency key, and replays it for 24 hours. Responds
 * with 409 if the operation or the body differs, or if the first request is still in flight. Stores only successful
 * responses, so that a client can correct a refused request and send it again with the same key.
 */
export const idempotent =
  ({ clock }: Service, operation: string): MiddlewareHandler<Env> =>
  async (context, next) => {
    const key = context.req.header('idempotency-key');
    if (!key) return next();
    const { idempotencyKeys } = context.get('account');
    const now = clock.now();
    // The keys are ordered by expiry, because the service keeps every key for the same time.
    for (const [old, { expiresAt }] of idempotencyKeys) {
      if (expiresAt > now) break;
      idempotencyKeys.delete(old);
    }
    const existing = idempotencyKeys.get(key);
    if (existing) {
      const response = await replay(context, existing, operation);
      context.set('replayed', response.status < 400);
      return response;
    }
    const expiresAt = now + REPLAY_WINDOW_MS;
    const record: IdempotencyRecord = { operation, body: undefined, response: undefined, expiresAt };
    idempotencyKeys.set(key, record);
    try {
      record.body = hashOf(await readBytes(context));
      await context.get('holdInFlight')?.();
      await next();
      const { res } = context;
      if (res.status < 300) record.response = { status: res.status, body: await res.clone().text() };
    } finally {
      if (!record.response) idempotencyKeys.delete(key);
    }
    return undefined;
  };

async function replay(context: Context<Env>, record: IdempotencyRecord, operation: string): Promise<Response> {
  const body = hashOf(await readBytes(context));
  const { response } = record;
  if (!response) {
    const why = `The first request with this key, ${record.operation}, has not ended`;
    return refuse(context, why, failure(409, 'A request with this idempotency key is still in flight.'));
  }
  if (record.operation !== operation || record.body !== body) {
    const difference = record.operation === operation ? 'had another body' : `was ${record.operation}`;
    const why = `The first request with this key ${difference}`;
    context.set('freeAt', record.expiresAt);
    return refuse(context, why, failure(409, 'This idempotency key was used with a different body.'));
  }
  return new Response(response.body, { status: response.status, headers: { 'content-type': 'application/json' } });
}

/** Returns a hash in hex. Synchronous, because time on a virtual clock could pass during an asynchronous hash. */
export function hashOf(bytes: Uint8Array): string {
  let [high, low] = [0xdeadbeef, 0x41c6ce57];
  for (const byte of bytes) {
    high = Math.imul(high ^ byte, 0x9e3779b1);
    low = Math.imul(low ^ byte ^ (high >>> 16), 0x5f356495);
  }
  return [high, low].map((half) => (half >>> 0).toString(16).padStart(8, '0')).join('');
}
