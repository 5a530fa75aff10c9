import type { TokenStore } from '../auth/token-source.ts';
import { readStoredToken } from '../auth/token-source.ts';
import { ConfigurationError } from '../errors/audience-error.ts';

/** Where a page keeps texts: `localStorage`, `sessionStorage`, or one of your own, which may be asynchronous. */
export interface TextStorage {
  getItem(key: string): string | null | undefined | PromiseLike<string | null | undefined>;
  setItem(key: string, value: string): unknown;
  removeItem(key: string): unknown;
}

/** Options of {@link browserTokenStore}. */
export interface BrowserTokenStoreOptions {
  readonly storage: TextStorage;
  /** Name of the entry; one a user. @default 'audience-activation' */
  readonly key?: string | undefined;
}

/**
 * A token store for pages. Tabs and frames of one origin queue up by a lock of the browser, so that one of them
 * renews for all. Any script of the origin can read what it keeps.
 *
 * @throws {ConfigurationError} where the platform has no locks, as on a page without https.
 *
 * @example
 * const store = browserTokenStore({ storage: localStorage });
 * const oauth = createOAuthClient({ baseUrl, redirectUri: 'https://app.example.com/callback', store });
 */
export function browserTokenStore({ storage, key = 'audience-activation' }: BrowserTokenStoreOptions): TokenStore {
  if (typeof storage?.getItem !== 'function') {
    throw new ConfigurationError('`storage` is missing: give `localStorage`, or another with the same methods.');
  }
  // Absent in older Node, and on pages that are not secure, whatever the types say.
  const locks = globalThis.navigator?.locks;
  if (locks === undefined) {
    throw new ConfigurationError(
      '`browserTokenStore` needs `navigator.locks`, which browsers give only to pages over https or of this machine: without it, two tabs would end each other’s tokens. Serve the page over https; in Node, use `fileTokenStore` of `audience-activation/node`.',
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
