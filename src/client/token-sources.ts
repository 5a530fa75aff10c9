import { bound, createLink, soleLogin } from '../auth/login-token-source.ts';
import { storedSource } from '../auth/stored-token-source.ts';
import type { Credentials, Mint, TokenSource, TokenStore } from '../auth/token-source.ts';
import { ConfigurationError } from '../errors/audience-error.ts';

/** Where a token source keeps its token, and which service it asks when no client lends it one. */
export interface TokenSourceOptions {
  /** Keeps the token between process starts: ten live ones at most is a rule of the service. */
  readonly store: TokenStore;
  /** Only needed to use the source without a client. */
  readonly baseUrl?: string | undefined;
}

/**
 * A long-lived API token, minted once and kept in a store: the right choice for backends. Logins
 * elsewhere do not end it.
 *
 * @example
 * new AudienceClient({ baseUrl, token: apiToken({ email, password }, { store }) });
 */
export function apiToken(credentials: Credentials, options: TokenSourceOptions): TokenSource {
  return fromStore('auth.createApiToken', credentials, options);
}

/** As {@link apiToken}, of scope `mcp`: valid on the MCP endpoint only. */
export function mcpToken(credentials: Credentials, options: TokenSourceOptions): TokenSource {
  return fromStore('auth.createMcpToken', credentials, options);
}

/** Options of {@link loginToken}. */
export interface LoginTokenOptions {
  /** Has all that share it use one login, instead of ending each other's. @default none: the token is this source's own */
  readonly store?: TokenStore | undefined;
  /** Only needed to use the source without a client. */
  readonly baseUrl?: string | undefined;
}

/**
 * A login token, for scripts with an account of their own: each login ends every other login of the
 * account. Renewed by a new login after a 401. Processes that log in to one account need a `store` that they share.
 *
 * @example
 * new AudienceClient({ baseUrl, token: loginToken({ email, password }, { store }) });
 */
export function loginToken(credentials: Credentials, { store, baseUrl }: LoginTokenOptions = {}): TokenSource {
  if (store !== undefined)
    return fromStore('auth.login', credentials, { store, ...(baseUrl !== undefined && { baseUrl }) });
  return soleLogin(credentials, baseUrl);
}

function fromStore(operation: Mint, credentials: Credentials, options: TokenSourceOptions): TokenSource {
  const { store, baseUrl } = checkStore(options);
  const link = createLink(credentials, baseUrl);
  return bound(link, storedSource({ operation, credentials, store, context: link.context }));
}

function checkStore(options: TokenSourceOptions): TokenSourceOptions {
  if (typeof options?.store?.withLock === 'function') return options;
  throw new ConfigurationError('A token source needs a `store`, such as `memoryTokenStore()`: it keeps the token.');
}
