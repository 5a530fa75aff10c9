import type { Credentials, TokenContext, TokenOperation, TokenSource, TokenStore } from '../auth/index.ts';
import { memoryTokenStore, storedTokenSource } from '../auth/index.ts';
import { ConfigurationError } from '../errors/audience-error.ts';
import { checkBaseUrl } from '../util/base-url.ts';
import { createStandaloneContext } from './create-transport.ts';

/** Options of {@link apiToken} and {@link mcpToken}. */
export interface TokenSourceOptions {
  /** Keeps the token between process starts: an account may have ten live tokens. */
  readonly store: TokenStore;
  /** Address of the service, needed only to use the source without a client. */
  readonly baseUrl?: string | undefined;
}

/**
 * Returns a source of a long-lived API token, which is issued once and kept in a store: the right choice for backends.
 * Logins elsewhere do not end it.
 *
 * @example
 * new AudienceClient({ baseUrl, token: apiToken({ email, password }, { store }) });
 */
export function apiToken(credentials: Credentials, options: TokenSourceOptions): TokenSource {
  return storedToken('auth.createApiToken', credentials, options);
}

/** As {@link apiToken}, of scope `mcp`: valid on the MCP endpoint only. */
export function mcpToken(credentials: Credentials, options: TokenSourceOptions): TokenSource {
  return storedToken('auth.createMcpToken', credentials, options);
}

/** Options of {@link loginToken}. */
export interface LoginTokenOptions {
  /** Lets all processes that share it use one login. @default none: the source has its own login */
  readonly store?: TokenStore | undefined;
  /** Address of the service, needed only to use the source without a client. */
  readonly baseUrl?: string | undefined;
}

/**
 * Returns a source of a login token, for scripts with their own account: each login ends every other login of the
 * account. After a 401 it logs in again. Processes that log in to one account need a shared `store`.
 *
 * @example
 * new AudienceClient({ baseUrl, token: loginToken({ email, password }, { store }) });
 */
export function loginToken(
  credentials: Credentials,
  { store = memoryTokenStore(), baseUrl }: LoginTokenOptions = {},
): TokenSource {
  return storedToken('auth.login', credentials, { store, baseUrl });
}

function storedToken(operation: TokenOperation, credentials: Credentials, options: TokenSourceOptions): TokenSource {
  const { store, baseUrl } = options ?? {};
  if (typeof store?.withLock !== 'function') {
    throw new ConfigurationError('`store` of a token source must be a token store, such as `memoryTokenStore()`.');
  }
  return storedTokenSource(operation, credentials, store, contextSelector(credentials, baseUrl));
}

/** Returns a function that selects the context of a source: that of the client, or without one its own. */
function contextSelector(
  { password }: Credentials,
  baseUrl: string | undefined,
): (client: TokenContext | undefined) => TokenContext {
  // Whether http is allowed is decided by the client.
  let service = baseUrl === undefined ? undefined : checkBaseUrl(baseUrl, true);
  let standalone: TokenContext | undefined;
  return (client) => {
    if (!client && baseUrl !== undefined) standalone ??= createStandaloneContext(baseUrl);
    const context = client ?? standalone;
    if (!context) {
      throw new ConfigurationError(
        '`baseUrl` of a token source is missing. Set it, or pass the source to a client as `token`.',
      );
    }
    service ??= context.baseUrl;
    if (service !== context.baseUrl) {
      throw new ConfigurationError(
        `One token source cannot serve two services (${service} and ${context.baseUrl}). Create one for each.`,
      );
    }
    context.redactor.addSecret(password);
    return context;
  };
}
