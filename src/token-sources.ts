import { createContext } from './context.ts';
import { ConfigurationError } from './errors/base.ts';
import { storedSource } from './stored-source.ts';
import {
  type BoundTokenSource,
  bindSource,
  type Credentials,
  type Mint,
  singleFlight,
  type TokenContext,
  type TokenSource,
  type TokenStore,
} from './transport/tokens.ts';

/** Where a token source keeps its token, and which service it asks when no client lends it one. */
export interface TokenSourceOptions {
  /** Keeps the token between process starts: ten live ones at most is a rule of the service. */
  readonly store: TokenStore;
  /** Only needed to use the source without a client. */
  readonly baseUrl?: string;
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
  const link = createLink(credentials, baseUrl);
  const shared = singleFlight<string>();
  let current: string | undefined;
  return bound(link, ({ rejected, signal }) => {
    if (current !== undefined && current !== rejected) return Promise.resolve(current);
    return shared(async () => {
      const { token } = await link.context().mint('auth.login', credentials);
      current = token;
      return token;
    }, signal);
  });
}

/** The service a source renews at: that of a client it is given to, or the one of its own `baseUrl`. */
interface Link {
  context(): TokenContext;
  bind(context: TokenContext): void;
}

const bare = (url: string): string => url.replace(/\/+$/, '');

function createLink({ password }: Credentials, baseUrl: string | undefined): Link {
  const clients = new Set<TokenContext>();
  let own: TokenContext | undefined;
  return {
    context() {
      const live = [...clients].find((client) => !client.closed());
      if (live) return live;
      if (baseUrl !== undefined) own ??= createContext(baseUrl);
      // A closed client refuses by itself, and says so.
      const last = own ?? [...clients].at(-1);
      if (last) return last;
      throw new ConfigurationError('This token source needs `baseUrl`, or a client that it is given to as `token`.');
    },
    bind(context) {
      context.remember(password);
      const [known] = clients;
      const service = baseUrl ?? known?.baseUrl ?? context.baseUrl;
      if (bare(service) !== context.baseUrl) {
        throw new ConfigurationError(
          `One token source cannot serve two services (${bare(service)} and ${context.baseUrl}): create one for each.`,
        );
      }
      for (const client of clients) if (client.closed()) clients.delete(client);
      clients.add(context);
    },
  };
}

function bound(link: Link, get: TokenSource['get']): BoundTokenSource {
  return { get, [bindSource]: link.bind };
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
