import { OAuthError } from '../errors/oauth-errors.ts';
import type { Fetch, TokenSource } from '../index.ts';
import { isUsableToken } from '../util/input-checks.ts';

/**
 * Returns a `fetch` that sends a bearer token only to `origin`. After a 401, it retries once with another token, unless
 * `init.body` can be read only once. It does not follow redirects from `origin`, so that no other server receives the
 * token.
 */
export function authorizedFetch(origin: string, tokens: TokenSource, fetch: Fetch): Fetch {
  return async (input, init = {}) => {
    const request = input instanceof Request ? input : undefined;
    // Use the checked URL for the request: the caller may change its URL object meanwhile.
    const { href, origin: target } = new URL(request?.url ?? String(input));
    if (target !== origin) return fetch(input, init);
    const signal = init.signal ?? request?.signal;
    const send = (token: string, to: Request | string): Promise<Response> => {
      if (!isUsableToken(token)) {
        const message = `The token for ${origin} cannot be sent as a bearer token: it must be visible ASCII without white space.`;
        const advice = 'Sign in again. If the new token has the same problem, ask the operator of the service.';
        throw new OAuthError(message, { error: 'invalid_response', advice });
      }
      const headers = new Headers(init.headers ?? request?.headers);
      headers.set('authorization', `Bearer ${token}`);
      return fetch(to, { ...init, headers, redirect: 'manual' });
    };
    const token = await tokens.get({ signal });
    // Send a clone, because a `Request` can be sent only once.
    const response = await send(token, request?.clone() ?? href);
    if (response.status !== 401 || !isRepeatable(init.body)) return response;
    const other = await tokens.get({ rejected: token, signal }).catch(async (error) => {
      await response.body?.cancel();
      throw error;
    });
    if (other === token) return response;
    await response.body?.cancel();
    return send(other, request ?? href);
  };
}

/** Returns whether a body can be sent twice: neither a stream nor an unknown type. */
function isRepeatable(body: unknown): boolean {
  if (body === undefined || body === null || typeof body === 'string' || ArrayBuffer.isView(body)) return true;
  return [URLSearchParams, FormData, Blob, ArrayBuffer].some((type) => body instanceof type);
}
