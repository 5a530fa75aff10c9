import type { Service } from '../service.ts';
import { ACCESS_TOKEN_LIFETIME_MS } from '../service-limits.ts';
import type { Grant, OAuthClient } from '../state.ts';
import { findGrant, issueGrant, revokeGrant } from '../tokens.ts';
import { checkScope, SCOPE } from './client-registration.ts';
import { OAuthRequestError } from './oauth-request-error.ts';

/** Returns the client of a request to the token or revocation endpoint. A client with a secret must send it. */
export function authenticateClient({ state }: Service, form: URLSearchParams, authorization = ''): OAuthClient {
  const basic = /^basic (\S+)$/i.exec(authorization)?.[1];
  const [id, secret] = basic === undefined ? [form.get('client_id'), form.get('client_secret')] : decodeBasic(basic);
  const client = state.oauthClients.get(id ?? '');
  if (!client || (client.secret !== undefined && client.secret !== secret))
    throw new OAuthRequestError('invalid_client', 'The client is unknown, or its secret is wrong.', 401);
  return client;
}

function decodeBasic(credentials: string): (string | undefined)[] {
  try {
    return atob(credentials).split(':', 2).map(decodeURIComponent);
  } catch {
    return [];
  }
}

/** Exchanges a code or a refresh token for a pair of tokens. Returns the body of the response. */
export async function exchangeTokens(service: Service, client: OAuthClient, form: URLSearchParams): Promise<object> {
  checkScope(form.get('scope') ?? undefined);
  const type = form.get('grant_type');
  if (type === 'authorization_code') return tokenResponse(await redeemCode(service, client, form));
  if (type === 'refresh_token') return tokenResponse(refresh(service, client, form.get('refresh_token') ?? ''));
  throw new OAuthRequestError('unsupported_grant_type', 'The grant_type must be authorization_code or refresh_token.');
}

const tokenResponse = ({ access, refresh }: Grant): object => ({
  access_token: access.value,
  token_type: 'Bearer',
  expires_in: ACCESS_TOKEN_LIFETIME_MS / 1000,
  refresh_token: refresh,
  scope: SCOPE,
});

async function redeemCode(service: Service, client: OAuthClient, form: URLSearchParams): Promise<Grant> {
  const { state, clock } = service;
  // Await the challenge first, so that a concurrent request cannot use the code between its check and its use.
  const challenge = await codeChallenge(form.get('code_verifier') ?? '');
  const code = state.authorizationCodes.get(form.get('code') ?? '');
  if (code?.client !== client || code.expiresAt <= clock.now())
    throw new OAuthRequestError('invalid_grant', 'The code was not issued to this client, or has expired.');
  if (code.used) {
    // A code that is used twice may have leaked: revoke the tokens issued for it (RFC 6749, 4.1.2).
    for (const grant of state.grants.values()) if (grant.id === code.grantId) revokeGrant(service, grant);
    throw new OAuthRequestError('invalid_grant', 'The code was used before, so its tokens have been revoked.');
  }
  code.used = true;
  if (code.redirectUri !== (form.get('redirect_uri') ?? code.redirectUri))
    throw new OAuthRequestError(
      'invalid_grant',
      'The redirect URI differs from the redirect URI of the authorization request.',
    );
  if (challenge !== code.challenge)
    throw new OAuthRequestError('invalid_grant', 'The code verifier does not match the code challenge.');
  const grant = issueGrant(service, client, code.account);
  code.grantId = grant.id;
  return grant;
}

async function codeChallenge(verifier: string): Promise<string> {
  const hash = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier));
  const base64 = btoa(String.fromCharCode(...new Uint8Array(hash)));
  return base64.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

/** Issues a new pair of tokens and revokes the old one (specification, "OAuth 2.1", rule 5). */
function refresh(service: Service, client: OAuthClient, refreshToken: string): Grant {
  const grant = findGrant(service, refreshToken);
  if (grant?.client !== client)
    throw new OAuthRequestError(
      'invalid_grant',
      'The refresh token was not issued to this client, was replaced or revoked, or has expired.',
    );
  revokeGrant(service, grant);
  return issueGrant(service, client, grant.account, grant.id);
}

/** Revokes an access or refresh token of a client. Ignores an unknown token (RFC 7009). */
export function revokeOAuthToken(service: Service, client: OAuthClient, token: string): void {
  const { grants, tokens } = service.state;
  const grant = grants.get(token);
  if (grant?.client === client) revokeGrant(service, grant);
  for (const { access, client: owner } of grants.values())
    if (access.value === token && owner === client) tokens.delete(token);
}
