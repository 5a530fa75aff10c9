import { memoryTokenStore, type StoredToken, type TokenStore } from '../../../src/index.ts';

/** Returns the statuses of the requests that issue API tokens. */
export const issuedStatuses = (log: readonly { path: string; status: number }[]): number[] =>
  log.filter(({ path }) => path.endsWith('/api-token')).map(({ status }) => status);

/** Returns the statuses of the login requests. */
export const logins = (log: readonly { path: string; status: number }[]): number[] =>
  log.filter(({ path }) => path.endsWith('/login')).map(({ status }) => status);

/** One day in milliseconds. */
export const DAY = 86_400_000;
/** Returns the time in `days` days, as an ISO string. */
export const inDays = (days: number): string => new Date(Date.now() + days * DAY).toISOString();

/** Creates a store that contains a token; `overrides` replaces methods of the store. */
export function storeOf(token: StoredToken | undefined, overrides: Partial<TokenStore> = {}): TokenStore {
  const store = memoryTokenStore();
  void store.save(token);
  return { ...store, ...overrides };
}
