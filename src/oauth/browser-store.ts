import { readStoredToken } from '../client/index.ts';
import { ConfigurationError, check } from '../errors/audience-error.ts';
import type { TokenStore } from '../index.ts';
import { indexedDbStorage, type TextStorage } from './text-storage.ts';

/** Options of {@link browserTokenStore}. */
export interface BrowserTokenStoreOptions {
  /**
   * Storage of the tokens instead of IndexedDB, such as `sessionStorage` to sign in each tab separately. Do not use
   * `localStorage`: even under a lock, a tab may read an old value after another tab has written a new value. The tab
   * would then send a used refresh token, which ends the sign-in of every tab.
   *
   * @default IndexedDB
   */
  readonly storage?: TextStorage | undefined;
  /** Key of the entry. Use a separate key for each user. @default 'audience-activation' */
  readonly key?: string | undefined;
}

/**
 * Creates a token store for web pages. The tabs and frames of an origin share the tokens (IndexedDB) and a lock (Web
 * Locks), so that one tab refreshes the token for all. Every script of the origin can read the stored tokens. If the
 * browser refuses IndexedDB, the methods of the store reject with an `AudienceError` with the code `token-unavailable`.
 *
 * @param options Key of the entry, and another storage.
 * @throws {ConfigurationError} if the platform has no IndexedDB or no Web Locks, for example on a page without https.
 *
 * @example
 * const store = browserTokenStore();
 * const oauth = createOAuthClient({ baseUrl, redirectUri: 'https://app.example.com/callback', store });
 */
export function browserTokenStore(options: BrowserTokenStoreOptions = {}): TokenStore {
  const { storage = indexedDbStorage(), key = 'audience-activation' } = options;
  check(typeof storage?.getItem === 'function', '`storage` must have the methods of `sessionStorage`.');
  // `locks` may be missing, in older Node versions and on insecure pages.
  const locks = globalThis.navigator?.locks;
  if (locks === undefined) {
    throw new ConfigurationError(
      '`browserTokenStore` needs `navigator.locks`, which browsers provide only over https or on loopback: without a lock, two tabs could revoke each other’s tokens.',
      { advice: 'Serve the page over https. In Node, use `fileTokenStore` of `audience-activation/node`.' },
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
