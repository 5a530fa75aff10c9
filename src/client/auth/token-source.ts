import { abortable } from '../../util/abort.ts';
import { SharedWork } from '../../util/concurrency.ts';
import { isObject, parseJson } from '../../util/json.ts';
import type { Logger } from '../../util/log.ts';
import type { Redactor } from '../../util/redact.ts';

/** A source of bearer tokens. */
export interface TokenSource {
  /**
   * Returns the token to send. If the service has just refused the token `rejected` with 401, the source returns
   * another token, and renews the token if necessary.
   */
  get(options: {
    /** Token that the service has just refused. Not set for the first request. */
    readonly rejected?: string | undefined;
    /** Aborts when the call is aborted. Then the source must stop waiting for the token. */
    readonly signal?: AbortSignal | undefined;
    /** @internal Context of the calling client, which the sources of this package use to issue tokens. */
    readonly context?: TokenContext | undefined;
  }): Promise<string>;
  /** @internal Email of the account, if the source has its credentials. */
  readonly account?: string | undefined;
}

/** A token in a token store. */
export interface StoredToken {
  /** The bearer token, which is a secret. */
  readonly token: string;
  /** Expiry in ISO 8601 with offset. */
  readonly expiresAt?: string | undefined;
  readonly [extra: string]: unknown;
}

/** Stores a token for the next start of a process, or for several processes. */
export interface TokenStore {
  /** Resolves with the stored token, or with `undefined` if the store is empty. */
  load(): Promise<StoredToken | undefined>;
  /** Replaces the stored token; `undefined` deletes it. */
  save(token: StoredToken | undefined): Promise<void>;
  /** Runs `work` while holding a lock of the store, so that other processes cannot run their work at the same time. */
  withLock<R>(work: () => Promise<R>): Promise<R>;
}

/** Email and password of an account. */
export interface Credentials {
  /** Email address that the account signs in with. */
  readonly email: string;
  /** Password of the account. Changing it in the console revokes every token. */
  readonly password: string;
}

/** Operations that issue a new token. */
export type TokenOperation = 'auth.login' | 'auth.createApiToken' | 'auth.createMcpToken';

/** The parts of a client that a token source uses to issue tokens. */
export interface TokenContext {
  readonly baseUrl: string;
  readonly logger: Logger;
  readonly redactor: Redactor;
  /** Exchanges credentials for a token. */
  issueToken(operation: TokenOperation, credentials: Credentials): Promise<StoredToken>;
}

/** The token source that the calls of a client use. */
export interface ClientTokens extends TokenSource {
  /** True if a call may retry a 401 with another token. A static token cannot be renewed. */
  readonly canRenew: boolean;
  /** Static token, if there is one. A call can use it without awaiting `get`. */
  readonly value?: string;
}

/** Allowed values of the `token` option. */
export type TokenInput = string | (() => string | Promise<string>) | TokenSource;

/** Converts the `token` option of a client to a token source. */
export function clientTokens(input: TokenInput): ClientTokens {
  if (typeof input === 'string') return { canRenew: false, value: input, get: () => Promise.resolve(input) };
  if (typeof input === 'function') {
    return { canRenew: true, get: ({ signal }) => abortable(Promise.resolve().then(input), signal) };
  }
  return { canRenew: true, get: (options) => input.get(options), account: input.account };
}

/** Offset bases of two 32-bit FNV-1a hashes. */
const OFFSET_BASES = [0x811c9dc5, 0x01234567];

/**
 * Returns a fingerprint of a token or an email address. All processes compute the same fingerprint. The fingerprint of
 * a token is the scope of its rate buckets.
 */
export function fingerprint(token: string): string {
  let name = '';
  for (const basis of OFFSET_BASES) {
    let hash = basis;
    for (let at = 0; at < token.length; at++) hash = Math.imul(hash ^ token.charCodeAt(at), 0x01000193);
    name += (hash >>> 0).toString(16).padStart(8, '0');
  }
  return name;
}

/** Creates a token store in memory, for the lifetime of this process. */
export function memoryTokenStore(): TokenStore {
  let running: SharedWork<unknown> | undefined;
  let stored: StoredToken | undefined;
  return {
    load: () => Promise.resolve(stored),
    save(token) {
      stored = token;
      return Promise.resolve();
    },
    async withLock(work) {
      for (let other = running; other; other = running) {
        await other.ended();
        if (running === other) running = undefined;
      }
      const own = new SharedWork(work);
      running = own;
      return own.result;
    },
  };
}

/** Parses a stored token. Returns `undefined` if the string is not a stored token. */
export function readStoredToken(text: string): StoredToken | undefined {
  const value = parseJson(text);
  return isStoredToken(value) ? value : undefined;
}

function isStoredToken(value: unknown): value is StoredToken {
  if (!isObject(value) || typeof value.token !== 'string') return false;
  return value.expiresAt === undefined || typeof value.expiresAt === 'string';
}
