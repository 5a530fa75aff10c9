import {
  processRefreshTokenResponse,
  processRevocationResponse,
  refreshTokenGrantRequest,
  revocationRequest,
  type TokenEndpointResponse,
} from 'oauth4webapi';
import { OAuthError, ReauthorizationRequiredError } from '../errors/oauth-errors.ts';
import { singleFlight } from '../util/concurrency.ts';
import type { Logger } from '../util/log.ts';
import { checkTokens, grantOf, nearsEnd, timeLeft } from './grant.ts';
import type { Ledger, Turn } from './ledger.ts';
import type { RegisteredClient } from './oauth-types.ts';
import type { ClientRecord, Grant, OAuthRecord } from './record.ts';
import { authenticationOf, clientOf } from './registration.ts';
import type { Requests } from './requests.ts';
import type { Servers, Target } from './servers.ts';

/** What the rooms of an OAuth client share. */
export interface Setup {
  readonly target: Target;
  readonly requests: Requests;
  readonly servers: Servers;
  readonly ledger: Ledger;
  readonly logger: Logger;
  /** A client that is given instead of being registered. */
  readonly client: RegisteredClient | undefined;
}

/** An early renewal that failed, and what could not be saved, is tried again after this. Milliseconds. */
const TRY_AGAIN = 10_000;

/** Answers of the token endpoint that say that a registered client is no more, and its grants with it. */
const GONE: readonly string[] = ['invalid_client', 'unauthorized_client'];

/** The tokens of a signed-in user: handed out, renewed, revoked. */
export class Session {
  readonly #setup: Setup;
  readonly #shared = singleFlight<string>();
  #current: Grant | undefined;
  #tryAgain = Number.NEGATIVE_INFINITY;

  constructor(setup: Setup) {
    this.#setup = setup;
  }

  /** A token other than the rejected one, in one flight for all who ask. */
  async get(rejected: string | undefined, signal: AbortSignal | undefined): Promise<string> {
    const current = this.#current;
    if (current && current.token !== rejected && !this.#wantsTurn(current)) return current.token;
    const token = await this.#shared(() => this.#obtain(rejected), signal);
    // The flight was another's, who did not know that this one is rejected.
    return token === rejected ? this.#shared(() => this.#obtain(rejected), signal) : token;
  }

  /** Takes over the tokens of a sign-in. */
  readonly adopt = (grant: Grant): void => {
    this.#current = grant;
    this.#tryAgain = Number.NEGATIVE_INFINITY;
  };

  /** Ends the grant at its server; only then its tokens are forgotten. */
  async revoke(signal: AbortSignal | undefined): Promise<void> {
    await this.#setup.ledger.turn(async ({ record: { grant }, save }) => {
      if (grant) await this.#revokeAtServer(grant, signal);
      this.#current = undefined;
      if (grant) await save((now) => (now.grant?.token === grant.token ? withoutGrant(now) : now));
    });
  }

  /** Forgets what memory holds. */
  drop(): void {
    this.#current = undefined;
  }

  #wantsTurn(grant: Grant): boolean {
    const wants = nearsEnd(grant) || this.#setup.ledger.unsaved;
    return wants && (timeLeft(grant) <= 0 || performance.now() >= this.#tryAgain);
  }

  async #obtain(rejected: string | undefined): Promise<string> {
    const present = this.#current;
    try {
      const grant = await this.#setup.ledger.turn((turn) => this.#decide(turn, rejected));
      this.#current = grant;
      if (this.#setup.ledger.unsaved) this.#tryAgain = performance.now() + TRY_AGAIN;
      return grant.token;
    } catch (error) {
      if (ReauthorizationRequiredError.isInstance(error)) this.#current = undefined;
      else if (present && present.token !== rejected && timeLeft(present) > 0) {
        this.#tryAgain = performance.now() + TRY_AGAIN;
        const reason = error instanceof Error ? error.message : String(error);
        this.#setup.logger.warn(`The early renewal failed; the present token is used while it lives: ${reason}`);
        return present.token;
      }
      throw error;
    }
  }

  /** Under the lock: another process may have renewed already, or get past the lock and renew meanwhile. */
  async #decide(turn: Turn, rejected: string | undefined): Promise<Grant> {
    const refused = new Set<string | undefined>();
    for (let { grant } = turn.record; ; ) {
      if (!grant) throw signInAgain('Nobody is signed in: not yet, or not any more', 'no_grant');
      if (grant.token !== rejected && !nearsEnd(grant)) return grant;
      try {
        return await this.#refresh(turn, grant);
      } catch (error) {
        if (!OAuthError.isInstance(error) || !this.#isGone(error)) throw error;
        refused.add(grant.refreshToken);
        const record = await turn.reload();
        // Another pair than the one refused is a sibling's: it is used, and never deleted.
        if (!record.grant || refused.has(record.grant.refreshToken)) return await discard(turn, error);
        grant = record.grant;
      }
    }
  }

  async #refresh(turn: Turn, grant: Grant): Promise<Grant> {
    const { refreshToken, resource } = grant;
    const client = this.#clientOf(grant);
    if (refreshToken === undefined) {
      throw signInAgain('The access token has ended, and there is no refresh token', 'invalid_grant');
    }
    const server = await this.#setup.servers.of(client.issuer);
    const askedAt = Date.now();
    const answer = await this.#setup.requests.perform({
      what: 'Renewing the token',
      // A lost answer may hold the new pair: the old one is then dead, and asking again does no harm.
      retry: 'always',
      async work(parts) {
        const options = { ...parts, ...(resource !== undefined && { additionalParameters: { resource } }) };
        const auth = authenticationOf(client);
        const response = await refreshTokenGrantRequest(server, clientOf(client), auth, refreshToken, options);
        return processRefreshTokenResponse(server, clientOf(client), response);
      },
    });
    const renewed = grantOf(answer, askedAt, grant);
    const unusable = problemOf(answer);
    // The old pair is dead: the new refresh token is kept, whatever came with it.
    const next = unusable ? { ...renewed, token: '', expiresAt: new Date(0).toISOString() } : renewed;
    // Memory first, whatever happens to the store.
    if (!unusable) this.#current = next;
    const kept = await turn.save((now) => (isReplaced(now, grant) ? now : { ...now, grant: next }));
    if (unusable) throw unusable;
    return kept.grant ?? next;
  }

  /** What says that a grant is no more; of a client that was given, wrong credentials say nothing about the grant. */
  #isGone({ error }: OAuthError): boolean {
    return error === 'invalid_grant' || (!this.#setup.client && GONE.includes(error));
  }

  /** The client of a grant, with the secret as it is given now. */
  #clientOf({ client }: Grant): ClientRecord {
    const given = this.#setup.client;
    const { client_id, client_secret } = given ?? {};
    return client_id === client.client_id && client_secret !== undefined ? { ...client, client_secret } : client;
  }

  async #revokeAtServer(grant: Grant, signal: AbortSignal | undefined): Promise<void> {
    const { refreshToken, token } = grant;
    const client = this.#clientOf(grant);
    const server = await this.#setup.servers.of(client.issuer);
    if (server.revocation_endpoint === undefined) {
      const message = 'The authorization server has no way to revoke tokens; `forget()` removes them on this side.';
      throw new OAuthError(message, { error: 'revocation_not_supported' });
    }
    await this.#setup.requests.perform({
      what: 'Revoking the grant',
      retry: 'always',
      signal,
      async work(parts) {
        // An access token is revoked with its refresh token ("Authentication").
        const auth = authenticationOf(client);
        const answer = await revocationRequest(server, clientOf(client), auth, refreshToken ?? token, parts);
        return processRevocationResponse(answer);
      },
    });
  }
}

function problemOf(answer: TokenEndpointResponse): unknown {
  try {
    checkTokens(answer);
    return undefined;
  } catch (error) {
    return error;
  }
}

/** Whether somebody has signed in, renewed or forgotten all meanwhile. A grant that was only discarded is taken back. */
function isReplaced(now: OAuthRecord, grant: Grant): boolean {
  return now.grant ? now.grant.token !== grant.token : now.client === undefined;
}

function withoutGrant({ grant: _, ...rest }: OAuthRecord): OAuthRecord {
  return rest;
}

/** The server has ended the grant: its tokens are of no use to anybody. */
async function discard(turn: Turn, refused: OAuthError): Promise<never> {
  await turn.save((now) => {
    if (!now.grant) return now;
    const { client, ...rest } = withoutGrant(now);
    const known = refused.error === 'invalid_grant' && client;
    return { ...rest, ...(known && { client }) };
  });
  const what = 'The grant has ended: it was revoked, has expired, or its refresh token was used elsewhere';
  throw signInAgain(`${what} (${refused.error})`, refused.error);
}

function signInAgain(what: string, error: string): ReauthorizationRequiredError {
  const advice =
    'Sign in: by `signInWithBrowser(oauth)` on the machine of the user; else send the user to the `url` of `authorize()`, and give the address that comes back to `callback()`.';
  return new ReauthorizationRequiredError(`${what}. ${advice}`, { error });
}
