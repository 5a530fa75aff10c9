import { ValidationError } from '../errors/api-errors.ts';
import { ConfigurationError } from '../errors/audience-error.ts';
import { singleFlight } from '../util/concurrency.ts';
import {
  type Credentials,
  fingerprint,
  isUsableToken,
  type Mint,
  type StoredToken,
  type TokenContext,
  type TokenSource,
  type TokenStore,
} from './token-source.ts';

/** What a stored token is made of and kept in. */
export interface StoredSourceParts {
  readonly operation: Mint;
  readonly credentials: Credentials;
  readonly store: TokenStore;
  /** The service that it is minted at. */
  context(): TokenContext;
}

/** A stored token is renewed this long before it expires. Milliseconds. */
const RENEW_BEFORE = 7 * 24 * 3_600_000;

/** An early renewal that failed is tried again after this. Milliseconds. */
const RENEW_RETRY = 3_600_000;

/** After so many renewals in a row, each of a token that was refused soon, the next ones wait. */
const FREE_RENEWALS = 4;

/** The first of those waits for so long, each other one for twice as long as the one before. Milliseconds. */
const RENEWAL_WAIT = 60_000;

/** A token that has lasted for so long ends the row. Milliseconds. */
const LASTING = 3_600_000;

/** Hands out a token that a store keeps: minted where there is none, renewed before it ends and after a 401. */
export function storedSource({ operation, credentials, store, context }: StoredSourceParts): TokenSource['get'] {
  const shared = singleFlight<string>();
  let current: StoredToken | undefined;
  let renewAgain = Number.NEGATIVE_INFINITY;

  const due = (token: StoredToken): boolean => renewalDue(token) && performance.now() >= renewAgain;

  async function obtain(rejected: string | undefined): Promise<string> {
    const present = current;
    current = await store
      .withLock(() => decide(rejected, present))
      .catch((error) => {
        if (ConfigurationError.isInstance(error) || !lives(present, rejected)) throw error;
        return goOn(present, error);
      });
    context().redactor.addRecent(current.token);
    return current.token;
  }

  /** Under the lock: another may have minted already. */
  async function decide(rejected: string | undefined, present: StoredToken | undefined): Promise<StoredToken> {
    const owner = ownerOf(operation, credentials, context());
    const { found, trouble } = await readStore(store);
    if (trouble && lives(present, rejected)) return goOn(present, trouble.error);
    if (trouble) context().logger.warn(`${UNREADABLE}: ${messageOf(trouble.error)}`);
    const stored = trouble ? present : found;
    checkOwner(stored, owner);
    const usable = isUsableToken(stored?.token) ? stored : undefined;
    if (usable && usable.token !== rejected && !due(usable)) return usable;
    // Another one would be refused, too, and the service has ten for an account. Logins are not counted.
    if (operation !== 'auth.login' && usable && usable.token === rejected && !mayRenew(usable)) return usable;
    try {
      const issued = await context().mint(operation, credentials);
      const row = usable && usable.token === rejected ? rowOf(usable) + 1 : 0;
      const fresh = { ...issued, ...owner, mintedAt: new Date().toISOString(), ...(row > 0 && { renewals: row }) };
      // What could not be read may be somebody else's.
      if (!trouble) await saveToken(store, fresh, context());
      return fresh;
    } catch (error) {
      if (!lives(usable, rejected)) throw atCap(error, operation);
      return goOn(usable, error);
    }
  }

  /** An early renewal that failed harms nothing. */
  function goOn(present: StoredToken, error: unknown): StoredToken {
    renewAgain = performance.now() + RENEW_RETRY;
    const told = `${operation} failed; the present token is used while it lives: ${messageOf(error)}`;
    context().logger.warn(told);
    return present;
  }

  return ({ rejected, signal }) => {
    if (current && current.token !== rejected && !due(current)) return Promise.resolve(current.token);
    return shared(() => obtain(rejected), signal);
  };
}

const lives = (token: StoredToken | undefined, rejected: string | undefined): token is StoredToken =>
  token !== undefined && token.token !== rejected && timeLeft(token) > 0;

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

const UNREADABLE = 'The token store cannot be read; a new token is minted, and kept in memory only';

/** What a store holds. */
async function readStore(
  store: TokenStore,
): Promise<{ readonly found?: StoredToken | undefined; readonly trouble?: { readonly error: unknown } }> {
  try {
    return { found: await store.load() };
  } catch (error) {
    return { trouble: { error } };
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

/** How long ago a token was minted, where it says so. Milliseconds. */
const ageOf = ({ mintedAt }: StoredToken): number =>
  typeof mintedAt === 'string' ? Date.now() - Date.parse(mintedAt) : Number.NaN;

/** Whether a token nears its end: a week before, or in the last quarter of a shorter life. */
function renewalDue(token: StoredToken): boolean {
  const left = timeLeft(token);
  const lifetime = left + ageOf(token);
  return left <= (Number.isNaN(lifetime) ? RENEW_BEFORE : Math.min(RENEW_BEFORE, lifetime / 4));
}

/** How many tokens in a row, this one included, came for one that was refused soon. */
const rowOf = (token: StoredToken): number =>
  typeof token.renewals === 'number' && ageOf(token) < LASTING ? token.renewals : 0;

/** Whether it is time to renew a refused token. */
function mayRenew(token: StoredToken): boolean {
  const beyond = rowOf(token) - FREE_RENEWALS;
  const age = ageOf(token);
  // A clock that was set back says nothing.
  return beyond < 0 || !(age >= 0 && age < RENEWAL_WAIT * 2 ** beyond);
}

/** At the cap of ten live tokens, which logins do not have, the error says how to get out of it. */
function atCap(error: unknown, operation: Mint): unknown {
  if (operation === 'auth.login' || !ValidationError.isInstance(error) || error.local) return error;
  const revoke = operation === 'auth.createMcpToken' ? 'revokeMcpTokens' : 'revokeApiTokens';
  const message = `${error.message} If ten tokens are live already: \`client.auth.${revoke}(credentials)\` revokes all of them, the console one by one. Keep the token in a store that outlives the process.`;
  return new ValidationError(message, { ...error, cause: error.cause });
}
