import {
  AudienceError,
  ConflictError,
  ConnectionError,
  NotFoundError,
  RateLimitError,
  ValidationError,
} from 'audience-activation';

/** Returns an error response. */
export function refusal(status: number, error: string, more: Readonly<Record<string, unknown>> = {}): Response {
  return Response.json({ error, ...more }, { status });
}

/** Returns the response of a route for an error: a 4xx if the caller can fix it, otherwise a 5xx. */
export function failure(error: unknown): Response {
  if (ValidationError.isInstance(error)) return refusal(422, 'Some fields are invalid.', { errors: error.errors });
  if (NotFoundError.isInstance(error)) return refusal(404, 'The audience does not exist.');
  if (ConflictError.isInstance(error) && error.outcome === 'refused') {
    return refusal(409, 'The key was used for another body.');
  }
  if (RateLimitError.isInstance(error)) return tooManyRequests(error);
  console.error(error);
  if (!AudienceError.isInstance(error)) return refusal(500, 'This server failed.');
  const { outcome, idempotencyKey } = error;
  // The outcome may be unknown: pass on the key, with which a retry is safe.
  const retryDetails = idempotencyKey === undefined ? {} : { outcome, idempotencyKey };
  if (ConnectionError.isInstance(error)) return refusal(504, 'The service did not respond.', retryDetails);
  // Also if the service refuses this server's token: a 401 would blame the caller.
  return refusal(502, 'The service failed.', retryDetails);
}

function tooManyRequests(error: RateLimitError): Response {
  const { code, retryAt } = error;
  const response = refusal(429, 'Try again later.', { code, retryAt });
  const seconds = retryAt ? Math.max(1, Math.ceil((retryAt.getTime() - Date.now()) / 1000)) : 60;
  response.headers.set('retry-after', String(seconds));
  return response;
}
