/** A success in the service's envelope. */
export function success(data: unknown, message: string): Response {
  return json(200, { status: 'success', code: 200, message, data });
}

/** A refusal in the service's envelope. */
export function refusal(status: number, message: string, more: Record<string, unknown> = {}): Response {
  return json(status, { status: 'error', code: status, message, data: [], ...more });
}

/** A 422: `errors` maps field names to messages, `data` is an empty array. */
export function invalid(errors: Record<string, string[]>, message = 'The given data was invalid.'): Response {
  return refusal(422, message, { errors });
}

/** A 401, whose body may consist of `message` only. */
export function unauthenticated(): Response {
  return json(401, { message: 'Unauthenticated.' });
}

/** A 429 with `Retry-After` in whole seconds, never too few. */
export function tooMany(message: string, wait: number): Response {
  const answer = refusal(429, message);
  answer.headers.set('retry-after', String(Math.max(1, Math.ceil(wait / 1000))));
  return answer;
}

function json(status: number, body: unknown): Response {
  return new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json' } });
}
