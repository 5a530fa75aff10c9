import { randomBytes } from 'node:crypto';
import type { Account } from './accounts.ts';

/** Somebody who is signed in. */
export interface Session {
  readonly id: string;
  readonly account: Account;
}

/** Milliseconds. */
const SESSION_LIFE = 8 * 3_600_000;
const TOKEN_LIFE = 5 * 60_000;

interface Lasting {
  readonly session: Session;
  readonly until: number;
}

/** Sessions by cookie, and the short tokens that they hand to the browser. */
export class Sessions {
  readonly #sessions = new Map<string, Lasting>();
  readonly #tokens = new Map<string, Lasting>();

  open(account: Account): Session {
    const session = { id: secret(), account };
    this.#sessions.set(session.id, { session, until: Date.now() + SESSION_LIFE });
    return session;
  }

  /** The session of a request's cookies. */
  find(cookies = ''): Session | undefined {
    return live(this.#sessions, /(?:^|; )session=([\w-]+)/.exec(cookies)?.[1]);
  }

  /** Ends a session, and the tokens that it gave out. */
  close({ id }: Session): void {
    this.#sessions.delete(id);
    for (const [token, { session }] of this.#tokens) if (session.id === id) this.#tokens.delete(token);
  }

  /** A token for the browser, good with this backend only, and for some minutes. */
  issueToken(session: Session): { readonly token: string; readonly expiresIn: number } {
    for (const [old, { until }] of this.#tokens) if (until <= Date.now()) this.#tokens.delete(old);
    const token = secret();
    this.#tokens.set(token, { session, until: Date.now() + TOKEN_LIFE });
    return { token, expiresIn: TOKEN_LIFE / 1000 };
  }

  /** The session whose token a request bears. */
  bearer(authorization = ''): Session | undefined {
    return live(this.#tokens, /^Bearer ([\w-]+)$/.exec(authorization)?.[1]);
  }

  /** The cookie of a session, or the one that takes it back. Behind https, add `Secure`. */
  static cookie(session: Session | undefined): string {
    const life = session ? SESSION_LIFE / 1000 : 0;
    return `session=${session?.id ?? ''}; HttpOnly; SameSite=Strict; Path=/; Max-Age=${life}`;
  }
}

const secret = (): string => randomBytes(32).toString('base64url');

function live(table: Map<string, Lasting>, key = ''): Session | undefined {
  const found = table.get(key);
  if (found && found.until > Date.now()) return found.session;
  table.delete(key);
  return undefined;
}
