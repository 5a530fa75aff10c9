import { memoryTokenStore, type StoredToken, type TokenStore } from '../../src/index.ts';

/** Statuses of the requests that issued API tokens. */
export const issuedStatuses = (log: readonly { path: string; status: number }[]): number[] =>
  log.filter(({ path }) => path.endsWith('/api-token')).map(({ status }) => status);

/** Statuses of the logins. */
export const logins = (log: readonly { path: string; status: number }[]): number[] =>
  log.filter(({ path }) => path.endsWith('/login')).map(({ status }) => status);

/** Milliseconds. */
export const DAY = 86_400_000;
/** Returns the time in so many days, in the format of the service. */
export const inDays = (days: number): string => new Date(Date.now() + days * DAY).toISOString();

/** A store with a token in it; `overrides` replaces some of its methods. */
export function storeOf(token: StoredToken | undefined, overrides: Partial<TokenStore> = {}): TokenStore {
  const store = memoryTokenStore();
  void store.save(token);
  return { ...store, ...overrides };
}
