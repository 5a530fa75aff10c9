/** An error in the shape of RFC 6749 and RFC 7591, which is not the envelope ("OAuth 2.1", rule 7). */
export class OAuthRefusal extends Error {
  readonly error: string;
  readonly status: number;

  constructor(error: string, description: string, status = 400) {
    super(description);
    this.error = error;
    this.status = status;
  }

  /** The refusal as an answer. */
  toResponse(): Response {
    return oauthJson(this.status, { error: this.error, error_description: this.message });
  }
}

/** JSON that nobody may cache: it holds tokens, or depends on them. */
export function oauthJson(status: number, body: unknown): Response {
  return new Response(JSON.stringify(body), {
    status,
    headers: { 'content-type': 'application/json', 'cache-control': 'no-store' },
  });
}
