import { createContext } from './context.ts';
import { ValidationError } from './errors/api.ts';
import { ConfigurationError } from './errors/base.ts';
import {
  type BoundTokenSource,
  bindSource,
  type Credentials,
  fingerprint,
  isUsableToken,
  type Mint,
  type StoredToken,
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

/** A stored token is renewed this long before it expires. Milliseconds. */
const RENEW_BEFORE = 7 * 24 * 3_600_000;

/** An early renewal that failed is tried again after this. Milliseconds. */
const RENEW_RETRY = 3_600_000;

/**
 * A long-lived API token, minted once and kept in a store: the right choice for backends. Logins
 * elsewhere do not end it.
 *
 * @example
 * new AudienceClient({ baseUrl, token: apiToken({ email, password }, { store }) });
 */
export function apiToken(credentials: Credentials, options: TokenSourceOptions): TokenSource {
  return storedSource('auth.createApiToken', credentials, options);
}

/** As {@link apiToken}, of scope `mcp`: valid on the MCP endpoint only. */
export function mcpToken(credentials: Credentials, options: TokenSourceOptions): TokenSource {
  return storedSource('auth.createMcpToken', credentials, options);
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
    return storedSource('auth.login', credentials, { store, ...(baseUrl !== undefined && { baseUrl }) });
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

function storedSource(operation: Mint, credentials: Credentials, options: TokenSourceOptions): TokenSource {
  const { store, baseUrl } = checkStore(options);
  const link = createLink(credentials, baseUrl);
  const shared = singleFlight<string>();
  let current: StoredToken | undefined;
  let renewAgain = Number.NEGATIVE_INFINITY;

  const due = (token: StoredToken): boolean => renewalDue(token) && performance.now() >= renewAgain;

  async function obtain(rejected: string | undefined): Promise<string> {
    current = await store.withLock(async () => {
      const owner = ownerOf(operation, credentials, link.context());
      const held = await readStore(store, link.context());
      checkOwner(held.token, owner);
      const stored = isUsableToken(held.token?.token) ? held.token : undefined;
      if (stored && stored.token !== rejected && !due(stored)) return stored;
      const present = stored?.token === rejected ? undefined : stored;
      return renew(present, async (issued) => {
        const fresh = { ...issued, ...owner, mintedAt: new Date().toISOString() };
        // What could not be read may be somebody else's.
        if (held.readable) await saveToken(store, fresh, link.context());
        return fresh;
      });
    });
    link.context().remember(current.token);
    return current.token;
  }

  async function renew(
    present: StoredToken | undefined,
    keep: (issued: StoredToken) => Promise<StoredToken>,
  ): Promise<StoredToken> {
    const { mint, logger } = link.context();
    try {
      return await keep(await mint(operation, credentials));
    } catch (error) {
      if (!present || timeLeft(present) <= 0) throw atCap(error, operation);
      renewAgain = performance.now() + RENEW_RETRY;
      logger.warn(`${operation} failed; the present token is used while it lives: ${messageOf(error)}`);
      return present;
    }
  }

  return bound(link, ({ rejected, signal }) => {
    if (current && current.token !== rejected && !due(current)) return Promise.resolve(current.token);
    return shared(() => obtain(rejected), signal);
  });
}

function checkStore(options: TokenSourceOptions): TokenSourceOptions {
  if (typeof options?.store?.withLock === 'function') return options;
  throw new ConfigurationError('A token source needs a `store`, such as `memoryTokenStore()`: it keeps the token.');
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** What a stored token is, so that one store is not used for two. */
const KINDS: Readonly<Record<Mint, string>> = {
  'auth.login': 'login',
  'auth.createApiToken': 'api',
  'auth.createMcpToken': 'mcp',
};

/** Whose token it is, as it stands beside it. */
interface Owner {
  readonly kind: string;
  readonly service: string;
  /** A fingerprint of the email address. */
  readonly account: string;
}

const ownerOf = (operation: Mint, { email }: Credentials, { baseUrl }: TokenContext): Owner => ({
  kind: KINDS[operation],
  service: baseUrl,
  account: fingerprint(String(email).toLowerCase()),
});

/** A token goes to its own service, and acts for its own account. Stores that were filled otherwise may not say whose it is. */
function checkOwner(stored: StoredToken | undefined, { kind, service, account }: Owner): void {
  if (!stored) return;
  const found = stored.oauth === undefined ? (stored.kind ?? kind) : 'oauth';
  const { service: its = service } = stored;
  let whose: string | undefined;
  if (found !== kind) whose = `of kind "${found}", not "${kind}"`;
  else if (its !== service) whose = `of the service ${its}, not of ${service}`;
  else if ((stored.account ?? account) !== account) whose = 'of another account';
  if (whose) {
    throw new ConfigurationError(`The token store holds a token ${whose}: give each token source a store of its own.`);
  }
}

/** What a store holds; one that cannot be read is not written either. */
async function readStore(
  store: TokenStore,
  { logger }: TokenContext,
): Promise<{ readonly readable: boolean; readonly token: StoredToken | undefined }> {
  try {
    return { readable: true, token: await store.load() };
  } catch (error) {
    logger.warn(`The token store cannot be read; a new token is minted, and kept in memory only: ${messageOf(error)}`);
    return { readable: false, token: undefined };
  }
}

/** A token that cannot be saved still works; the next start will mint again. */
async function saveToken(store: TokenStore, token: StoredToken, { logger }: TokenContext): Promise<void> {
  try {
    await store.save(token);
  } catch (error) {
    logger.warn(`The token store cannot be written; the token is kept in memory only: ${messageOf(error)}`);
  }
}

function timeLeft({ expiresAt }: StoredToken): number {
  const at = expiresAt === undefined ? Number.NaN : Date.parse(expiresAt);
  return Number.isNaN(at) ? Number.POSITIVE_INFINITY : at - Date.now();
}

/** Whether a token nears its end: a week before, or in the last quarter of a shorter life. */
function renewalDue(token: StoredToken): boolean {
  const minted = typeof token.mintedAt === 'string' ? Date.parse(token.mintedAt) : Number.NaN;
  const left = timeLeft(token);
  const lifetime = left + Date.now() - minted;
  return left <= (Number.isNaN(lifetime) ? RENEW_BEFORE : Math.min(RENEW_BEFORE, lifetime / 4));
}

/** At the cap of ten live tokens, which logins do not have, the error says how to get out of it. */
function atCap(error: unknown, operation: Mint): unknown {
  if (operation === 'auth.login' || !ValidationError.isInstance(error) || error.local) return error;
  const revoke = operation === 'auth.createMcpToken' ? 'revokeMcpTokens' : 'revokeApiTokens';
  const message = `${error.message} If ten tokens are live already: \`client.auth.${revoke}(credentials)\` revokes all of them, the console one by one. Keep the token in a store that outlives the process.`;
  return new ValidationError(message, { ...error, cause: error.cause });
}
