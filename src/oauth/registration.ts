import {
  type AuthorizationServer,
  type Client,
  type ClientAuth,
  ClientSecretPost,
  dynamicClientRegistrationRequest,
  None,
  processDynamicClientRegistrationResponse,
} from 'oauth4webapi';
import { OAuthError } from '../errors/oauth-errors.ts';
import { isObject, parseJson } from '../util/json.ts';
import type { RegisteredClient } from './oauth-types.ts';
import type { ClientRecord } from './record.ts';
import type { Requests } from './requests.ts';
import { texts } from './servers.ts';

/** What a client is registered with. */
export interface Registration {
  readonly clientName: string;
  readonly redirectUri: string;
  readonly scope?: string | undefined;
}

/** Ways to authenticate at the token endpoint, the best first: a program in users' hands keeps no secret. */
const METHODS: readonly string[] = ['none', 'client_secret_post', 'client_secret_basic'];

/** RFC 8414, section 2: what holds where a server does not tell. */
const DEFAULT_METHODS: readonly string[] = ['client_secret_basic'];

function chooseMethod(server: AuthorizationServer, among: readonly string[]): string {
  const named = server.token_endpoint_auth_methods_supported;
  const offered = named === undefined ? DEFAULT_METHODS : texts(named);
  const method = among.find((one) => offered.includes(one));
  if (method !== undefined) return method;
  const message = `The authorization server wants clients to authenticate by ${offered.join(' or ')}; here it is ${among.join(', ')}.`;
  throw new OAuthError(message, { error: 'unsupported_client_authentication' });
}

/** Registers a client at a server (RFC 7591). A failed one is not repeated: each makes a client. */
export async function register(
  requests: Requests,
  server: AuthorizationServer,
  { clientName, redirectUri, scope }: Registration,
  signal: AbortSignal | undefined,
): Promise<ClientRecord> {
  const method = chooseMethod(server, METHODS);
  const metadata = {
    client_name: clientName,
    redirect_uris: [redirectUri],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: method,
    ...(scope !== undefined && { scope }),
  };
  if (server.registration_endpoint === undefined) {
    const message = 'The authorization server registers no clients by itself: give `client` with its `client_id`.';
    throw new OAuthError(message, { error: 'registration_not_supported' });
  }
  const answer = await requests.perform({
    what: 'Registering the client',
    retry: 'never',
    signal,
    async work(parts) {
      const response = await dynamicClientRegistrationRequest(server, metadata, parts);
      // Refusals are oauth4webapi's; of a success it asks for more than servers in use give.
      return response.ok ? parseJson(await response.text()) : processDynamicClientRegistrationResponse(response);
    },
  });
  const { client_id, client_secret, token_endpoint_auth_method: chosen } = isObject(answer) ? answer : {};
  if (typeof client_id !== 'string') {
    throw new OAuthError('The registration was answered without a `client_id`.', { error: 'invalid_response' });
  }
  const secret = typeof client_secret === 'string' && client_secret !== '' ? client_secret : undefined;
  if (secret !== undefined) requests.redactor.addSecret(secret);
  return record(server, { client_id, client_secret: secret }, typeof chosen === 'string' ? chosen : method, [
    redirectUri,
  ]);
}

/** A client that was registered by other means, as a record. */
export function adopt(server: AuthorizationServer, client: RegisteredClient, redirectUri: string): ClientRecord {
  const methods = client.client_secret === undefined ? ['none'] : METHODS.slice(1);
  // A public client has no other way, whatever the server says of those it registers.
  const method = methods.length === 1 ? 'none' : chooseMethod(server, methods);
  return record(server, client, method, [redirectUri]);
}

function record(
  { issuer }: AuthorizationServer,
  { client_id, client_secret }: RegisteredClient,
  token_endpoint_auth_method: string,
  redirect_uris: readonly string[],
): ClientRecord {
  return {
    issuer,
    client_id,
    ...(client_secret !== undefined && { client_secret }),
    token_endpoint_auth_method,
    redirect_uris,
  };
}

/** How a client authenticates, for oauth4webapi. */
export function authenticationOf({ client_secret, token_endpoint_auth_method }: ClientRecord): ClientAuth {
  if (client_secret === undefined || token_endpoint_auth_method === 'none') return None();
  return token_endpoint_auth_method === 'client_secret_post' ? ClientSecretPost(client_secret) : basic(client_secret);
}

/**
 * RFC 6749, section 2.3.1, encoded as forms are: oauth4webapi encodes hyphens, too, and not every server decodes them.
 */
const basic =
  (secret: string): ClientAuth =>
  (_, { client_id }, __, headers) => {
    const encoded = [client_id, secret].map((text) => new URLSearchParams({ '': text }).toString().slice(1));
    headers.set('authorization', `Basic ${btoa(encoded.join(':'))}`);
  };

/** A client as oauth4webapi knows it. */
export function clientOf({ client_id }: ClientRecord): Client {
  return { client_id };
}
