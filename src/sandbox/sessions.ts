const MAX_SESSIONS = 1_000;

/** Sessions of a browser with the console or the consent page, each with its owner. They end with the process. */
export class Sessions {
  /** Name of the cookie. Cookies do not differ by port, so that two sandboxes need two names. */
  readonly cookie: string;
  /** Owners by the id of the session, which means nothing anywhere else: browsers send a cookie to every port of a host. */
  readonly #owners = new Map<string, string>();

  constructor(name: string) {
    this.cookie = `${name}_${crypto.randomUUID().slice(0, 8)}`;
  }

  /** Starts a session in place of the one that a request belongs to; returns its `Set-Cookie` header. */
  start(owner: string, request: Request): string {
    this.#owners.delete(readCookie(request, this.cookie) ?? '');
    const id = crypto.randomUUID();
    this.#owners.set(id, owner);
    const [oldest = ''] = this.#owners.keys();
    if (this.#owners.size > MAX_SESSIONS) this.#owners.delete(oldest);
    return setCookie(this.cookie, id);
  }

  /** Starts the only session of an owner; returns its `Set-Cookie` header. */
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

/** Returns a `Set-Cookie` header for a cookie that no other site sends and no script reads. */
const setCookie = (name: string, value: string): string => `${name}=${value}; Path=/; HttpOnly; SameSite=Strict`;

function readCookie(request: Request, name: string): string | undefined {
  const cookies = (request.headers.get('cookie') ?? '').split(/;\s*/).map((cookie) => cookie.split('='));
  return cookies.find(([key]) => key === name)?.[1];
}
