import type { Fetch } from '../transport/send.ts';
import type { TokenSource } from '../transport/tokens.ts';

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
  return async (input, init = {}) => {
    const request = input instanceof Request ? input : undefined;
    const url = new URL(request?.url ?? String(input));
    if (url.origin !== origin) return fetch(input, init);
    const signal = init.signal ?? request?.signal;
    const once = (request?.body ?? null) !== null || init.body instanceof ReadableStream;
    const send = (token: string): Promise<Response> => {
      const headers = new Headers(init.headers ?? request?.headers);
      headers.set('authorization', `Bearer ${token}`);
      return fetch(input, { ...init, headers, redirect: 'manual' });
    };
    const token = await tokens.get(signal ? { signal } : {});
    const response = await send(token);
    if (response.status !== 401 || once) return response;
    const other = await tokens.get({ rejected: token, ...(signal && { signal }) });
    if (other === token) return response;
    await response.body?.cancel();
    return send(other);
  };
}
