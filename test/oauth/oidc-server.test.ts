import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import * as oauth from 'oauth4webapi';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type OidcOptions, type OidcServer, startOidc } from '../support/oidc-server.ts';
import { quickly } from '../support/quickly.ts';

const redirectUri = 'http://127.0.0.1:5000/callback';
const overHttp = { [oauth.allowInsecureRequests]: true };

/** Finds the authorization server of a resource by its documents. */
async function discover({ resource }: OidcServer) {
  const address = new URL(resource);
  const metadata = await oauth.resourceDiscoveryRequest(address, overHttp);
  const { authorization_servers } = await oauth.processResourceDiscoveryResponse(address, metadata);
  const issuer = new URL(authorization_servers?.[0] ?? '');
  const response = await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...overHttp });
  return oauth.processDiscoveryResponse(issuer, response);
}

/** Registers a client: public, or one with a secret. */
async function register(server: oauth.AuthorizationServer, method = 'none', more = {}) {
  const metadata = {
    client_name: 'test',
    redirect_uris: [redirectUri],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: method,
    scope: 'mcp',
    ...more,
  };
  const response = await oauth.dynamicClientRegistrationRequest(server, metadata, overHttp);
  const client = await oauth.processDynamicClientRegistrationResponse(response);
  const secret = String(client.client_secret);
  const authenticate = {
    none: oauth.None(),
    client_secret_basic: oauth.ClientSecretBasic(secret),
    client_secret_post: oauth.ClientSecretPost(secret),
  }[String(client.token_endpoint_auth_method)];
  if (!authenticate) throw new Error('The client must use a supported authentication method.');
  return { client, authenticate };
}

/** Signs in with PKCE, and returns the first tokens and what a client can do with them. */
async function signIn(options: OidcOptions = {}, { method = 'none', query = {} } = {}) {
  const oidc = await startOidc(options);
  const server = await discover(oidc);
  const { client, authenticate } = await register(server, method);
  const verifier = oauth.generateRandomCodeVerifier();
  const state = oauth.generateRandomState();
  const code_challenge = await oauth.calculatePKCECodeChallenge(verifier);
  const asked = { client_id: client.client_id, state, resource: oidc.resource, code_challenge, ...query };
  const back = new URL(await oidc.consent(authorizationUrl(server, asked)));
  const params = oauth.validateAuthResponse(server, client, back, state);
  const by = [server, client, authenticate] as const;
  const response = await oauth.authorizationCodeGrantRequest(...by, params, redirectUri, verifier, overHttp);
  const first = await oauth.processAuthorizationCodeResponse(server, client, response);
  const refresh = async ({ refresh_token = '' }: oauth.TokenEndpointResponse) =>
    oauth.processRefreshTokenResponse(
      server,
      client,
      await oauth.refreshTokenGrantRequest(...by, refresh_token, overHttp),
    );
  const revoke = async (token = '') =>
    oauth.processRevocationResponse(await oauth.revocationRequest(...by, token, overHttp));
  return { oidc, first, refresh, revoke, ping: (token?: string) => ping(oidc, token) };
}

function authorizationUrl(server: oauth.AuthorizationServer, more: Record<string, string | undefined>): URL {
  const url = new URL(server.authorization_endpoint ?? '');
  const fixed = { response_type: 'code', redirect_uri: redirectUri, scope: 'mcp', code_challenge_method: 'S256' };
  for (const [name, value] of Object.entries({ ...fixed, ...more }))
    if (value !== undefined) url.searchParams.set(name, value);
  return url;
}

/** Sends an MCP ping without a client. */
async function ping({ resource }: OidcServer, token?: string) {
  const { status, headers } = await fetch(resource, {
    method: 'POST',
    headers: {
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }),
  });
  return { status, challenge: headers.get('www-authenticate') };
}

const invalidGrant = { error: 'invalid_grant', status: 400 };

describe('the authorization server for tests', () => {
  it('publishes the metadata that OAuth 2.1 requires', async () => {
    const oidc = await startOidc();
    expect(await discover(oidc)).toMatchObject({
      issuer: oidc.url,
      response_types_supported: ['code'],
      grant_types_supported: ['authorization_code', 'refresh_token'],
      code_challenge_methods_supported: ['S256'],
      scopes_supported: expect.arrayContaining(['mcp']),
      token_endpoint_auth_methods_supported: ['none', 'client_secret_basic', 'client_secret_post'],
      authorization_response_iss_parameter_supported: true,
      registration_endpoint: expect.stringContaining(oidc.url),
      revocation_endpoint: expect.stringContaining(oidc.url),
    });
    expect(new URL(oidc.resource).origin).toBe(oidc.url);
  });

  it.each(['none', 'client_secret_basic', 'client_secret_post'])(
    'signs in a client that authenticates by %s',
    async (method) => {
      const { oidc, first, refresh, ping } = await signIn({}, { method });
      expect(first).toMatchObject({
        token_type: 'bearer',
        scope: 'mcp',
        expires_in: 3_600,
        refresh_token: expect.any(String),
      });
      expect(first).not.toHaveProperty('id_token');
      const second = await refresh(first);
      expect(await ping(second.access_token)).toMatchObject({ status: 200 });
      expect(oidc.requests).toEqual([
        { grantType: 'authorization_code', status: 200 },
        { grantType: 'refresh_token', status: 200 },
      ]);
    },
  );

  it.each([
    ['the same origin', false],
    ['another', true],
  ])('lets the official MCP client call the tool on %s', async (_, separateResource) => {
    const { oidc, first } = await signIn({ separateResource });
    expect(new URL(oidc.resource).origin === oidc.url).toBe(!separateResource);
    const mcp = new Client({ name: 'test', version: '1' });
    onTestFinished(() => mcp.close());
    const headers = { authorization: `Bearer ${first.access_token}` };
    await mcp.connect(new StreamableHTTPClientTransport(new URL(oidc.resource), { requestInit: { headers } }));
    expect(await mcp.callTool({ name: 'echo', arguments: { text: 'hello' } })).toMatchObject({
      content: [{ type: 'text', text: 'hello' }],
    });
  });

  it('refuses requests without a valid token and names the URL of the metadata', async () => {
    const { oidc, ping } = await signIn();
    const metadata = `resource_metadata="${oidc.url}/.well-known/oauth-protected-resource"`;
    expect(await ping()).toEqual({ status: 401, challenge: `Bearer ${metadata}` });
    expect(await ping('dead')).toEqual({ status: 401, challenge: `Bearer error="invalid_token", ${metadata}` });
  });

  it('expires access tokens on time', () =>
    quickly(async () => {
      const { first, ping } = await signIn({ accessTokenTtl: 1 });
      expect(first.expires_in).toBe(1);
      await new Promise((resolve) => setTimeout(resolve, 2_000));
      expect((await ping(first.access_token)).status).toBe(401);
    }));

  it('revokes access tokens on demand, after which a refresh works', async () => {
    const { oidc, first, refresh, ping } = await signIn();
    oidc.endAccessTokens();
    expect(await ping(first.access_token)).toMatchObject({ status: 401 });
    expect(await ping((await refresh(first)).access_token)).toMatchObject({ status: 200 });
  });

  it('can be closed during a test', async () => {
    const { oidc, first, refresh } = await signIn({ separateResource: true });
    await oidc.close();
    await expect(refresh(first)).rejects.toThrow('fetch failed');
    await expect(ping(oidc)).rejects.toThrow('fetch failed');
  });

  it('revokes the family of a refresh token that is used twice', async () => {
    const { oidc, first, refresh, ping } = await signIn();
    const second = await refresh(first);
    expect(second.refresh_token).not.toBe(first.refresh_token);
    expect(await ping(first.access_token)).toMatchObject({ status: 200 });
    await expect(refresh(first)).rejects.toMatchObject(invalidGrant);
    await expect(refresh(second)).rejects.toMatchObject(invalidGrant);
    for (const { access_token } of [first, second]) expect(await ping(access_token)).toMatchObject({ status: 401 });
    expect(oidc.requests.map(({ status }) => status)).toEqual([200, 200, 400, 400]);
  });

  it('refuses only the reused refresh token with `revokeFamily: false`', async () => {
    const { first, refresh, ping } = await signIn({ revokeFamily: false });
    const second = await refresh(first);
    await expect(refresh(first)).rejects.toMatchObject(invalidGrant);
    expect(await ping(second.access_token)).toMatchObject({ status: 200 });
    const third = await refresh(second);
    expect(await ping(third.access_token)).toMatchObject({ status: 200 });
  });

  it.each(['refresh_token', 'access_token'] as const)('revokes the entire grant with its %s', async (which) => {
    const { first, refresh, revoke, ping } = await signIn();
    await revoke(first[which]);
    expect(await ping(first.access_token)).toMatchObject({ status: 401 });
    await expect(refresh(first)).rejects.toMatchObject(invalidGrant);
  });

  it('requires PKCE and its own resource', async () => {
    const oidc = await startOidc();
    const server = await discover(oidc);
    const { client_id } = (await register(server)).client;
    const challenge = await oauth.calculatePKCECodeChallenge(oauth.generateRandomCodeVerifier());
    const errorOf = async (more: Record<string, string>) => {
      const back = await oidc.consent(authorizationUrl(server, { client_id, state: 's', ...more }));
      return Object.fromEntries(new URL(back).searchParams);
    };
    const from = { state: 's', iss: oidc.url };
    expect(await errorOf({})).toMatchObject({ error: 'invalid_request', ...from });
    const other = { code_challenge: challenge, resource: 'https://other.example.com/' };
    expect(await errorOf(other)).toMatchObject({ error: 'invalid_target', ...from });
  });

  it('issues a token that the MCP endpoint rejects to a client that names no resource', async () => {
    const { first, ping } = await signIn({}, { query: { resource: undefined } });
    expect(first.scope).toBe('mcp');
    expect(await ping(first.access_token)).toMatchObject({ status: 401 });
  });

  it('allows any loopback port for native clients only', async () => {
    const oidc = await startOidc();
    const server = await discover(oidc);
    const redirect_uri = redirectUri.replace('5000', '6001');
    const code_challenge = await oauth.calculatePKCECodeChallenge(oauth.generateRandomCodeVerifier());
    const comeBack = async (application_type: string) => {
      const { client_id } = (await register(server, 'none', { application_type })).client;
      return oidc.consent(authorizationUrl(server, { client_id, redirect_uri, code_challenge }));
    };
    expect(await comeBack('native')).toContain(`${redirect_uri}?code=`);
    await expect(comeBack('web')).rejects.toThrow('/auth answered 400: invalid_redirect_uri');
  });
});
