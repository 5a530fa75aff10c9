import * as oauth from 'oauth4webapi';
import { OAuthError } from '../errors/oauth-errors.ts';
import { isObject, parseJson, stringsOf } from '../util/json.ts';
import { ASK_OPERATOR, type OAuthHttp, type RequestParts } from './oauth-http.ts';
import type { StoredClient } from './oauth-state.ts';
import type { RegisteredClient } from './oauth-types.ts';

/**
 * Methods of client authentication in order of preference. `none` is first, because a program on a user's machine
 * cannot keep a secret.
 */
const METHODS: readonly string[] = ['none', 'client_secret_post', 'client_secret_basic'];

/**
 * Returns the first method that the server supports. A server without a list of methods supports Basic (RFC 8414,
 * section 2).
 */
function chooseMethod(server: oauth.AuthorizationServer, methods: readonly string[]): string {
  const { token_endpoint_auth_methods_supported: supported = ['client_secret_basic'] } = server;
  const method = methods.find((name) => stringsOf(supported).includes(name));
  if (method !== undefined) return method;
  const message = `The authorization server ${server.issuer} supports only client authentication with ${stringsOf(supported).join(' or ')}, but this client uses ${methods.join(', ')}.`;
  const advice =
    'Set `client` to a client without a secret, or ask the operator of the server to support one of these methods.';
  throw new OAuthError(message, { error: 'unsupported_client_authentication', advice });
}

/**
 * Registers a client (RFC 7591). Retries only if the server certainly created no client, because each request creates
 * one.
 */
export async function registerClient(
  http: OAuthHttp,
  server: oauth.AuthorizationServer,
  metadata: { readonly clientName: string; readonly redirectUri: string; readonly scope: string | undefined },
  signal: AbortSignal | undefined,
): Promise<StoredClient> {
  const { clientName, redirectUri, scope } = metadata;
  const method = chooseMethod(server, METHODS);
  if (server.registration_endpoint === undefined) {
    const message = `The authorization server ${server.issuer} does not register clients.`;
    throw new OAuthError(message, {
      error: 'registration_not_supported',
      advice: 'Set `client` to a registered client.',
    });
  }
  const request = {
    client_name: clientName,
    redirect_uris: [redirectUri],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: method,
    ...(scope !== undefined && { scope }),
  };
  // Do not decode with oauth4webapi, which refuses a secret without `client_secret_expires_at`: some servers omit this
  // field.
  const execute = async (parts: RequestParts): Promise<unknown> =>
    parseJson(await (await oauth.dynamicClientRegistrationRequest(server, request, parts)).text());
  const response = await http.send({
    name: 'Registering the client',
    server: server.issuer,
    retry: 'never',
    signal,
    execute,
  });
  const { client_id, client_secret, token_endpoint_auth_method } = isObject(response) ? response : {};
  if (typeof client_id !== 'string') {
    const message = `The authorization server ${server.issuer} responded to the registration without a \`client_id\`.`;
    throw new OAuthError(message, { error: 'invalid_response', advice: ASK_OPERATOR });
  }
  http.redactor.addSecret(client_secret);
  return {
    issuer: server.issuer,
    client_id,
    client_secret: typeof client_secret === 'string' && client_secret !== '' ? client_secret : undefined,
    token_endpoint_auth_method: typeof token_endpoint_auth_method === 'string' ? token_endpoint_auth_method : method,
    redirect_uris: [redirectUri],
  };
}

/** Returns an already registered client in the form of {@link registerClient}. */
export function existingClient(
  server: oauth.AuthorizationServer,
  { client_id, client_secret }: RegisteredClient,
  redirectUri: string,
): StoredClient {
  // A client without a secret can use only `none`, even if the server's metadata omit this method.
  const token_endpoint_auth_method = client_secret === undefined ? 'none' : chooseMethod(server, METHODS.slice(1));
  return { issuer: server.issuer, client_id, client_secret, token_endpoint_auth_method, redirect_uris: [redirectUri] };
}

export function authenticationOf({ client_secret, token_endpoint_auth_method }: StoredClient): oauth.ClientAuth {
  if (client_secret === undefined || token_endpoint_auth_method === 'none') return oauth.None();
  return token_endpoint_auth_method === 'client_secret_post'
    ? oauth.ClientSecretPost(client_secret)
    : basic(client_secret);
}

/**
 * HTTP Basic (RFC 6749, section 2.3.1). Does not use oauth4webapi, which also encodes hyphens: not every server decodes
 * them.
 */
const basic =
  (secret: string): oauth.ClientAuth =>
  (_server, { client_id }, _body, headers) => {
    const encoded = [client_id, secret].map((value) => new URLSearchParams({ '': value }).toString().slice(1));
    headers.set('authorization', `Basic ${btoa(encoded.join(':'))}`);
  };
