import { ValidationError } from '../errors/api-errors.ts';
import { ConfigurationError } from '../errors/audience-error.ts';
import { singleFlight } from '../util/concurrency.ts';
import {
  type Credentials,
  fingerprint,
  isUsableToken,
  type StoredToken,
  type TokenContext,
  type TokenOperation,
  type TokenSource,
  type TokenStore,
} from './token-source.ts';

/** A token that is issued by an operation and kept in a store. */
export interface StoredTokenOptions {
  readonly operation: TokenOperation;
  readonly credentials: Credentials;
  readonly store: TokenStore;
  /** Returns the context to issue tokens by, from that of the client that asks. */
  contextFor(client: TokenContext | undefined): TokenContext;
}

/** A stored token is renewed this long before it expires. Milliseconds. */
const RENEW_BEFORE_EXPIRY_MS = 7 * 24 * 3_600_000;

/** An early renewal that failed is retried after this. Milliseconds. */
const RENEWAL_RETRY_MS = 3_600_000;

/** A replacement of a refused token is not replaced within this: something else is wrong, and an account has ten tokens. */
const MIN_REPLACEMENT_AGE_MS = 60_000;

const UNREADABLE = 'The token store cannot be read; a new token is issued and kept in memory only';
const UNWRITABLE = 'The token store cannot be written; the token is kept in memory only';

/** Creates a source of a stored token: issued where there is none, renewed before it expires and after a 401. */
export function storedTokenSource({ operation, credentials, store, contextFor }: StoredTokenOptions): TokenSource {
  const share = singleFlight<string>();
  let current: StoredToken | undefined;
  let earlyRenewalAt = Number.NEGATIVE_INFINITY;

  const isRenewalDue = (token: StoredToken): boolean => expiresSoon(token) && performance.now() >= earlyRenewalAt;

  async function refresh(rejected: string | undefined, context: TokenContext): Promise<string> {
    const previous = current;
    current = await store
      .withLock(() => refreshLocked(rejected, previous, context))
      .catch((error) => {
        if (ConfigurationError.isInstance(error) || !isLive(previous, rejected)) throw error;
        return keepCurrent(previous, error, context);
      });
    context.redactor.addRecent(current.token);
    return current.token;
  }

  /** Runs under the lock of the store: another process may have renewed the token already. */
  async function refreshLocked(
    rejected: string | undefined,
    previous: StoredToken | undefined,
    context: TokenContext,
  ): Promise<StoredToken> {
    const owner = ownerOf(operation, credentials, context);
    let stored = previous;
    let isReadable = true;
    try {
      stored = await store.load();
    } catch (error) {
      if (isLive(previous, rejected)) return keepCurrent(previous, error, context);
      context.logger.warn(`${UNREADABLE}: ${messageOf(error)}`);
      isReadable = false;
    }
    checkOwner(stored, owner);
    const usable = isUsableToken(stored?.token) ? stored : undefined;
    const wasRefused = usable !== undefined && usable.token === rejected;
    if (usable && !wasRefused && !isRenewalDue(usable)) return usable;
    if (wasRefused && operation !== 'auth.login' && ageOf(usable.replacedAt) < MIN_REPLACEMENT_AGE_MS) return usable;
    try {
      const now = new Date().toISOString();
      const issued = await context.issueToken(operation, credentials);
      const token = { ...issued, ...owner, mintedAt: now, ...(wasRefused && { replacedAt: now }) };
      // A store that cannot be read may hold a token of somebody else.
      if (isReadable) await saveToken(store, token, context);
      return token;
    } catch (error) {
      if (!isLive(usable, rejected)) throw withCapAdvice(error, operation);
      return keepCurrent(usable, error, context);
    }
  }

  /** A failed early renewal does no harm while the token lives. */
  function keepCurrent(token: StoredToken, error: unknown, { logger }: TokenContext): StoredToken {
    earlyRenewalAt = performance.now() + RENEWAL_RETRY_MS;
    logger.warn(`${operation} failed; the existing token is used while it is valid: ${messageOf(error)}`);
    return token;
  }

  return {
    async get({ rejected, signal, context }) {
      const issuer = contextFor(context);
      if (current && current.token !== rejected && !isRenewalDue(current)) return current.token;
      return share(() => refresh(rejected, issuer), signal);
    },
  };
}

const isLive = (token: StoredToken | undefined, rejected: string | undefined): token is StoredToken =>
  token !== undefined && token.token !== rejected && timeLeft(token) > 0;

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const KINDS: Readonly<Record<TokenOperation, string>> = {
  'auth.login': 'login',
  'auth.createApiToken': 'api',
  'auth.createMcpToken': 'mcp',
};

/** The owner of a token, as it is stored beside it. */
interface TokenOwner {
  readonly kind: string;
  readonly service: string;
  /** A fingerprint of the email address. */
  readonly account: string;
}

const ownerOf = (operation: TokenOperation, { email }: Credentials, { baseUrl }: TokenContext): TokenOwner => ({
  kind: KINDS[operation],
  service: baseUrl,
  account: fingerprint(String(email).toLowerCase()),
});

/** A token is sent to its own service and acts for its own account. A store that was filled by hand may not name them. */
function checkOwner(stored: StoredToken | undefined, { kind, service, account }: TokenOwner): void {
  if (!stored) return;
  const storedKind = stored.oauth === undefined ? (stored.kind ?? kind) : 'oauth';
  const { service: storedService = service } = stored;
  let owner: string | undefined;
  if (storedKind !== kind) owner = `of kind "${storedKind}", not "${kind}"`;
  else if (storedService !== service) owner = `of the service ${storedService}, not of ${service}`;
  else if ((stored.account ?? account) !== account) owner = 'of another account';
  if (owner) {
    throw new ConfigurationError(`The token store holds a token ${owner}. Use one store for each token source.`);
  }
}

/** A token that cannot be saved still works; the next process start issues another one. */
async function saveToken(store: TokenStore, token: StoredToken, { logger }: TokenContext): Promise<void> {
  try {
    await store.save(token);
  } catch (error) {
    logger.warn(`${UNWRITABLE}: ${messageOf(error)}`);
  }
}

function timeLeft({ expiresAt }: StoredToken): number {
  const at = expiresAt === undefined ? Number.NaN : Date.parse(expiresAt);
  return Number.isNaN(at) ? Number.POSITIVE_INFINITY : at - Date.now();
}

/** Milliseconds since an ISO time; `NaN`, which compares as false, without one or when the clock was set back. */
function ageOf(time: unknown): number {
  const age = typeof time === 'string' ? Date.now() - Date.parse(time) : Number.NaN;
  return age >= 0 ? age : Number.NaN;
}

/** Returns whether a token expires within a week or, if its lifetime is shorter, is in its last quarter. */
function expiresSoon(token: StoredToken): boolean {
  const left = timeLeft(token);
  const lifetime = left + ageOf(token.mintedAt);
  return left <= (Number.isNaN(lifetime) ? RENEW_BEFORE_EXPIRY_MS : Math.min(RENEW_BEFORE_EXPIRY_MS, lifetime / 4));
}

/** At the cap of ten live tokens, which does not apply to logins, the error says how to revoke some. */
function withCapAdvice(error: unknown, operation: TokenOperation): unknown {
  if (operation === 'auth.login' || !ValidationError.isInstance(error) || error.local) return error;
  const revoke = operation === 'auth.createMcpToken' ? 'revokeMcpTokens' : 'revokeApiTokens';
  const message = `${error.message} If ten tokens are live already: \`client.auth.${revoke}(credentials)\` revokes all of them, the console single ones. Keep the token in a store that outlives the process.`;
  return new ValidationError(message, { ...error, cause: error.cause });
}
