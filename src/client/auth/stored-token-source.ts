import { ValidationError } from '../../errors/api-errors.ts';
import { ConfigurationError, withDetails } from '../../errors/audience-error.ts';
import { messageOf } from '../../util/callbacks.ts';
import { singleFlight } from '../../util/concurrency.ts';
import { isUsableToken } from '../../util/input-checks.ts';
import {
  type Credentials,
  fingerprint,
  type StoredToken,
  type TokenContext,
  type TokenOperation,
  type TokenSource,
  type TokenStore,
} from './token-source.ts';

/** Maximum time before its expiry at which the client renews a stored token, in milliseconds. */
const RENEW_BEFORE_EXPIRY_MS = 7 * 24 * 3_600_000;

/** Milliseconds to wait after a failed early renewal. */
const RENEWAL_RETRY_MS = 3_600_000;

/**
 * Minimum age, in milliseconds, at which the client replaces a replacement token. If the service refuses a token
 * sooner, a new token would not help, and an account can have only ten tokens.
 */
const MIN_REPLACEMENT_AGE_MS = 60_000;

const UNREADABLE = 'The token store cannot be read, so the client issues a new token and keeps it in memory only';
const UNWRITABLE =
  'The token store cannot be written, so the client keeps the token in memory only. Each start of the program issues another token, and an account can have only ten such tokens';

/**
 * Creates a token source with a store. The source issues a token if the store is empty, and renews the token before its
 * expiry and after a 401. `contextFor` receives the context of the calling client, if any, and returns the context that
 * issues tokens.
 */
export function storedTokenSource(
  operation: TokenOperation,
  credentials: Credentials,
  store: TokenStore,
  contextFor: (client: TokenContext | undefined) => TokenContext,
): TokenSource {
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

  /**
   * Returns the token of the store, or a new token. Runs under the store's lock, because another process may renew the
   * token at the same time.
   */
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
      if (operation === 'auth.login') warnOfOtherLogin(owner, rejected, issued.token, context);
      // Do not overwrite an unreadable store: its token may belong to another account.
      if (isReadable) await saveToken(store, token, context);
      return token;
    } catch (error) {
      if (!isLive(usable, rejected)) throw withCapAdvice(error, operation);
      return keepCurrent(usable, error, context);
    }
  }

  /** Logs why the renewal failed, delays the next renewal, and returns the existing token. */
  function keepCurrent(token: StoredToken, error: unknown, { logger }: TokenContext): StoredToken {
    earlyRenewalAt = performance.now() + RENEWAL_RETRY_MS;
    logger.warn(
      `The token could not be renewed (${operation}), so the client uses the existing token while it is valid: ${messageOf(error)}`,
    );
    return token;
  }

  return {
    account: credentials.email,
    async get({ rejected, signal, context }) {
      const issuer = contextFor(context);
      if (current && current.token !== rejected && !isRenewalDue(current)) return current.token;
      return share(() => refresh(rejected, issuer), signal);
    },
  };
}

/** Latest login token of this process, by service and account, or an empty string after the warning for the account. */
const logins = new Map<string, string>();

const SHARED_ACCOUNT =
  'Several clients of this process log in to the same account, and each login ends the tokens of the other clients: use `apiToken`, or share one token source.';

/**
 * Logs, once per account, that another token source in this process has logged in and so revoked the rejected token.
 */
function warnOfOtherLogin(
  { service, account }: TokenOwner,
  rejected: string | undefined,
  token: string,
  { logger }: TokenContext,
): void {
  const key = service + account;
  const latest = logins.get(key);
  const isEndedByOther = latest && rejected !== undefined && latest !== rejected;
  if (isEndedByOther) logger.warn(SHARED_ACCOUNT);
  logins.set(key, isEndedByOther || latest === '' ? '' : token);
}

const isLive = (token: StoredToken | undefined, rejected: string | undefined): token is StoredToken =>
  token !== undefined && token.token !== rejected && timeLeft(token) > 0;

const KINDS: Readonly<Record<TokenOperation, string>> = {
  'auth.login': 'login',
  'auth.createApiToken': 'api',
  'auth.createMcpToken': 'mcp',
};

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

/**
 * Throws if a stored token has another kind or belongs to another service or account. Ignores missing properties,
 * because the user may have written the token to the store.
 */
function checkOwner(stored: StoredToken | undefined, { kind, service, account }: TokenOwner): void {
  if (!stored) return;
  const storedKind = stored.oauth === undefined ? (stored.kind ?? kind) : 'oauth';
  const { service: storedService = service } = stored;
  let owner: string | undefined;
  if (storedKind !== kind) owner = `of kind "${storedKind}", not "${kind}"`;
  else if (storedService !== service) owner = `of the service ${storedService}, not of ${service}`;
  else if ((stored.account ?? account) !== account) owner = 'of another account';
  if (owner) {
    throw new ConfigurationError(`The token store contains a token ${owner}.`, {
      advice: 'Use one store for each token source.',
    });
  }
}

/** Saves a token. Only logs a failure, because the process can use the token until it ends. */
async function saveToken(store: TokenStore, token: StoredToken, { logger }: TokenContext): Promise<void> {
  try {
    await store.save(token);
  } catch (error) {
    logger.warn(`${UNWRITABLE}: ${messageOf(error)}`);
  }
}

/** Returns the milliseconds until a token expires; `Infinity` if its expiry is unknown. */
function timeLeft(token: StoredToken): number {
  const at = Date.parse(token.expiresAt ?? '');
  // If the token seems to have expired before it was issued, this machine's clock is wrong. Use the token until the
  // service refuses it.
  const isClockAhead = typeof token.mintedAt === 'string' && at <= Date.parse(token.mintedAt);
  return Number.isNaN(at) || isClockAhead ? Number.POSITIVE_INFINITY : at - Date.now();
}

/**
 * Returns the milliseconds since an ISO time. Returns `NaN`, for which every comparison is false, if the time is
 * missing or in the future.
 */
function ageOf(time: unknown): number {
  const age = typeof time === 'string' ? Date.now() - Date.parse(time) : Number.NaN;
  return age >= 0 ? age : Number.NaN;
}

/**
 * Returns whether a token expires within a week and is in the last quarter of its lifetime. If the lifetime is unknown,
 * only the week counts.
 */
function expiresSoon(token: StoredToken): boolean {
  const left = timeLeft(token);
  const lifetime = left + ageOf(token.mintedAt);
  return left <= (Number.isNaN(lifetime) ? RENEW_BEFORE_EXPIRY_MS : Math.min(RENEW_BEFORE_EXPIRY_MS, lifetime / 4));
}

/**
 * Adds advice about revoking tokens to a 422 error, which may mean that the account has ten valid tokens. Login tokens
 * have no such limit.
 */
function withCapAdvice(error: unknown, operation: TokenOperation): unknown {
  if (operation === 'auth.login' || !ValidationError.isInstance(error) || error.local) return error;
  const revoke = operation === 'auth.createMcpToken' ? 'revokeMcpTokens' : 'revokeApiTokens';
  const advice = `If the account already has ten valid tokens, \`client.auth.${revoke}(credentials)\` revokes all of them, and the console can revoke a single token. Keep the token in a store that outlives the process.`;
  return withDetails<ValidationError>(error, {}, advice);
}
