const MAX_SESSIONS = 1_000;

/** Browser sessions with the console or the consent page, each with its owner. Sessions are not saved. */
export class Sessions {
  /** Name of the cookie. All ports of a host share cookies, so each sandbox needs its own name. */
  readonly cookie: string;
  /** Owners by session id. The id is random, because browsers send a cookie to every port of a host. */
  readonly #owners = new Map<string, string>();

  constructor(name: string) {
    this.cookie = `${name}_${crypto.randomUUID().slice(0, 8)}`;
  }

  /** Replaces the session of a request with a new session. Returns its `Set-Cookie` header. */
  start(owner: string, request: Request): string {
    this.#owners.delete(readCookie(request, this.cookie) ?? '');
    const id = crypto.randomUUID();
    this.#owners.set(id, owner);
    const [oldest = ''] = this.#owners.keys();
    if (this.#owners.size > MAX_SESSIONS) this.#owners.delete(oldest);
    return setCookie(this.cookie, id);
  }

  /** Starts a session of an owner, and ends the owner's other sessions. Returns its `Set-Cookie` header. */
  startOnly(owner: string, request: Request): string {
    this.endAll(owner);
    return this.start(owner, request);
  }

  find(request: Request): string | undefined {
    return this.#owners.get(readCookie(request, this.cookie) ?? '');
  }

  /** Ends all sessions, of one owner or of all. */
  endAll(owner?: string): void {
    for (const [id, other] of this.#owners) if (owner === undefined || other === owner) this.#owners.delete(id);
  }
}

/** Returns a `Set-Cookie` header for a cookie that browsers omit from requests of other sites and hide from scripts. */
const setCookie = (name: string, value: string): string => `${name}=${value}; Path=/; HttpOnly; SameSite=Strict`;

function readCookie(request: Request, name: string): string | undefined {
  const cookies = (request.headers.get('cookie') ?? '').split(/;\s*/).map((cookie) => cookie.split('='));
  return cookies.find(([key]) => key === name)?.[1];
}
