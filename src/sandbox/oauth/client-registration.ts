import type { JsonObject } from '../http/request-body.ts';
import type { Service } from '../service.ts';
import type { OAuthClient } from '../state.ts';
import { OAuthRequestError } from './oauth-request-error.ts';

/** The permitted grant types (specification, "OAuth 2.1", rule 2). */
export const GRANT_TYPES: readonly string[] = ['authorization_code', 'refresh_token'];

/** The only permitted scope (specification, "OAuth 2.1", rule 2). */
export const SCOPE = 'mcp';

/** Authentication methods at the token endpoint (assumed). */
export const CLIENT_AUTHENTICATION: readonly string[] = ['none', 'client_secret_post', 'client_secret_basic'];

/** Error code of RFC 7591 for invalid metadata other than redirect URIs. */
export const INVALID_METADATA = 'invalid_client_metadata';

const LOOPBACK_HOSTS: readonly string[] = ['localhost', '127.0.0.1', '[::1]'];

export const isLoopback = ({ hostname }: URL): boolean => LOOPBACK_HOSTS.includes(hostname);

/** Throws for any scope except `mcp`. The scope may be missing. */
export function checkScope(scope: unknown): void {
  if (scope === undefined || scope === SCOPE) return;
  throw new OAuthRequestError('invalid_scope', `The only scope is "${SCOPE}".`);
}

/** Returns why a redirect URI is invalid, or `undefined` if it is valid (specification, "OAuth 2.1", rule 3). */
function redirectProblem(uri: unknown, approvedHosts: readonly string[]): string | undefined {
  if (typeof uri !== 'string' || !URL.canParse(uri)) return 'must be absolute';
  const url = new URL(uri);
  // The specification requires exact URIs, so refuse a URI that the parser changes.
  if (url.href !== uri && url.href !== `${uri}/`) return `must be exact, like ${url.href}`;
  if (uri.includes('*')) return 'must not contain wildcards';
  if (uri.includes('#')) return 'must not contain a fragment';
  if (url.username !== '' || url.password !== '') return 'must not contain userinfo';
  if (isLoopback(url)) return /^https?:$/.test(url.protocol) ? undefined : 'must be http or https';
  if (url.protocol !== 'https:') return 'must be https';
  return approvedHosts.includes(url.hostname)
    ? undefined
    : `is not on an approved host: add ${url.hostname} to the sandbox's \`redirectHosts\``;
}

/** Returns a field of the client metadata that must be an array (RFC 7591), or `fallback` if it is missing. */
function readArray(
  body: JsonObject,
  field: string,
  fallback: readonly string[],
  error = INVALID_METADATA,
): readonly unknown[] {
  const value = body[field] ?? fallback;
  if (!Array.isArray(value)) throw new OAuthRequestError(error, `The ${field} must be an array of strings.`);
  return value;
}

/** Registers a client (RFC 7591). Returns its metadata for the response. */
export function registerClient({ state, random, clock, redirectHosts }: Service, body: JsonObject): JsonObject {
  const { client_name = 'Unnamed client', token_endpoint_auth_method: method = 'client_secret_basic' } = body;
  checkScope(body.scope);
  const redirect_uris = readArray(body, 'redirect_uris', [], 'invalid_redirect_uri');
  const grant_types = readArray(body, 'grant_types', GRANT_TYPES);
  const response_types = readArray(body, 'response_types', ['code']);
  if (redirect_uris.length === 0)
    throw new OAuthRequestError('invalid_redirect_uri', 'At least one redirect URI is required.');
  for (const uri of redirect_uris) {
    const problem = redirectProblem(uri, redirectHosts);
    if (problem)
      throw new OAuthRequestError('invalid_redirect_uri', `The redirect URI ${JSON.stringify(uri)} ${problem}.`);
  }
  const check = (isValid: boolean, requirement: string): void => {
    if (!isValid) throw new OAuthRequestError(INVALID_METADATA, requirement);
  };
  check(typeof client_name === 'string', 'The client_name must be a string.');
  check(
    grant_types.every((type) => typeof type === 'string' && GRANT_TYPES.includes(type)),
    `Each of the grant_types must be ${GRANT_TYPES.join(' or ')}.`,
  );
  check(
    response_types.every((type) => type === 'code'),
    'Each of the response_types must be code.',
  );
  check(
    typeof method === 'string' && CLIENT_AUTHENTICATION.includes(method),
    `The token_endpoint_auth_method must be one of ${CLIENT_AUTHENTICATION.join(', ')}.`,
  );
  const client: OAuthClient = {
    id: `client_${random.string(20)}`,
    secret: method === 'none' ? undefined : random.string(40),
    name: String(client_name),
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
