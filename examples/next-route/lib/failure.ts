import {
  AudienceError,
  ConflictError,
  ConnectionError,
  NotFoundError,
  RateLimitError,
  ValidationError,
} from 'audience-activation';

/** An answer that says why not. */
export function refusal(status: number, error: string, more: Readonly<Record<string, unknown>> = {}): Response {
  return Response.json({ error, ...more }, { status });
}

/** The client's error as the answer of a route: what the caller can mend is a 4xx, what is ours or the service's a 5xx. */
export function failure(error: unknown): Response {
  if (ValidationError.isInstance(error)) return refusal(422, 'Fields are wrong.', { errors: error.errors });
  if (NotFoundError.isInstance(error)) return refusal(404, 'There is no such audience.');
  if (ConflictError.isInstance(error)) return refusal(409, 'The key is in use for another create.');
  if (RateLimitError.isInstance(error)) return later(error);
  console.error(error);
  if (!AudienceError.isInstance(error)) return refusal(500, 'This server failed.');
  const { outcome, idempotencyKey } = error;
  // Not created, or nobody knows: the same key makes the repeat safe.
  const repeat = idempotencyKey === undefined ? {} : { outcome, idempotencyKey };
  if (ConnectionError.isInstance(error)) return refusal(504, 'The service did not answer.', repeat);
  // A refused token is a matter of this server's, so its caller is not told to sign in.
  return refusal(502, 'The service failed.', repeat);
}

function later(error: RateLimitError): Response {
  const { code, retryAt } = error;
  const response = refusal(429, 'Try again later.', { code, retryAt });
  const seconds = retryAt ? Math.max(1, Math.ceil((retryAt.getTime() - Date.now()) / 1000)) : 60;
  response.headers.set('retry-after', String(seconds));
  return response;
}
