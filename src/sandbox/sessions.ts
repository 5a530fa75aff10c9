const MAX_SESSIONS = 1_000;

/** Sessions of a browser with the console, each with its owner. They end with the process. */
export class Sessions {
  /** Name of the cookie. Cookies do not differ by port, so that two sandboxes need two names. */
  readonly cookie: string;
  /** Owners by the id of the session, which means nothing anywhere else: browsers send a cookie to every port of a host. */
  readonly #owners = new Map<string, string>();
  /** Why sessions ended, by their id; the latest ones. */
  readonly #reasons = new Map<string, string>();

  constructor(name: string) {
    this.cookie = `${name}_${crypto.randomUUID().slice(0, 8)}`;
  }

  /** Starts a session in place of the one that a request belongs to; returns its `Set-Cookie` header. */
  start(owner: string, request: Request): string {
    this.end(request);
    const id = crypto.randomUUID();
    setBounded(this.#owners, id, owner);
    return setCookie(this.cookie, id);
  }

  /** Starts the only session of an owner; returns its `Set-Cookie` header. */
  startOnly(owner: string, request: Request): string {
    this.endAll('the account has logged in elsewhere', owner);
    return this.start(owner, request);
  }

  /** Returns the owner of the session that a request belongs to. */
  find(request: Request): string | undefined {
    return this.#owners.get(readCookie(request, this.cookie) ?? '');
  }

  /** Ends the session of a request; returns its `Set-Cookie` header. */
  end(request: Request): string {
    this.#owners.delete(readCookie(request, this.cookie) ?? '');
    return `${setCookie(this.cookie, '')}; Max-Age=0`;
  }

  /** Returns why the session of a request has ended, in words; `undefined` if it has not, or by a logout. */
  whyEnded(request: Request): string | undefined {
    return this.#reasons.get(readCookie(request, this.cookie) ?? '');
  }

  /** Ends all sessions, of one owner or of all, for a reason. */
  endAll(why: string, owner?: string): void {
    for (const [id, other] of this.#owners) {
      if (owner !== undefined && other !== owner) continue;
      this.#owners.delete(id);
      setBounded(this.#reasons, id, why);
    }
  }
}

/** Adds an entry; the oldest one goes if there are too many. */
function setBounded(map: Map<string, string>, key: string, value: string): void {
  map.set(key, value);
  const [oldest = ''] = map.keys();
  if (map.size > MAX_SESSIONS) map.delete(oldest);
}

/** Returns a `Set-Cookie` header for a cookie that no other site sends and no script reads. */
const setCookie = (name: string, value: string): string => `${name}=${value}; Path=/; HttpOnly; SameSite=Strict`;

/** Returns the value of a cookie of a request. */
function readCookie(request: Request, name: string): string | undefined {
  const cookies = (request.headers.get('cookie') ?? '').split(/;\s*/).map((cookie) => cookie.split('='));
  return cookies.find(([key]) => key === name)?.[1];
}
