import type { TokenSource } from 'audience-activation';

/** Sends a request to the backend of the page. */
async function request(path: string, init?: RequestInit): Promise<Response> {
  try {
    return await fetch(path, init);
  } catch (cause) {
    throw new Error('The service cannot be reached. Please check your connection, and try again.', { cause });
  }
}

/** Returns the email address of the signed-in user, if any. */
export async function currentEmail(): Promise<string | undefined> {
  const response = await request('/session');
  const { email }: { email: string | null } = await response.json();
  return email ?? undefined;
}

/** Signs in; throws an error whose message is for the user. */
export async function signIn(email: string, password: string): Promise<void> {
  const headers = { 'content-type': 'application/json' };
  const response = await request('/session', { method: 'POST', headers, body: JSON.stringify({ email, password }) });
  const { message }: { message?: string } = await response.json();
  if (!response.ok) throw new Error(message ?? 'Signing in failed.');
}

/** Ends the session and its tokens, by a request, because the page cannot access the session's cookie. */
export async function signOut(): Promise<void> {
  const response = await request('/session', { method: 'DELETE' });
  if (!response.ok) throw new Error('Signing out failed. Please try again.');
}

interface ShortLivedToken {
  readonly token: string;
  /** Time in milliseconds since 1970 by the browser's clock. */
  readonly expiresAt: number;
}

/** A token is renewed this long before it expires. */
const RENEW_BEFORE_EXPIRY_MS = 15_000;

/**
 * Returns a source of short-lived tokens of the backend, which are kept in memory only. Unlike a plain function, it
 * reuses a token until shortly before it expires. `onEnded` is called when the session has ended.
 */
export function sessionToken(onEnded: () => void): TokenSource {
  const fetchToken = async (): Promise<ShortLivedToken> => {
    const response = await request('/token');
    if (response.status === 401) onEnded();
    if (!response.ok) throw new Error('The session has no token.');
    const { token, expiresIn }: { token: string; expiresIn: number } = await response.json();
    return { token, expiresAt: Date.now() + expiresIn * 1000 };
  };
  let current: Promise<ShortLivedToken> | undefined;
  return {
    async get({ rejected }) {
      const previous = current;
      const existing = await previous?.catch(() => undefined);
      const isValid = existing && existing.token !== rejected;
      if (isValid && existing.expiresAt - Date.now() > RENEW_BEFORE_EXPIRY_MS) return existing.token;
      // Request a token unless another call has done so meanwhile.
      if (current === previous) current = fetchToken();
      return (await (current ?? fetchToken())).token;
    },
  };
}
