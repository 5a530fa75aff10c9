import { isUsableToken, type TokenSource } from '../auth/token-source.ts';
import { OAuthError } from '../errors/oauth-errors.ts';
import type { Fetch } from '../http/send.ts';

/** What a `fetch` with a bearer token needs. */
export interface AuthorizedFetchOptions {
  /** The only origin that the token is sent to. */
  readonly origin: string;
  readonly tokens: TokenSource;
  readonly fetch: Fetch;
}

/**
 * A `fetch` that sends a bearer token to one origin, and meets a 401 with another token, once. A body that can be
 * read only once is not repeated; redirects of that origin are not followed, so the token stays on it.
 */
export function authorizedFetch({ origin, tokens, fetch }: AuthorizedFetchOptions): Fetch {
  return async (input, given) => {
    const init = given ?? {};
    const request = input instanceof Request ? input : undefined;
    // The address that is looked at is the one that is used, whatever becomes of an object of the caller's.
    const { href, origin: asked } = new URL(request?.url ?? String(input));
    if (asked !== origin) return fetch(input, given);
    const signal = init.signal ?? request?.signal;
    const send = (token: string): Promise<Response> => {
      if (!isUsableToken(token)) throw new OAuthError('The token fits into no header.', { error: 'invalid_response' });
      const headers = new Headers(init.headers ?? request?.headers);
      headers.set('authorization', `Bearer ${token}`);
      return fetch(request ?? href, { ...init, headers, redirect: 'manual' });
    };
    const token = await tokens.get(signal ? { signal } : {});
    const response = await send(token);
    if (response.status !== 401 || request?.body || !isRepeatable(init.body)) return response;
    const other = await otherToken(tokens, token, response, signal);
    if (other === token) return response;
    await response.body?.cancel();
    return send(other);
  };
}

/** Asks for another token; an answer that will not be read is let go. */
async function otherToken(
  tokens: TokenSource,
  rejected: string,
  response: Response,
  signal: AbortSignal | undefined,
): Promise<string> {
  try {
    return await tokens.get({ rejected, ...(signal && { signal }) });
  } catch (error) {
    await response.body?.cancel();
    throw error;
  }
}

/** Whether a body can be sent twice; streams and whatever else a runtime takes can be read only once. */
function isRepeatable(body: unknown): boolean {
  if (body === undefined || body === null || typeof body === 'string' || ArrayBuffer.isView(body)) return true;
  const kinds = [URLSearchParams, FormData, Blob, ArrayBuffer];
  return kinds.some((kind) => body instanceof kind);
}
