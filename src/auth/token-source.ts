import { abortable } from '../util/abort.ts';
import type { Logger } from '../util/log.ts';
import type { Redactor } from '../util/redact.ts';

/** Where bearer tokens come from. */
export interface TokenSource {
  /**
   * A token to send now. `rejected` is one that the service has just answered `401` to: a source
   * that holds another returns that, else it renews.
   */
  get(options: { readonly rejected?: string | undefined; readonly signal?: AbortSignal | undefined }): Promise<string>;
}

/** A token as a store keeps it. */
export interface StoredToken {
  readonly token: string;
  /** ISO 8601 with offset, as the service gives it. */
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

/** Operations that answer with a fresh token. */
export type Mint = 'auth.login' | 'auth.createApiToken' | 'auth.createMcpToken';

/** What a client lends to its token sources. */
export interface TokenContext {
  readonly baseUrl: string;
  /** Whether the client has been closed, and can lend nothing any more. */
  closed(): boolean;
  readonly logger: Logger;
  /** Exchanges credentials for a token. */
  mint(operation: Mint, credentials: Credentials): Promise<StoredToken>;
  /** Removes secrets from errors and log lines. */
  readonly redactor: Redactor;
}

/** A token as a header can carry it. */
const HEADER_SAFE = /^[\x21-\x7e]+$/;

/** Whether a value can be sent as a bearer token. */
export function isUsableToken(token: unknown): token is string {
  return typeof token === 'string' && HEADER_SAFE.test(token);
}

/** Key of the method by which a client lends a source its transport. */
export const bindSource: unique symbol = Symbol('bind');

/** A source that needs a client's transport to renew. */
export interface BoundTokenSource extends TokenSource {
  [bindSource](context: TokenContext): void;
}

/** Whether a source wants a client's transport. */
export function isBound(source: TokenSource): source is BoundTokenSource {
  return bindSource in source;
}

/** How a 401 is met: a static token cannot be renewed, so its request is not repeated. */
export interface ClientTokens {
  readonly renewable: boolean;
  /** A token that never changes. */
  readonly fixed?: string;
  get(rejected: string | undefined, signal: AbortSignal | undefined): Promise<string>;
}

/** What a user may give as `token`. */
export type TokenInput = string | (() => string | Promise<string>) | TokenSource;

/** The token of a client, whatever it was given as. */
export function clientTokens(input: TokenInput): ClientTokens {
  if (typeof input === 'string') return { renewable: false, fixed: input, get: () => Promise.resolve(input) };
  if (typeof input === 'function') {
    return { renewable: true, get: (_, signal) => abortable(Promise.resolve().then(input), signal) };
  }
  return {
    renewable: true,
    get: (rejected, signal) => input.get({ ...(rejected !== undefined && { rejected }), ...(signal && { signal }) }),
  };
}

/** Names a token without telling it: the scope of its rate buckets. Not reversible, stable across processes. */
export function fingerprint(token: string): string {
  return `${fnv1a(token, 0x811c9dc5)}${fnv1a(token, 0x01234567)}`;
}

/** FNV-1a over UTF-16 units, 32 bits. */
function fnv1a(text: string, basis: number): string {
  let hash = basis;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return (hash >>> 0).toString(16).padStart(8, '0');
}

/** A store for the life of this process; its lock is a queue. */
export function memoryTokenStore(): TokenStore {
  let held: StoredToken | undefined;
  let tail: Promise<unknown> = Promise.resolve();
  return {
    load: () => Promise.resolve(held),
    save(token) {
      held = token;
      return Promise.resolve();
    },
    withLock(work) {
      const turn = tail.then(work);
      tail = turn.catch(() => {});
      return turn;
    },
  };
}
