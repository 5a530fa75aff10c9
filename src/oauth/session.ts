import * as oauth from 'oauth4webapi';
import { OAuthError, ReauthorizationRequiredError } from '../errors/oauth-errors.ts';
import { messageOf } from '../util/callbacks.ts';
import { singleFlight } from '../util/concurrency.ts';
import type { Logger } from '../util/log.ts';
import type { Discovery } from './discovery.ts';
import type { OAuthHttp, RequestParts } from './oauth-http.ts';
import {
  checkUsable,
  type Grant,
  grantOf,
  isRefreshDue,
  type OAuthState,
  type StoredClient,
  timeLeft,
} from './oauth-state.ts';
import type { RegisteredClient } from './oauth-types.ts';
import { authenticationOf } from './registration.ts';
import type { TokenRepository, Transaction } from './token-repository.ts';

export interface OAuthContext {
  readonly http: OAuthHttp;
  readonly discovery: Discovery;
  readonly repository: TokenRepository;
  readonly logger: Logger;
  readonly redirectUri: string;
  readonly clientName: string;
  /** Already registered client, if any. */
  readonly client: RegisteredClient | undefined;
}

/** Milliseconds to wait before trying again after an early refresh has failed, or tokens could not be saved. */
const RETRY_AFTER_MS = 10_000;

export class Session {
  readonly #context: OAuthContext;
  readonly #flight = singleFlight<string>();
  #grant: Grant | undefined;
  #retryAt = Number.NEGATIVE_INFINITY;

  constructor(context: OAuthContext) {
    this.#context = context;
  }

  /** Returns a token that has not expired and differs from `rejected`. Concurrent callers share one refresh. */
  async get(rejected: string | undefined, signal: AbortSignal | undefined): Promise<string> {
    const grant = this.#grant;
    if (grant && grant.token !== rejected && !this.#needsStore(grant)) return grant.token;
    const token = await this.#flight(() => this.#obtain(rejected), signal);
    // The refresh of another caller may return the token that this caller rejects. Then start another refresh.
    return token === rejected ? this.#flight(() => this.#obtain(rejected), signal) : token;
  }

  /** Replaces the grant in memory after a change of the stored grant. */
  replace(grant: Grant | undefined): void {
    this.#grant = grant;
  }

  /** Revokes the grant at its server, then deletes it from memory and the store. */
  async revoke(signal: AbortSignal | undefined): Promise<void> {
    await this.#context.repository.transaction(async ({ state: { grant }, update }) => {
      if (grant) await this.#revokeAtServer(grant, signal);
      this.#grant = undefined;
      if (grant) await update((now) => (now.grant?.token === grant.token ? { ...now, grant: undefined } : now));
    });
  }

  #needsStore(grant: Grant): boolean {
    const isDue = isRefreshDue(grant) || this.#context.repository.hasUnsavedState;
    return isDue && (timeLeft(grant) <= 0 || performance.now() >= this.#retryAt);
  }

  async #obtain(rejected: string | undefined): Promise<string> {
    const { repository, logger } = this.#context;
    const previous = this.#grant;
    try {
      const grant = await repository.transaction((transaction) =>
        this.#liveGrant(transaction, transaction.state.grant, rejected),
      );
      this.#grant = grant;
      if (repository.hasUnsavedState) this.#retryAt = performance.now() + RETRY_AFTER_MS;
      return grant.token;
    } catch (error) {
      if (ReauthorizationRequiredError.isInstance(error)) this.#grant = undefined;
      else if (previous && previous.token !== rejected && timeLeft(previous) > 0) {
        this.#retryAt = performance.now() + RETRY_AFTER_MS;
        logger.warn(
          `The early token refresh failed, so the client uses the current token while it is valid: ${messageOf(error)}`,
        );
        return previous.token;
      }
      throw error;
    }
  }

  /**
   * Returns the stored grant, or refreshes it. Runs under the store's lock, because another process may refresh the
   * grant at the same time.
   */
  async #liveGrant(transaction: Transaction, grant: Grant | undefined, rejected: string | undefined): Promise<Grant> {
    if (!grant) throw signInRequired('No user is signed in', 'no_grant');
    if (grant.token !== rejected && !isRefreshDue(grant)) return grant;
    try {
      return await this.#refresh(transaction, grant);
    } catch (error) {
      if (!OAuthError.isInstance(error) || !this.#endsGrant(error)) throw error;
      const { grant: latest } = await transaction.reload();
      // This process lost the lock, and another process has refreshed the grant: use the new tokens instead of deleting
      // them.
      if (latest && !hasSamePair(latest, grant)) return this.#liveGrant(transaction, latest, rejected);
      await transaction.update((now) => (now.grant && hasSamePair(now.grant, grant) ? withoutGrant(now, error) : now));
      const reason = 'The grant has ended: it was revoked, has expired, or its refresh token was used elsewhere';
      throw signInRequired(`${reason} (${error.error})`, error.error);
    }
  }

  async #refresh(transaction: Transaction, grant: Grant): Promise<Grant> {
    const { refreshToken, resource } = grant;
    const { http, discovery } = this.#context;
    const client = this.#clientOf(grant);
    if (refreshToken === undefined) {
      const message = `The authorization server ${client.issuer} issued no refresh token.`;
      throw new OAuthError(message, { error: 'invalid_grant', advice: 'Sign in again.' });
    }
    const server = await discovery.serverOf(client.issuer);
    const additionalParameters = resource === undefined ? {} : { resource };
    const request = [server, client, authenticationOf(client), refreshToken] as const;
    const requestedAt = Date.now();
    const execute = async (parts: RequestParts): Promise<oauth.TokenEndpointResponse> => {
      // Without the lock, another tab may have used the refresh token, and the server may revoke the grant of a reused
      // token.
      transaction.checkLock();
      const response = await oauth.refreshTokenGrantRequest(...request, { ...parts, additionalParameters });
      return oauth.processRefreshTokenResponse(server, client, response);
    };
    // Retrying is safe: if a lost response contained new tokens, the old refresh token is invalid anyway.
    const response = await http.send({
      name: 'Refreshing the token',
      server: server.issuer,
      retry: 'always',
      execute,
    });
    const refreshed = grantOf(response, requestedAt, grant);
    const state = await transaction.update((now) => (isReplaced(now, grant) ? now : { ...now, grant: refreshed }));
    // Check after saving: the client must keep the new refresh token even if the new access token is unusable.
    checkUsable(refreshed);
    return state.grant ?? refreshed;
  }

  async #revokeAtServer(grant: Grant, signal: AbortSignal | undefined): Promise<void> {
    const client = this.#clientOf(grant);
    const server = await this.#context.discovery.serverOf(client.issuer, signal);
    if (server.revocation_endpoint === undefined) {
      const message = `The authorization server ${server.issuer} cannot revoke tokens.`;
      const advice = 'To delete the tokens from the store, call `forget()`.';
      throw new OAuthError(message, { error: 'revocation_not_supported', advice });
    }
    // Revoking the refresh token also revokes the access token (specification, "Authentication").
    const request = [server, client, authenticationOf(client), grant.refreshToken ?? grant.token] as const;
    const execute = async (parts: RequestParts): Promise<void> =>
      oauth.processRevocationResponse(await oauth.revocationRequest(...request, parts));
    await this.#context.http.send({
      name: 'Revoking the grant',
      server: server.issuer,
      retry: 'always',
      signal,
      execute,
    });
  }

  /** Returns the client of a grant, with the secret of the options if they contain the same client. */
  #clientOf({ client }: Grant): StoredClient {
    const configured = this.#context.client;
    return configured?.client_id === client.client_id ? { ...client, ...configured } : client;
  }

  /**
   * Returns whether an error means that the grant has ended. `invalid_client` means this only for a client that this
   * package registered.
   */
  #endsGrant({ error }: OAuthError): boolean {
    return error === 'invalid_grant' || (error === 'invalid_client' && !this.#context.client);
  }
}

const hasSamePair = (grant: Grant, other: Grant): boolean => grant.refreshToken === other.refreshToken;

/**
 * Returns whether another process has replaced the stored grant, by signing in, refreshing it or deleting the entire
 * state. If only the grant was removed, it may be restored.
 */
function isReplaced(now: OAuthState, grant: Grant): boolean {
  return now.grant ? now.grant.token !== grant.token : now.client === undefined;
}

/** Removes the grant and, unless the error is `invalid_grant`, the client, which the server no longer recognizes. */
function withoutGrant({ pending, client }: OAuthState, { error }: OAuthError): OAuthState {
  return { pending, client: error === 'invalid_grant' ? client : undefined };
}

function signInRequired(problem: string, error: string): ReauthorizationRequiredError {
  const advice =
    'Sign in with `signInWithBrowser(oauth)` on the user’s machine, or redirect the user to the `url` of `authorize()` and pass the resulting URL to `callback()`.';
  return new ReauthorizationRequiredError(`${problem}.`, { error, advice });
}
