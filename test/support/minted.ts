import { memoryTokenStore, type StoredToken, type TokenStore } from '../../src/index.ts';

/** Statuses of the mints of API tokens. */
export const mints = (log: readonly { path: string; status: number }[]): number[] =>
  log.filter(({ path }) => path.endsWith('/api-token')).map(({ status }) => status);

/** Statuses of the logins. */
export const logins = (log: readonly { path: string; status: number }[]): number[] =>
  log.filter(({ path }) => path.endsWith('/login')).map(({ status }) => status);

/** Milliseconds. */
export const DAY = 86_400_000;
/** A time in so many days, as the service tells it. */
export const inDays = (days: number): string => new Date(Date.now() + days * DAY).toISOString();

/** A store with a token in it; `trouble` replaces some of its methods. */
export function storeOf(token: StoredToken | undefined, trouble: Partial<TokenStore> = {}): TokenStore {
  const store = memoryTokenStore();
  void store.save(token);
  return { ...store, ...trouble };
}
