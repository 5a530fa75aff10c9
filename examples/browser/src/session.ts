import type { TokenSource } from 'audience-activation';

/** Sends a request to the backend of the page. */
async function request(path: string, init?: RequestInit): Promise<Response> {
  try {
    return await fetch(path, init);
  } catch (cause) {
    throw new Error('The service cannot be reached. Please check your connection, and try again.', { cause });
  }
}

/** Who is signed in, if anybody. */
export async function currentEmail(): Promise<string | undefined> {
  const response = await request('/session');
  const { email }: { email: string | null } = await response.json();
  return email ?? undefined;
}

/** Signs in; what is wrong comes as an error. */
export async function signIn(email: string, password: string): Promise<void> {
  const headers = { 'content-type': 'application/json' };
  const response = await request('/session', { method: 'POST', headers, body: JSON.stringify({ email, password }) });
  const { message }: { message?: string } = await response.json();
  if (!response.ok) throw new Error(message ?? 'Signing in failed.');
}

/** Ends the session and its tokens. Only the backend can: the session's cookie is out of reach of the page. */
export async function signOut(): Promise<void> {
  const response = await request('/session', { method: 'DELETE' });
  if (!response.ok) throw new Error('Signing out failed. Please try again.');
}

interface ShortToken {
  readonly token: string;
  /** Milliseconds of the page's clock. */
  readonly until: number;
}

/** A token is renewed this long before it ends. Milliseconds. */
const EARLY = 15_000;

/**
 * Returns the client's tokens: short ones, from the backend, kept in memory only. A plain function that asks the
 * backend would do; this one asks once for all calls of some minutes. `onEnded` is called when the backend refuses
 * to issue one, because the session has ended.
 */
export function sessionToken(onEnded: () => void): TokenSource {
  const fetchToken = async (): Promise<ShortToken> => {
    const response = await request('/token');
    if (response.status === 401) onEnded();
    if (!response.ok) throw new Error('The session has no token.');
    const { token, expiresIn }: { token: string; expiresIn: number } = await response.json();
    return { token, until: Date.now() + expiresIn * 1000 };
  };
  let held: Promise<ShortToken> | undefined;
  return {
    async get({ rejected }) {
      const asked = held;
      const known = await asked?.catch(() => undefined);
      const good = known && known.token !== rejected && known.until - Date.now() > EARLY;
      if (good) return known.token;
      // Another call may have asked meanwhile.
      if (held === asked) held = fetchToken();
      return (await (held ?? fetchToken())).token;
    },
  };
}
