import type { AccountRecord } from './state.ts';

const MAX_SESSIONS = 1_000;

/** Sessions of accounts that have logged in to the console. They end with the process. */
export class Sessions {
  /** Cookies do not differ by port, so that two sandboxes need two names. */
  readonly cookie = `session_${crypto.randomUUID().slice(0, 8)}`;
  /** Emails of the accounts. */
  readonly #emails = new Map<string, string>();

  /** Starts a session; returns its `Set-Cookie` header. */
  start({ email }: AccountRecord): string {
    const id = crypto.randomUUID();
    this.#emails.set(id, email);
    const [oldest = ''] = this.#emails.keys();
    if (this.#emails.size > MAX_SESSIONS) this.#emails.delete(oldest);
    return setCookie(this.cookie, id);
  }

  /** Returns the email of the account whose session a request belongs to. */
  find(request: Request): string | undefined {
    return this.#emails.get(readCookie(request, this.cookie) ?? '');
  }

  /** Ends the session of a request; returns its `Set-Cookie` header. */
  end(request: Request): string {
    this.#emails.delete(readCookie(request, this.cookie) ?? '');
    return `${setCookie(this.cookie, '')}; Max-Age=0`;
  }

  /** Ends all sessions, of one account or of all. */
  endAll(email?: string): void {
    for (const [id, owner] of this.#emails) if (email === undefined || owner === email) this.#emails.delete(id);
  }
}

/** Returns a `Set-Cookie` header for a cookie that no other site sends and no script reads. */
export const setCookie = (name: string, value: string): string => `${name}=${value}; Path=/; HttpOnly; SameSite=Strict`;

/** Returns the value of a cookie of a request. */
export function readCookie(request: Request, name: string): string | undefined {
  const cookies = (request.headers.get('cookie') ?? '').split(/;\s*/).map((cookie) => cookie.split('='));
  return cookies.find(([key]) => key === name)?.[1];
}
