/** Texts of JSON responses, by body, because reading a clone of each response would slow down the sandbox. */
const texts = new WeakMap<ReadableStream, string>();

/** Returns the text of the body of a response, which remains readable. */
export async function textOf(response: Response): Promise<string> {
  return (response.body && texts.get(response.body)) ?? response.clone().text();
}

function json(body: unknown, status = 200): Response {
  const text = JSON.stringify(body);
  const response = new Response(text, { status, headers: { 'content-type': 'application/json' } });
  if (response.body) texts.set(response.body, text);
  return response;
}

export function success(data: unknown, message: string): Response {
  return json({ status: 'success', code: 200, message, data });
}

export function failure(status: number, message: string, fields: Record<string, unknown> = {}): Response {
  return json({ status: 'error', code: status, message, data: [], ...fields }, status);
}

export type FieldErrors = Record<string, string[]>;

/** Returns a 422 with field errors and with an empty array as `data`. */
export function invalid(errors: FieldErrors, message = 'The given data was invalid.'): Response {
  return failure(422, message, { errors });
}

/** Returns a 401. Its body consists of `message` only, which the specification permits. */
export function unauthenticated(): Response {
  return Response.json({ message: 'Unauthenticated.' }, { status: 401 });
}

/** Returns a 429 with `wait` (milliseconds) as its `Retry-After` (seconds, rounded up). */
export function tooManyRequests(message: string, wait: number): Response {
  const response = failure(429, message);
  response.headers.set('retry-after', String(Math.max(1, Math.ceil(wait / 1000))));
  return response;
}
