import { randomBytes } from 'node:crypto';
import type { Account } from './accounts.ts';

/** The session of a user who is signed in. */
export interface Session {
  readonly id: string;
  readonly account: Account;
}

const SESSION_LIFETIME_MS = 8 * 3_600_000;
const TOKEN_LIFETIME_MS = 5 * 60_000;

interface Expiring {
  readonly session: Session;
  readonly expiresAt: number;
}

/** Sessions by cookie, and the short-lived tokens that the browser gets. */
export class Sessions {
  readonly #sessions = new Map<string, Expiring>();
  readonly #tokens = new Map<string, Expiring>();

  open(account: Account): Session {
    const session = { id: secret(), account };
    this.#sessions.set(session.id, { session, expiresAt: Date.now() + SESSION_LIFETIME_MS });
    return session;
  }

  /** Returns the session that a request's cookies name, if it has not expired. */
  find(cookies = ''): Session | undefined {
    return findLive(this.#sessions, /(?:^|; )session=([\w-]+)/.exec(cookies)?.[1]);
  }

  /** Ends a session and its tokens. */
  close({ id }: Session): void {
    this.#sessions.delete(id);
    for (const [token, { session }] of this.#tokens) if (session.id === id) this.#tokens.delete(token);
  }

  /** Issues a token for the browser, which only this backend accepts, for some minutes. */
  issueToken(session: Session): { readonly token: string; readonly expiresIn: number } {
    for (const [old, { expiresAt }] of this.#tokens) if (expiresAt <= Date.now()) this.#tokens.delete(old);
    const token = secret();
    this.#tokens.set(token, { session, expiresAt: Date.now() + TOKEN_LIFETIME_MS });
    return { token, expiresIn: TOKEN_LIFETIME_MS / 1000 };
  }

  /** Returns the session of a request's bearer token, if the token has not expired. */
  bearer(authorization = ''): Session | undefined {
    return findLive(this.#tokens, /^Bearer ([\w-]+)$/.exec(authorization)?.[1]);
  }

  /** Returns the `Set-Cookie` value that sets a session's cookie, or deletes it. With https, add `Secure`. */
  static cookie(session: Session | undefined): string {
    const maxAge = session ? SESSION_LIFETIME_MS / 1000 : 0;
    return `session=${session?.id ?? ''}; HttpOnly; SameSite=Strict; Path=/; Max-Age=${maxAge}`;
  }
}

const secret = (): string => randomBytes(32).toString('base64url');

function findLive(table: Map<string, Expiring>, key = ''): Session | undefined {
  const entry = table.get(key);
  if (entry && entry.expiresAt > Date.now()) return entry.session;
  table.delete(key);
  return undefined;
}
