import { findGrant, issueGrant, revokeGrant } from '../grants.ts';
import type { Service } from '../service.ts';
import { ACCESS_TOKEN_LIFETIME } from '../service-limits.ts';
import type { Grant, OAuthClient } from '../state.ts';
import { checkScope, SCOPE } from './client-registration.ts';
import { OAuthRefusal } from './oauth-request-error.ts';

/** The client of a request to the token or revocation endpoint, authenticated as it registered. */
export function authenticateClient({ state }: Service, form: URLSearchParams, authorization = ''): OAuthClient {
  const basic = /^basic (\S+)$/i.exec(authorization)?.[1];
  const [id, secret] = basic === undefined ? [form.get('client_id'), form.get('client_secret')] : readBasic(basic);
  const client = state.oauthClients.get(id ?? '');
  if (!client || (client.secret !== undefined && client.secret !== secret))
    throw new OAuthRefusal('invalid_client', 'The client is unknown, or its secret is wrong.', 401);
  return client;
}

function readBasic(text: string): (string | undefined)[] {
  try {
    return atob(text).split(':', 2).map(decodeURIComponent);
  } catch {
    return [];
  }
}

/** A pair of tokens as the token endpoint answers it. */
const answerOf = ({ access, refresh }: Grant): Record<string, unknown> => ({
  access_token: access.value,
  token_type: 'Bearer',
  expires_in: ACCESS_TOKEN_LIFETIME / 1000,
  refresh_token: refresh,
  scope: SCOPE,
});

/** Exchanges a code, or rotates a refresh token. */
export async function exchange(service: Service, client: OAuthClient, form: URLSearchParams): Promise<unknown> {
  checkScope(form.get('scope') ?? undefined);
  const type = form.get('grant_type');
  if (type === 'authorization_code') return answerOf(await redeemCode(service, client, form));
  if (type === 'refresh_token') return answerOf(rotate(service, client, form.get('refresh_token') ?? ''));
  throw new OAuthRefusal('unsupported_grant_type', 'Grant types are authorization_code and refresh_token.');
}

async function redeemCode(service: Service, client: OAuthClient, form: URLSearchParams): Promise<Grant> {
  const { state, clock } = service;
  // First, so that nothing comes between the look at the code and its use.
  const challenge = await challengeOf(form.get('code_verifier') ?? '');
  const code = state.codes.get(form.get('code') ?? '');
  if (code?.client !== client || code.expiresAt <= clock.now())
    throw new OAuthRefusal('invalid_grant', 'The code is unknown or has expired.');
  if (code.used) {
    // Two hold the code: what it was exchanged for is revoked (RFC 6749, 4.1.2).
    for (const grant of state.grants.values()) if (grant.id === code.grantId) revokeGrant(service, grant);
    throw new OAuthRefusal('invalid_grant', 'The code was used already; what it was exchanged for is revoked.');
  }
  code.used = true;
  if (code.redirectUri !== (form.get('redirect_uri') ?? code.redirectUri))
    throw new OAuthRefusal('invalid_grant', 'The redirect URI is not the one the code was asked for with.');
  if (challenge !== code.challenge)
    throw new OAuthRefusal('invalid_grant', 'The code verifier does not match the code challenge.');
  const grant = issueGrant(service, client, code.account);
  code.grantId = grant.id;
  return grant;
}

/** S256 of RFC 7636. */
async function challengeOf(verifier: string): Promise<string> {
  const hash = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier));
  const text = btoa(String.fromCharCode(...new Uint8Array(hash)));
  return text.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

/** A new pair, the old one invalid; "rotated out, revoked or expired" is `invalid_grant` ("OAuth 2.1", rule 5). */
function rotate(service: Service, client: OAuthClient, refresh: string): Grant {
  const grant = findGrant(service, refresh);
  if (grant?.client !== client)
    throw new OAuthRefusal('invalid_grant', 'The refresh token was rotated out, revoked or has expired.');
  revokeGrant(service, grant);
  return issueGrant(service, client, grant.account, grant.id);
}

/** Revokes an access or refresh token of a client; one that it does not know is none (RFC 7009). */
export function revokeToken(service: Service, client: OAuthClient, token: string): void {
  const { state } = service;
  const grant = state.grants.get(token);
  if (grant?.client === client) revokeGrant(service, grant);
  for (const { access, client: owner } of state.grants.values())
    if (access.value === token && owner === client) state.tokens.delete(token);
}
