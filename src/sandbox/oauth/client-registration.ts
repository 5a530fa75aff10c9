import type { Body } from '../routes/body-fields.ts';
import type { Service } from '../service.ts';
import type { OAuthClient } from '../state.ts';
import { OAuthRefusal } from './oauth-request-error.ts';

/** The only grant types and the only scope ("OAuth 2.1", rule 2). */
export const GRANT_TYPES: readonly string[] = ['authorization_code', 'refresh_token'];
export const SCOPE = 'mcp';

/** How clients may authenticate at the token endpoint; not specified. */
export const CLIENT_AUTHENTICATION: readonly string[] = ['none', 'client_secret_post', 'client_secret_basic'];

/** The error of RFC 7591 for metadata other than redirect URIs. */
export const INVALID_METADATA = 'invalid_client_metadata';

const LOOPBACK: readonly string[] = ['localhost', '127.0.0.1', '[::1]'];

/** Whether an address leads to this machine. */
export const isLoopback = ({ hostname }: URL): boolean => LOOPBACK.includes(hostname);

/** Refuses any scope but `mcp`. */
export function checkScope(scope: unknown): void {
  if (scope === undefined || scope === SCOPE) return;
  throw new OAuthRefusal('invalid_scope', `The only scope is "${SCOPE}".`);
}

/** What is wrong with a redirect URI ("OAuth 2.1", rule 3). */
function redirectProblem(uri: unknown, approvedHosts: readonly string[]): string | undefined {
  if (typeof uri !== 'string' || !URL.canParse(uri)) return 'must be absolute';
  const url = new URL(uri);
  // Compared as texts later: what a parser mends would never be equal.
  if (url.href !== uri && url.href !== `${uri}/`) return `must be exact, like ${url.href}`;
  if (uri.includes('*')) return 'must not hold wildcards';
  if (uri.includes('#')) return 'must not hold a fragment';
  if (url.username !== '' || url.password !== '') return 'must not hold userinfo';
  if (isLoopback(url)) return /^https?:$/.test(url.protocol) ? undefined : 'must be http or https';
  if (url.protocol !== 'https:') return 'must be https';
  return approvedHosts.includes(url.hostname) ? undefined : 'is not on an approved host';
}

/** An array of a client's metadata; RFC 7591 knows no other form of it. */
function readList(
  body: Body,
  field: string,
  fallback: readonly string[],
  error = INVALID_METADATA,
): readonly unknown[] {
  const value = body[field] ?? fallback;
  if (!Array.isArray(value)) throw new OAuthRefusal(error, `The ${field} must be an array of strings.`);
  return value;
}

/** Registers a client (RFC 7591); returns it with its metadata, as the answer shows them. */
export function registerClient({ state, random, clock, redirectHosts }: Service, body: Body): Body {
  const { client_name = 'Unnamed client', token_endpoint_auth_method: method = 'client_secret_basic' } = body;
  checkScope(body.scope);
  const redirect_uris = readList(body, 'redirect_uris', [], 'invalid_redirect_uri');
  const grant_types = readList(body, 'grant_types', GRANT_TYPES);
  const response_types = readList(body, 'response_types', ['code']);
  if (redirect_uris.length === 0) throw new OAuthRefusal('invalid_redirect_uri', 'A redirect URI is needed.');
  for (const uri of redirect_uris) {
    const problem = redirectProblem(uri, redirectHosts);
    if (problem) throw new OAuthRefusal('invalid_redirect_uri', `The redirect URI ${JSON.stringify(uri)} ${problem}.`);
  }
  const wrong = (what: string): OAuthRefusal => new OAuthRefusal(INVALID_METADATA, what);
  if (typeof client_name !== 'string') throw wrong('The client_name must be a string.');
  if (!grant_types.every((type) => typeof type === 'string' && GRANT_TYPES.includes(type)))
    throw wrong(`Grant types are ${GRANT_TYPES.join(' and ')}.`);
  if (!response_types.every((type) => type === 'code')) throw wrong('The response type is code.');
  if (typeof method !== 'string' || !CLIENT_AUTHENTICATION.includes(method))
    throw wrong(`Clients authenticate by ${CLIENT_AUTHENTICATION.join(', ')}.`);
  const client: OAuthClient = {
    id: `client_${random.text(20)}`,
    secret: method === 'none' ? undefined : random.text(40),
    name: client_name,
    redirectUris: redirect_uris.map(String),
  };
  state.oauthClients.set(client.id, client);
  return {
    client_id: client.id,
    client_id_issued_at: Math.floor(clock.now() / 1000),
    ...(client.secret !== undefined && { client_secret: client.secret, client_secret_expires_at: 0 }),
    client_name: client.name,
    redirect_uris,
    grant_types,
    response_types: ['code'],
    scope: SCOPE,
    token_endpoint_auth_method: method,
  };
}
