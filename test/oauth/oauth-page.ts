import type { TokenStore } from '../../src/index.ts';
import { browserTokenStore, createOAuthClient, type OAuthClient } from '../../src/oauth/index.ts';
import { ping } from '../support/ping.ts';

/** Global of a page that runs this file, which tests use. */
export interface OAuthPage {
  readonly oauth: OAuthClient;
  readonly store: TokenStore;
  /** True after the browser has restored the page from its back/forward cache. */
  isRestored: boolean;
  /** Number of transactions of the token store that have not ended. */
  transactions: number;
  /** Calls the service; resolves with the status, or with the `error` of the rejection. */
  ping(): Promise<unknown>;
  /** Waits until every tab does so and the access token has expired, then calls the service; `count` times. */
  pingAtExpiries(count: number): Promise<unknown[]>;
}

const baseUrl = document.documentElement.dataset.service ?? '';
const store = browserTokenStore();
const oauth = createOAuthClient({
  baseUrl,
  redirectUri: `${location.origin}/callback`,
  store: {
    ...store,
    withLock: (work) =>
      store.withLock(() => {
        page.transactions++;
        return work().finally(() => page.transactions--);
      }),
  },
});

globalThis.page = {
  oauth,
  store,
  isRestored: false,
  transactions: 0,
  ping: () => ping(oauth, baseUrl).catch((error) => error.error ?? String(error)),
  async pingAtExpiries(count) {
    const results: unknown[] = [];
    while (results.length < count) {
      // Without `no-store`, the cache delays a request until that of another tab has ended.
      await fetch('/expiry', { cache: 'no-store' });
      results.push(await this.ping());
    }
    return results;
  },
};
addEventListener('pageshow', ({ persisted }) => {
  page.isRestored = persisted;
});
