import { ConfigurationError } from '../errors/audience-error.ts';
import { checkBaseUrl } from '../util/base-url.ts';
import { checkRuntime } from '../util/runtime.ts';
import { storedTokenSource } from './auth/stored-token-source.ts';
import type { Credentials, TokenContext, TokenOperation, TokenSource, TokenStore } from './auth/token-source.ts';
import { memoryTokenStore } from './auth/token-source.ts';
import { createStandaloneContext } from './create-transport.ts';

/** Options of {@link apiToken} and {@link mcpToken}. */
export interface TokenSourceOptions {
  /**
   * Store that keeps the token for the next start of the process. An account can have only ten valid tokens of each
   * kind.
   */
  readonly store: TokenStore;
  /** Address of the service, needed only to use the source without a client. */
  readonly baseUrl?: string | undefined;
}

/**
 * Returns a source of a long-lived API token, for backends. The source keeps the token in a store, and replaces it
 * before it expires and after a 401. Logins of the account do not revoke the token.
 *
 * @example
 * new AudienceClient({ baseUrl, token: apiToken({ email, password }, { store }) });
 */
export function apiToken(credentials: Credentials, options: TokenSourceOptions): TokenSource {
  return storedToken('auth.createApiToken', credentials, options);
}

/** Returns a source like {@link apiToken} for a token of scope `mcp`, which is valid only at the MCP endpoint. */
export function mcpToken(credentials: Credentials, options: TokenSourceOptions): TokenSource {
  return storedToken('auth.createMcpToken', credentials, options);
}

/** Options of {@link loginToken}. */
export interface LoginTokenOptions {
  /** Store of the login token. Processes that share a store share a login. @default a store in memory */
  readonly store?: TokenStore | undefined;
  /** Address of the service, needed only to use the source without a client. */
  readonly baseUrl?: string | undefined;
}

/**
 * Returns a source of a login token, for scripts with their own account. Each login revokes the account's previous
 * login token, so processes that use the same account need a shared `store`. After a 401, the source logs in again.
 *
 * @param options Store of the token.
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
  checkRuntime(true);
  const { store, baseUrl } = options ?? {};
  if (typeof store?.withLock !== 'function') {
    throw new ConfigurationError('`store` of a token source must be a token store, such as `memoryTokenStore()`.');
  }
  return storedTokenSource(operation, credentials, store, contextSelector(credentials, baseUrl));
}

/**
 * Returns a function that selects the context in which a source issues tokens: the calling client's context, or the
 * source's own context.
 */
function contextSelector(
  { password }: Credentials,
  baseUrl: string | undefined,
): (client: TokenContext | undefined) => TokenContext {
  // Accept `http:` here. The client or the standalone context checks whether it is allowed.
  let service = baseUrl === undefined ? undefined : checkBaseUrl(baseUrl, true);
  let standalone: TokenContext | undefined;
  return (client) => {
    if (!client && baseUrl !== undefined) standalone ??= createStandaloneContext(baseUrl);
    const context = client ?? standalone;
    if (!context) {
      throw new ConfigurationError('`baseUrl` of a token source is missing.', {
        advice: 'Set `baseUrl`, or pass the source to a client as `token`.',
      });
    }
    service ??= context.baseUrl;
    if (service !== context.baseUrl) {
      throw new ConfigurationError(`One token source cannot serve two services (${service} and ${context.baseUrl}).`, {
        advice: 'Create one token source for each service.',
      });
    }
    context.redactor.addSecret(password);
    return context;
  };
}
