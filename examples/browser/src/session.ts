import type { TokenSource } from 'audience-activation';

/** Who is signed in, if anybody. */
export async function currentEmail(): Promise<string | undefined> {
  const response = await fetch('/session');
  const { email }: { email: string | null } = await response.json();
  return email ?? undefined;
}

/** Signs in; what is wrong comes as an error. */
export async function signIn(email: string, password: string): Promise<void> {
  const headers = { 'content-type': 'application/json' };
  const response = await fetch('/session', { method: 'POST', headers, body: JSON.stringify({ email, password }) });
  const { message }: { message?: string } = await response.json();
  if (!response.ok) throw new Error(message ?? 'Signing in failed.');
}

/** Ends the session; its tokens are void from now on. */
export async function signOut(): Promise<void> {
  await fetch('/session', { method: 'DELETE' });
}

interface ShortToken {
  readonly token: string;
  /** Milliseconds of the page's clock. */
  readonly until: number;
}

/** A token is renewed this long before it ends. Milliseconds. */
const EARLY = 15_000;

async function fetchToken(): Promise<ShortToken> {
  const response = await fetch('/token');
  if (!response.ok) throw new Error('Nobody is signed in.');
  const { token, expiresIn }: { token: string; expiresIn: number } = await response.json();
  return { token, until: Date.now() + expiresIn * 1000 };
}

/**
 * The client's tokens: short ones, from the backend, kept in memory only. A plain function that asks the
 * backend would do; this one asks once for all calls of some minutes.
 */
export function sessionToken(): TokenSource {
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
