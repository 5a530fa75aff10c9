import * as oauth from 'oauth4webapi';
import { OAuthError } from '../errors/oauth-errors.ts';
import { stringsOf } from '../util/json.ts';
import type { Redactor } from '../util/redact.ts';
import { ASK_OPERATOR, type RequestParts, toError } from './oauth-http.ts';
import {
  checkUsable,
  type Grant,
  grantOf,
  type OAuthState,
  type PendingSignIn,
  type StoredClient,
  timeLeft,
} from './oauth-state.ts';
import type { Authorization, AuthorizeOptions } from './oauth-types.ts';
import { checkRedirectUri } from './redirect-uri.ts';
import { authenticationOf, existingClient, registerClient } from './registration.ts';
import type { OAuthContext } from './session.ts';

/**
 * Maximum milliseconds from `authorize` to `callback`. Codes should expire within ten minutes (RFC 6749, section
 * 4.1.2).
 */
const MAX_SIGN_IN_MS = 600_000;

/** Maximum number of pending sign-ins, for example in several tabs. A further sign-in discards the oldest. */
const MAX_PENDING = 5;

/** The only PKCE method that the service accepts (specification, "OAuth 2.1", rule 4). */
const PKCE_METHOD = 'S256';

/** Parameters to remove from the URL of an authorization endpoint, because they could change its response. */
const CONFLICTING_PARAMETERS: readonly string[] = ['response_mode', 'request', 'request_uri'];

/** Starts a sign-in: registers a client if necessary, and returns the address for the user's browser. */
export async function authorize(context: OAuthContext, options: AuthorizeOptions): Promise<Authorization> {
  const { http, clientName } = context;
  const { signal, redirectUri = context.redirectUri } = options;
  checkRedirectUri(redirectUri);
  const { server, resource, ...discovered } = await context.discovery.discover(signal);
  checkPkce(server);
  const url = http.checkUrl(server.authorization_endpoint);
  const scope = options.scope ?? discovered.scope;
  return context.repository.transaction(async ({ state: stored, update }) => {
    const registered = context.client
      ? existingClient(server, context.client, redirectUri)
      : clientInUse(stored, server.issuer, redirectUri);
    const client = registered ?? (await registerClient(http, server, { clientName, redirectUri, scope }, signal));
    const [state, verifier] = [oauth.generateRandomState(), oauth.generateRandomCodeVerifier()];
    const signIn: PendingSignIn = { state, verifier, redirectUri, resource, client, startedAt: Date.now() };
    await update((now) => ({ ...now, client, pending: [...recent(now), signIn].slice(-MAX_PENDING) }));
    const query = {
      response_type: 'code',
      client_id: client.client_id,
      redirect_uri: redirectUri,
      state,
      code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
      code_challenge_method: PKCE_METHOD,
      ...(resource !== undefined && { resource }),
      ...(scope !== undefined && { scope }),
    };
    url.hash = '';
    for (const name of CONFLICTING_PARAMETERS) url.searchParams.delete(name);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    return { url: url.href, state };
  });
}

/** Refuses a server without PKCE, because it would accept a stolen code. */
function checkPkce({ issuer, code_challenge_methods_supported: methods }: oauth.AuthorizationServer): void {
  if (stringsOf(methods).includes(PKCE_METHOD)) return;
  const message = `The authorization server ${issuer} does not support PKCE with ${PKCE_METHOD}, which this client requires.`;
  throw new OAuthError(message, { error: 'pkce_unsupported', advice: ASK_OPERATOR });
}

const recent = ({ pending }: OAuthState): PendingSignIn[] =>
  pending.filter(({ startedAt }) => Math.abs(Date.now() - startedAt) < MAX_SIGN_IN_MS);

/**
 * Returns the registered client, if it has tokens or a pending sign-in. The server may have deleted any other
 * registration, and would report this only to the user, in the browser.
 */
function clientInUse(state: OAuthState, issuer: string, redirectUri: string): StoredClient | undefined {
  const { client, grant } = state;
  const isInUse =
    (grant && (grant.refreshToken !== undefined || timeLeft(grant) > 0)) ||
    recent(state).some((signIn) => signIn.client.client_id === client?.client_id);
  return isInUse && client?.issuer === issuer && client.redirect_uris.includes(redirectUri) ? client : undefined;
}

const START_AGAIN = 'Start again with `authorize()`.';

/** Completes a sign-in with the URL to which the server redirected the browser. */
export async function redeem(context: OAuthContext, url: string | URL, signal?: AbortSignal): Promise<Grant> {
  if (!URL.canParse(url, context.redirectUri)) {
    const advice = 'Pass the entire URL to which the authorization server redirected the browser.';
    throw new OAuthError('The argument of `callback()` is not a URL.', { error: 'invalid_request', advice });
  }
  const { searchParams } = new URL(url, context.redirectUri);
  const states = searchParams.getAll('state');
  return context.repository.transaction(async ({ state: stored, update }) => {
    const signIn = recent(stored).find(({ state }) => states.length === 1 && state === states[0]);
    if (!signIn) {
      const counts = ['no `state`', 'a `state` that is unknown, expired (after ten minutes) or already used'];
      const problem = counts[states.length] ?? 'several `state` parameters';
      const message = `The callback has ${problem}, so it does not belong to a pending sign-in. No token was requested.`;
      throw new OAuthError(message, { error: 'state_mismatch', advice: START_AGAIN });
    }
    const complete = (more: Partial<OAuthState>): Promise<OAuthState> =>
      update((now) => ({ ...now, ...more, pending: now.pending.filter(({ state }) => state !== signIn.state) }));
    try {
      const grant = await exchange(context, signIn, searchParams, signal);
      await complete({ client: signIn.client, grant });
      return grant;
    } catch (error) {
      // End the sign-in, because the server would refuse the code again. After a lost connection, the same callback may
      // still succeed.
      if (OAuthError.isInstance(error) && error.error !== 'issuer_mismatch') {
        await complete(error.error === 'invalid_client' ? { client: undefined } : {});
      }
      throw error;
    }
  });
}

async function exchange(
  { http, discovery }: OAuthContext,
  signIn: PendingSignIn,
  response: URLSearchParams,
  signal: AbortSignal | undefined,
): Promise<Grant> {
  const { client, redirectUri, verifier, resource } = signIn;
  const server = await discovery.serverOf(client.issuer, signal);
  const parameters = validate(server, signIn, response, http.redactor);
  http.redactor.addRecent(response.get('code'));
  const additionalParameters = resource === undefined ? {} : { resource };
  const request = [server, client, authenticationOf(client), parameters, redirectUri, verifier] as const;
  const requestedAt = Date.now();
  const execute = async (parts: RequestParts): Promise<oauth.TokenEndpointResponse> => {
    const tokens = await oauth.authorizationCodeGrantRequest(...request, { ...parts, additionalParameters });
    return oauth.processAuthorizationCodeResponse(server, client, tokens);
  };
  // Do not retry: a server may revoke the tokens of a code that is used twice (RFC 6749, section 4.1.2).
  const tokens = await http.send({
    name: 'Exchanging the code',
    server: server.issuer,
    retry: 'never',
    signal,
    execute,
  });
  const grant = grantOf(tokens, requestedAt, { client, resource });
  checkUsable(grant);
  return grant;
}

/** Checks `state` and `iss` (RFC 9207) of the redirect. Throws if the redirect reports an error. */
function validate(
  server: oauth.AuthorizationServer,
  { client, state }: PendingSignIn,
  response: URLSearchParams,
  redactor: Redactor,
): URLSearchParams {
  const { issuer, authorization_response_iss_parameter_supported: isRequired } = server;
  const iss = response.get('iss');
  if (iss === null ? isRequired : iss !== issuer) {
    const message = `The callback has ${iss === null ? 'no `iss`' : `the issuer ${iss}`}, but the sign-in was started at ${issuer}. No token was requested.`;
    throw new OAuthError(message, { error: 'issuer_mismatch', advice: START_AGAIN });
  }
  try {
    return oauth.validateAuthResponse(server, client, response, state);
  } catch (error) {
    throw toError(error, `The sign-in at ${issuer}`, { operation: 'The sign-in', attempts: 1 }, redactor);
  }
}
