import type { Service } from '../service.ts';
import { CODE_LIFETIME } from '../service-limits.ts';
import type { AccountRecord, OAuthClient } from '../state.ts';
import { checkScope, isLoopback } from './client-registration.ts';
import { OAuthRefusal } from './oauth-request-error.ts';

/** An authorization request whose client and redirect URI are known: whatever else is wrong goes back to the client. */
export interface AuthorizationRequest {
  readonly client: OAuthClient;
  readonly redirectUri: string;
  readonly query: URLSearchParams;
  /** The service's own origin, which is the issuer. */
  readonly issuer: string;
}

/** SHA-256 in base64url: 43 characters (RFC 7636). */
const CHALLENGE = /^[\w-]{43}$/;

/** Reads the part of an authorization request that decides where answers go. */
export function readAuthorization({ state }: Service, address: string): AuthorizationRequest {
  const { origin, searchParams: query } = new URL(address);
  const client = state.oauthClients.get(query.get('client_id') ?? '');
  if (!client) throw new OAuthRefusal('invalid_client', 'The client is not registered.');
  const redirectUri =
    query.get('redirect_uri') ?? (client.redirectUris.length === 1 ? client.redirectUris[0] : undefined);
  if (redirectUri === undefined || !client.redirectUris.some((known) => sameRedirect(known, redirectUri)))
    throw new OAuthRefusal('invalid_request', 'The redirect URI is not one of the client’s.');
  return { client, redirectUri, query, issuer: origin };
}

/** Exactly equal; the port of a loopback address is free, as it is known only when the program listens (RFC 8252). */
function sameRedirect(known: string, given: string): boolean {
  if (known === given) return true;
  if (!URL.canParse(given) || !isLoopback(new URL(known))) return false;
  const [a, b] = [new URL(known), new URL(given)];
  a.port = b.port;
  return a.href === b.href;
}

/** What is wrong with the rest of an authorization request ("OAuth 2.1", rules 2 and 4). */
export function checkAuthorization({ query, issuer }: AuthorizationRequest): void {
  if (query.get('response_type') !== 'code')
    throw new OAuthRefusal('unsupported_response_type', 'The response type is code.');
  checkScope(query.get('scope') ?? undefined);
  if (query.get('code_challenge_method') !== 'S256')
    throw new OAuthRefusal('invalid_request', 'PKCE is mandatory: code_challenge_method must be S256.');
  if (!CHALLENGE.test(query.get('code_challenge') ?? ''))
    throw new OAuthRefusal('invalid_request', 'PKCE is mandatory: code_challenge must be a SHA-256 in base64url.');
  const resource = query.get('resource');
  if (resource !== null && resource !== issuer && !resource.startsWith(`${issuer}/`))
    throw new OAuthRefusal('invalid_target', 'The resource is not this service.');
}

/** Where the browser goes with an answer. */
function answerTo({ redirectUri, query, issuer }: AuthorizationRequest, answer: Record<string, string>): string {
  const target = new URL(redirectUri);
  const state = query.get('state');
  for (const [name, value] of Object.entries({ ...answer, ...(state !== null && { state }), iss: issuer }))
    target.searchParams.set(name, value);
  return target.href;
}

/** The answer to a request that is refused. */
export function refuse(request: AuthorizationRequest, { error, message }: OAuthRefusal): string {
  return answerTo(request, { error, error_description: message });
}

/** The answer of an account that consents: a code, good once and for ten minutes. */
export function consent(service: Service, request: AuthorizationRequest, account: AccountRecord): string {
  checkAuthorization(request);
  const { state, random, clock } = service;
  const now = clock.now();
  for (const [old, { expiresAt }] of state.codes) if (expiresAt <= now) state.codes.delete(old);
  const code = `code_${random.text(40)}`;
  state.codes.set(code, {
    client: request.client,
    account,
    redirectUri: request.redirectUri,
    challenge: request.query.get('code_challenge') ?? '',
    expiresAt: now + CODE_LIFETIME,
    used: false,
    grantId: undefined,
  });
  return answerTo(request, { code });
}
