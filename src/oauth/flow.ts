import {
  AuthorizationResponseError,
  type AuthorizationServer,
  authorizationCodeGrantRequest,
  calculatePKCECodeChallenge,
  generateRandomCodeVerifier,
  generateRandomState,
  processAuthorizationCodeResponse,
  validateAuthResponse,
} from 'oauth4webapi';
import { OAuthError } from '../errors/oauth-errors.ts';
import { type Discovery, discover } from './discovery.ts';
import { checkTokens, grantOf } from './grant.ts';
import type { Authorization, AuthorizeOptions, OAuthStepOptions } from './oauth-types.ts';
import type { ClientRecord, Grant, OAuthRecord, PendingSignIn } from './record.ts';
import { checkRedirectUri } from './redirect-uri.ts';
import { adopt, authenticationOf, clientOf, register } from './registration.ts';
import { texts } from './servers.ts';
import type { Setup } from './session.ts';

/** Who signs in, and where the browser comes back to. */
export interface SignInSetup extends Setup {
  readonly redirectUri: string;
  readonly clientName: string;
}

/** How long a sign-in may take: codes live ten minutes at most (RFC 6749, section 4.1.2). Milliseconds. */
const SIGN_IN_TIME = 600_000;

/** How many sign-ins may be under way at once, in several tabs for instance; the oldest is forgotten first. */
const SIGN_INS = 5;

/** The only method of PKCE that the service takes ("OAuth 2.1", rule 4). */
const PKCE_METHOD = 'S256';

/** Parameters by which the answer would come in another way than it is awaited. */
const NOT_OURS: readonly string[] = ['response_mode', 'request', 'request_uri'];

/** Starts a sign-in. */
export async function authorize(setup: SignInSetup, options: AuthorizeOptions): Promise<Authorization> {
  const { requests, servers, target, ledger } = setup;
  const redirectUri = options.redirectUri === undefined ? setup.redirectUri : checkRedirectUri(options.redirectUri);
  const discovery = await discover(requests, servers, target, options.signal);
  const endpoint = requests.checkAddress(authorizationEndpoint(discovery.server));
  const scope = options.scope ?? discovery.scope;
  return ledger.turn(async ({ record, save }) => {
    const client = await clientFor(setup, discovery, record, redirectUri, scope, options.signal);
    const verifier = generateRandomCodeVerifier();
    const state = generateRandomState();
    const { resource } = discovery;
    const given = { ...(resource !== undefined && { resource }), ...(scope !== undefined && { scope }) };
    const pending: PendingSignIn = { state, verifier, redirectUri, client, startedAt: Date.now(), ...given };
    await save((now) => ({ ...now, client, pending: [...live(now), pending].slice(-SIGN_INS) }));
    const query = {
      response_type: 'code',
      client_id: client.client_id,
      redirect_uri: redirectUri,
      state,
      code_challenge: await calculatePKCECodeChallenge(verifier),
      code_challenge_method: PKCE_METHOD,
      ...given,
    };
    endpoint.hash = '';
    for (const name of NOT_OURS) endpoint.searchParams.delete(name);
    for (const [name, value] of Object.entries(query)) endpoint.searchParams.set(name, value);
    return { url: endpoint.href, state };
  });
}

/** Where the browser is sent; a server without the one method of PKCE would accept stolen codes. */
function authorizationEndpoint(server: AuthorizationServer): string {
  const { authorization_endpoint, code_challenge_methods_supported: methods } = server;
  if (!texts(methods).includes(PKCE_METHOD)) {
    const message = `The authorization server ${server.issuer} does not offer PKCE by ${PKCE_METHOD}, which is mandatory.`;
    throw new OAuthError(message, { error: 'pkce_unsupported' });
  }
  if (authorization_endpoint !== undefined && URL.canParse(authorization_endpoint)) return authorization_endpoint;
  throw new OAuthError('The authorization server names no authorization endpoint.', { error: 'invalid_response' });
}

/** The client given, or the registered one, or a new one where none fits server and redirect URI. */
async function clientFor(
  { requests, client, clientName }: SignInSetup,
  { server }: Discovery,
  { client: known }: OAuthRecord,
  redirectUri: string,
  scope: string | undefined,
  signal: AbortSignal | undefined,
): Promise<ClientRecord> {
  if (client) return adopt(server, client, redirectUri);
  if (known?.issuer === server.issuer && known.redirect_uris.includes(redirectUri)) return known;
  return register(requests, server, { clientName, redirectUri, scope }, signal);
}

const live = ({ pending }: OAuthRecord): PendingSignIn[] =>
  pending.filter(({ startedAt }) => Math.abs(Date.now() - startedAt) < SIGN_IN_TIME);

/** Ends a sign-in with what the browser brought back. */
export async function callback(setup: SignInSetup, url: string | URL, options: OAuthStepOptions): Promise<Grant> {
  if (!URL.canParse(url, setup.redirectUri)) {
    throw new OAuthError('What `callback()` was given is no address.', { error: 'invalid_request' });
  }
  const { searchParams } = new URL(url, setup.redirectUri);
  const states = searchParams.getAll('state');
  return setup.ledger.turn(async ({ record, save }) => {
    const pending = live(record).find(({ state }) => states.length === 1 && state === states[0]);
    if (!pending) {
      const what =
        states.length > 0
          ? 'its `state` is unknown, or was used already'
          : 'it has no `state`, which a proxy may have removed';
      const message = `The callback belongs to no sign-in that was started here within ten minutes: ${what}. Nothing was exchanged; start again with \`authorize()\`.`;
      throw new OAuthError(message, { error: 'state_mismatch' });
    }
    const without = (now: OAuthRecord): OAuthRecord => ({
      ...now,
      pending: now.pending.filter(({ state }) => state !== pending.state),
    });
    try {
      const grant = await exchange(setup, pending, searchParams, options.signal);
      await save((now) => ({ ...without(now), client: pending.client, grant }));
      return grant;
    } catch (error) {
      // What a server refuses it refuses again; what got lost may be tried again.
      if (OAuthError.isInstance(error) && error.error !== 'issuer_mismatch')
        await save((now) => withoutDeadClient(without(now), error));
      throw error;
    }
  });
}

/** A client that its server does not know any more is registered anew by the next sign-in. */
function withoutDeadClient({ client, ...rest }: OAuthRecord, { error }: OAuthError): OAuthRecord {
  return error === 'invalid_client' || client === undefined ? rest : { ...rest, client };
}

async function exchange(
  { requests, servers }: SignInSetup,
  pending: PendingSignIn,
  answer: URLSearchParams,
  signal: AbortSignal | undefined,
): Promise<Grant> {
  const { client, redirectUri, verifier, resource } = pending;
  const server = await servers.of(client.issuer, signal);
  const parameters = validated(server, pending, answer);
  requests.redactor.addRecent(answer.get('code') ?? '');
  const askedAt = Date.now();
  const tokens = await requests.perform({
    what: 'Exchanging the code',
    // A code that arrives twice ends the grant (RFC 6749, section 4.1.2).
    retry: 'never',
    signal,
    async work(parts) {
      const more = { ...parts, ...(resource !== undefined && { additionalParameters: { resource } }) };
      const own = clientOf(client);
      const auth = authenticationOf(client);
      const response = await authorizationCodeGrantRequest(server, own, auth, parameters, redirectUri, verifier, more);
      return processAuthorizationCodeResponse(server, own, response);
    },
  });
  checkTokens(tokens, pending.scope);
  return grantOf(tokens, askedAt, { client, ...(resource !== undefined && { resource }) });
}

/** Checks `state` and `iss` (RFC 9207), and whether the server has refused. */
function validated(server: AuthorizationServer, { client, state }: PendingSignIn, answer: URLSearchParams) {
  try {
    return validateAuthResponse(server, clientOf(client), answer, state);
  } catch (error) {
    if (error instanceof AuthorizationResponseError) {
      const told = error.error_description === undefined ? '' : `: ${error.error_description.slice(0, 300)}`;
      throw new OAuthError(`The sign-in was refused: ${error.error}${told}`, { error: error.error });
    }
    const silent = server.authorization_response_iss_parameter_supported ? null : server.issuer;
    if ((answer.get('iss') ?? silent) === server.issuer) {
      const told = error instanceof Error ? error.message : String(error);
      throw new OAuthError(`The callback is not as its standard has it: ${told}.`, { error: 'invalid_response' });
    }
    const from = answer.get('iss') === null ? 'without `iss`' : `from ${answer.get('iss')}`;
    const message = `The callback comes ${from}, the sign-in was started at ${server.issuer}. Nothing was exchanged; start again with \`authorize()\`.`;
    throw new OAuthError(message, { error: 'issuer_mismatch' });
  }
}
