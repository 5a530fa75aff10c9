import type { TokenStore } from '../auth/index.ts';
import { readStoredToken } from '../auth/index.ts';
import { ConfigurationError, check } from '../errors/audience-error.ts';

/** Key-value storage of a page: `localStorage`, `sessionStorage`, or your own implementation, which may be async. */
export interface TextStorage {
  /** Returns the value of a key; `null` or `undefined` if it has none. */
  getItem(key: string): string | null | undefined | PromiseLike<string | null | undefined>;
  /** Stores a value; throws or rejects if it could not. */
  setItem(key: string, value: string): unknown;
  /** Deletes the value of a key. */
  removeItem(key: string): unknown;
}

/** Options of {@link browserTokenStore}. */
export interface BrowserTokenStoreOptions {
  /** Storage of the tokens: that of the origin, `localStorage`, or of the tab, `sessionStorage`. */
  readonly storage: TextStorage;
  /** Key of the entry; use another one for each user. @default 'audience-activation' */
  readonly key?: string | undefined;
}

/**
 * Creates a token store for web pages. The tabs and frames of an origin share a lock (Web Locks), so that one of them
 * refreshes the token for all. Every script of the origin can read the stored tokens.
 *
 * @param options Storage, and key of the entry.
 * @throws {ConfigurationError} if the platform has no Web Locks, as on a page without https.
 *
 * @example
 * const store = browserTokenStore({ storage: localStorage });
 * const oauth = createOAuthClient({ baseUrl, redirectUri: 'https://app.example.com/callback', store });
 */
export function browserTokenStore({ storage, key = 'audience-activation' }: BrowserTokenStoreOptions): TokenStore {
  check(typeof storage?.getItem === 'function', '`storage` must have the methods of `localStorage`.');
  // `locks` may be missing despite its type: in older Node versions and on insecure pages.
  const locks = globalThis.navigator?.locks;
  if (locks === undefined) {
    throw new ConfigurationError(
      '`browserTokenStore` needs `navigator.locks`, which browsers provide only over https or on loopback: without a lock, two tabs would revoke each other’s tokens. In Node, use `fileTokenStore` of `audience-activation/node`.',
    );
  }
  return {
    load: async () => readStoredToken((await storage.getItem(key)) ?? ''),
    async save(token) {
      await (token === undefined ? storage.removeItem(key) : storage.setItem(key, JSON.stringify(token)));
    },
    withLock: (work) => locks.request(`audience-activation:${key}`, () => work()),
  };
}
