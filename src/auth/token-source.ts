import { abortable } from '../util/abort.ts';
import { createMutex } from '../util/concurrency.ts';
import { isObject, parseJson } from '../util/json.ts';
import type { Logger } from '../util/log.ts';
import type { Redactor } from '../util/redact.ts';

/** A source of bearer tokens. */
export interface TokenSource {
  /**
   * Returns the token to send now. `rejected` is a token that the service has just refused with `401`: a source that
   * holds another one returns that, else it renews.
   */
  get(options: {
    readonly rejected?: string | undefined;
    readonly signal?: AbortSignal | undefined;
    /** @internal The client that asks; sources of this package issue tokens by it. */
    readonly context?: TokenContext | undefined;
  }): Promise<string>;
}

/** A token as a store keeps it. */
export interface StoredToken {
  readonly token: string;
  /** ISO 8601 with offset, as the service writes it. */
  readonly expiresAt?: string | undefined;
  readonly [extra: string]: unknown;
}

/** Keeps a token between process starts, or for several processes. */
export interface TokenStore {
  load(): Promise<StoredToken | undefined>;
  save(token: StoredToken | undefined): Promise<void>;
  /** Runs `work` while no other holder of the same store does. */
  withLock<R>(work: () => Promise<R>): Promise<R>;
}

/** Email and password of an account. */
export interface Credentials {
  readonly email: string;
  readonly password: string;
}

/** Operations that issue a new token. */
export type TokenOperation = 'auth.login' | 'auth.createApiToken' | 'auth.createMcpToken';

/** The client that a token source issues tokens by. */
export interface TokenContext {
  readonly baseUrl: string;
  readonly logger: Logger;
  readonly redactor: Redactor;
  /** Exchanges credentials for a token. */
  issueToken(operation: TokenOperation, credentials: Credentials): Promise<StoredToken>;
}

/** A token as a header can carry it. */
const HEADER_SAFE = /^[\x21-\x7e]+$/;

/** Returns whether a value can be sent as a bearer token. */
export function isUsableToken(token: unknown): token is string {
  return typeof token === 'string' && HEADER_SAFE.test(token);
}

/** The token option of a client, as its calls use it. */
export interface ClientTokens extends TokenSource {
  /** True if a 401 may be retried with another token; a static token cannot be renewed. */
  readonly canRenew: boolean;
}

/** The forms of the option `token`. */
export type TokenInput = string | (() => string | Promise<string>) | TokenSource;

/** Returns the token of a client, in whichever form it was passed. */
export function clientTokens(input: TokenInput): ClientTokens {
  if (typeof input === 'string') return { canRenew: false, get: () => Promise.resolve(input) };
  if (typeof input === 'function') {
    return { canRenew: true, get: ({ signal }) => abortable(Promise.resolve().then(input), signal) };
  }
  return { canRenew: true, get: (options) => input.get(options) };
}

/** Offset bases of two FNV-1a hashes of 32 bits. */
const OFFSET_BASES = [0x811c9dc5, 0x01234567];

/** Returns a name for a token that does not reveal it, stable across processes: the scope of its rate buckets. */
export function fingerprint(token: string): string {
  let name = '';
  for (const basis of OFFSET_BASES) {
    let hash = basis;
    for (let at = 0; at < token.length; at++) hash = Math.imul(hash ^ token.charCodeAt(at), 0x01000193);
    name += (hash >>> 0).toString(16).padStart(8, '0');
  }
  return name;
}

/** Creates a store for the lifetime of this process. */
export function memoryTokenStore(): TokenStore {
  const lock = createMutex();
  let stored: StoredToken | undefined;
  return {
    load: () => Promise.resolve(stored),
    save(token) {
      stored = token;
      return Promise.resolve();
    },
    withLock: (work) => lock('', work),
  };
}

/** Returns the token in a JSON string that a store has kept; `undefined` for any other string. */
export function readStoredToken(text: string): StoredToken | undefined {
  const value = parseJson(text);
  return isStoredToken(value) ? value : undefined;
}

function isStoredToken(value: unknown): value is StoredToken {
  if (!isObject(value) || typeof value.token !== 'string') return false;
  return value.expiresAt === undefined || typeof value.expiresAt === 'string';
}
