import type { Service } from '../service.ts';
import { CODE_LIFETIME_MS } from '../service-limits.ts';
import type { AccountRecord, OAuthClient } from '../state.ts';
import { checkScope, isLoopback } from './client-registration.ts';
import { OAuthRequestError } from './oauth-request-error.ts';

/**
 * An authorization request whose client and redirect URI are valid. The redirect reports all other errors to the
 * client.
 */
export interface AuthorizationRequest {
  readonly client: OAuthClient;
  readonly redirectUri: string;
  readonly query: URLSearchParams;
  /** The service's own origin. */
  readonly issuer: string;
}

/** A SHA-256 in base64url (RFC 7636). */
const CODE_CHALLENGE = /^[\w-]{43}$/;

/** Reads an authorization request. Throws if its client or redirect URI is invalid. */
export function readAuthorization({ state }: Service, url: string): AuthorizationRequest {
  const { origin, searchParams: query } = new URL(url);
  const id = query.get('client_id') ?? '';
  const client = state.oauthClients.get(id);
  if (!client) throw new OAuthRequestError('invalid_client', `No client is registered with the client_id "${id}".`);
  const redirectUri =
    query.get('redirect_uri') ?? (client.redirectUris.length === 1 ? client.redirectUris[0] : undefined);
  if (redirectUri === undefined || !client.redirectUris.some((registered) => isSameRedirect(registered, redirectUri)))
    throw new OAuthRequestError(
      'invalid_request',
      `The redirect_uri "${redirectUri ?? ''}" is not registered for the client ${id}.`,
    );
  return { client, redirectUri, query, issuer: origin };
}

/** Returns whether two redirect URIs are equal; the port of a loopback address may differ (RFC 8252). */
function isSameRedirect(registered: string, requested: string): boolean {
  if (registered === requested) return true;
  if (!URL.canParse(requested) || !isLoopback(new URL(registered))) return false;
  const [a, b] = [new URL(registered), new URL(requested)];
  a.port = b.port;
  return a.href === b.href;
}

/** Checks the other parameters of an authorization request (specification, "OAuth 2.1", rules 2 and 4). */
export function checkAuthorization({ query, issuer }: AuthorizationRequest): void {
  if (query.get('response_type') !== 'code')
    throw new OAuthRequestError('unsupported_response_type', 'response_type must be code.');
  checkScope(query.get('scope') ?? undefined);
  if (query.get('code_challenge_method') !== 'S256')
    throw new OAuthRequestError('invalid_request', 'PKCE is mandatory: code_challenge_method must be S256.');
  if (!CODE_CHALLENGE.test(query.get('code_challenge') ?? ''))
    throw new OAuthRequestError(
      'invalid_request',
      'PKCE is mandatory: code_challenge must be a SHA-256 hash in base64url.',
    );
  const resource = query.get('resource');
  if (resource !== null && resource !== issuer && !resource.startsWith(`${issuer}/`))
    throw new OAuthRequestError('invalid_target', `The resource ${resource} does not belong to this service.`);
}

/** Returns the redirect URI with the parameters of the response. */
function redirectWith({ redirectUri, query, issuer }: AuthorizationRequest, params: Record<string, string>): string {
  const target = new URL(redirectUri);
  const state = query.get('state');
  for (const [name, value] of Object.entries({ ...params, ...(state !== null && { state }), iss: issuer }))
    target.searchParams.set(name, value);
  return target.href;
}

/** Returns the redirect that reports an error to the client. */
export function denyAuthorization(request: AuthorizationRequest, { error, message }: OAuthRequestError): string {
  return redirectWith(request, { error, error_description: message });
}

/** Grants an authorization request on behalf of an account. Returns the redirect with a code. */
export function grantAuthorization(service: Service, request: AuthorizationRequest, account: AccountRecord): string {
  checkAuthorization(request);
  const { random, clock } = service;
  const { authorizationCodes } = service.state;
  const now = clock.now();
  for (const [old, { expiresAt }] of authorizationCodes) if (expiresAt <= now) authorizationCodes.delete(old);
  const code = `code_${random.string(40)}`;
  authorizationCodes.set(code, {
    client: request.client,
    account,
    redirectUri: request.redirectUri,
    challenge: request.query.get('code_challenge') ?? '',
    expiresAt: now + CODE_LIFETIME_MS,
    used: false,
    grantId: undefined,
  });
  return redirectWith(request, { code });
}
