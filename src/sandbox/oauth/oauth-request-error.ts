/** An error in the format of RFC 6749 and RFC 7591, not in the envelope (specification, "OAuth 2.1", rule 7). */
export class OAuthRequestError extends Error {
  override readonly name = 'OAuthRequestError';
  /** Error code of the RFC, such as `invalid_grant`. */
  readonly error: string;
  readonly status: number;

  constructor(error: string, description: string, status = 400) {
    super(description);
    this.error = error;
    this.status = status;
  }

  toResponse(): Response {
    return oauthJson(this.status, { error: this.error, error_description: this.message });
  }
}

/** Returns a JSON response with `no-store`, because it may contain tokens. */
export function oauthJson(status: number, body: unknown): Response {
  return Response.json(body, { status, headers: { 'cache-control': 'no-store' } });
}
