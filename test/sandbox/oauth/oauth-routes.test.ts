import { describe, expect, it } from 'vitest';
import { credentials } from '../../support/sandbox.ts';
import { DAY, HOUR, MINUTE } from '../support/sandbox-calls.ts';
import { ORIGIN, REDIRECT, startOAuth } from '../support/sandbox-oauth.ts';

describe('discovery documents', () => {
  it('discovery describes the protected resource and its authorization server, without a token', async () => {
    const { sandbox } = await startOAuth();
    const read = async (name: string) => (await sandbox.fetch(`${ORIGIN}/.well-known/${name}`)).json();
    expect(await read('oauth-protected-resource')).toEqual({
      resource: `${ORIGIN}/api/v2/mcp`,
      authorization_servers: [ORIGIN],
      scopes_supported: ['mcp'],
      bearer_methods_supported: ['header'],
    });
    expect(await read('oauth-authorization-server')).toMatchObject({
      issuer: ORIGIN,
      authorization_endpoint: `${ORIGIN}/oauth/authorize`,
      token_endpoint: `${ORIGIN}/oauth/token`,
      registration_endpoint: `${ORIGIN}/oauth/register`,
      revocation_endpoint: `${ORIGIN}/oauth/revoke`,
      scopes_supported: ['mcp'],
      grant_types_supported: ['authorization_code', 'refresh_token'],
      code_challenge_methods_supported: ['S256'],
    });
  });
});

describe('client registration', () => {
  it('registration returns the client metadata of RFC 7591, with a secret for confidential clients', async () => {
    const { register } = await startOAuth();
    const open = await register({ redirect_uris: [REDIRECT], token_endpoint_auth_method: 'none', client_name: 'Mine' });
    expect(open).toMatchObject({
      status: 201,
      body: { client_id: expect.any(String), client_name: 'Mine', scope: 'mcp' },
    });
    expect(open.body).not.toHaveProperty('client_secret');
    expect((await register({ redirect_uris: [REDIRECT] })).body).toMatchObject({
      client_secret: expect.any(String),
      client_secret_expires_at: 0,
      token_endpoint_auth_method: 'client_secret_basic',
      grant_types: ['authorization_code', 'refresh_token'],
    });
  });

  it.each([
    ['scope *', { scope: '*' }, 'invalid_scope'],
    ['another scope', { scope: 'mcp admin' }, 'invalid_scope'],
    ['another grant type', { grant_types: ['authorization_code', 'password'] }, 'invalid_client_metadata'],
    ['another response type', { response_types: ['token'] }, 'invalid_client_metadata'],
    ['another authentication', { token_endpoint_auth_method: 'private_key_jwt' }, 'invalid_client_metadata'],
    ['a name that is not a string', { client_name: { toString: 1 } }, 'invalid_client_metadata'],
    ['a redirect URI that is not a string', { redirect_uris: [{ toString: 1 }] }, 'invalid_redirect_uri'],
    ['redirect URIs in a string', { redirect_uris: REDIRECT }, 'invalid_redirect_uri'],
    ['redirect URIs in an object', { redirect_uris: { 0: REDIRECT } }, 'invalid_redirect_uri'],
    ['grant types in a string', { grant_types: 'authorization_code' }, 'invalid_client_metadata'],
    ['response types in a string', { response_types: 'code' }, 'invalid_client_metadata'],
  ])('registration with %s is refused', async (_, metadata, error) => {
    const { register } = await startOAuth();
    expect(await register({ redirect_uris: [REDIRECT], ...metadata })).toMatchObject({ status: 400, body: { error } });
  });

  it.each([
    ['https://app.example.com/callback', 201],
    ['http://localhost:1/x', 201],
    ['http://127.0.0.1/x', 201],
    ['https://[::1]:9/x', 201],
    ['http://app.example.com/callback', 400],
    ['https://other.example.com/callback', 400],
    ['https://*.example.com/callback', 400],
    ['https://app.example.com/callback#part', 400],
    ['https://user@app.example.com/callback', 400],
    ['/callback', 400],
    ['http://localhost/*', 400],
    ['https://app.example.com/*/callback', 400],
    ['https://@localhost/', 400],
    ['http:localhost/cb', 400],
    [' http://localhost/cb', 400],
    ['http://localhost\\@evil/', 400],
    ['http://127.1/cb', 400],
    ['http://localhost.evil.example/', 400],
    ['http://127.0.0.1@evil.example/', 400],
    ['https://app.example.com', 201],
    ['com.example.app:/callback', 400],
  ])('registration of the redirect URI %s returns %i', async (uri, status) => {
    const { register } = await startOAuth({ redirectHosts: ['app.example.com'] });
    const response = await register({ redirect_uris: [uri] });
    expect(response.status).toBe(status);
    if (status === 400) expect(response.body).toMatchObject({ error: 'invalid_redirect_uri' });
  });

  it('registration without a redirect URI, or without an object, is refused', async () => {
    const { register } = await startOAuth();
    expect((await register({})).body.error).toBe('invalid_redirect_uri');
    expect((await register([])).body.error).toBe('invalid_redirect_uri');
  });
});

describe('authorization', () => {
  it.each([
    ['no code_challenge', { code_challenge: undefined }, 'invalid_request'],
    ['a code_challenge that is not a SHA-256', { code_challenge: 'x' }, 'invalid_request'],
    ['the method plain', { code_challenge_method: 'plain' }, 'invalid_request'],
    ['no method', { code_challenge_method: undefined }, 'invalid_request'],
    ['another scope', { scope: '*' }, 'invalid_scope'],
    ['another response type', { response_type: 'token' }, 'unsupported_response_type'],
    ['another resource', { resource: 'https://other.example.com/' }, 'invalid_target'],
    ['a resource with a similar origin', { resource: `${ORIGIN}.evil/mcp` }, 'invalid_target'],
  ])('authorization with %s redirects to the client with an error', async (_, more, error) => {
    const { sandbox, authorizationUrl } = await startOAuth();
    const response = await sandbox.fetch(authorizationUrl(more), { redirect: 'manual' });
    expect(response.status).toBe(303);
    const target = new URL(response.headers.get('location') ?? '');
    expect(`${target.origin}${target.pathname}`).toBe(REDIRECT);
    expect(Object.fromEntries(target.searchParams)).toMatchObject({ error, state: 's t', iss: ORIGIN });
  });

  it.each([
    ['an unknown client', { client_id: 'nobody' }, 'invalid_client'],
    ['a redirect URI that is not registered', { redirect_uri: 'https://evil.example/' }, 'invalid_request'],
    ['another path of loopback', { redirect_uri: 'http://127.0.0.1:5000/other' }, 'invalid_request'],
  ])('authorization with %s returns an OAuth error without a redirect', async (_, more, error) => {
    const { sandbox, authorizationUrl } = await startOAuth();
    const response = await sandbox.fetch(authorizationUrl(more), { redirect: 'manual' });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error, error_description: expect.any(String) });
  });

  it('the page asks to log in first, then for consent in the name of the session', async () => {
    const { sandbox, authorizationUrl, redeem, register } = await startOAuth();
    const { client_id } = (
      await register({ redirect_uris: [REDIRECT], client_name: '<b>Mine</b>', token_endpoint_auth_method: 'none' })
    ).body;
    const url = authorizationUrl({ client_id });
    const login = await sandbox.fetch(url);
    expect(await login.text()).toContain('&lt;b&gt;Mine&lt;/b&gt; asks for access to your account.');
    const body = new URLSearchParams(credentials);
    const loggedIn = await sandbox.fetch(url, { method: 'POST', body, redirect: 'manual' });
    expect([loggedIn.status, loggedIn.headers.get('location')]).toEqual([303, url]);
    expect(loggedIn.headers.get('set-cookie')).toMatch(/^session_\w+=[\w-]+; Path=\/; HttpOnly; SameSite=Strict$/);
    const cookie = loggedIn.headers.get('set-cookie')?.split(';')[0] ?? '';
    const page = await (await sandbox.fetch(url, { headers: { cookie } })).text();
    expect(page).toContain('Allow &lt;b&gt;Mine&lt;/b&gt; to use your account?');
    expect(page).toContain(credentials.email);
    const decide = (headers: Record<string, string>) =>
      sandbox.fetch(url, {
        method: 'POST',
        headers: { cookie, ...headers },
        body: new URLSearchParams({ decision: 'allow' }),
        redirect: 'manual',
      });
    for (const headers of [{ 'sec-fetch-site': 'same-site' }, { origin: 'https://evil.example' }]) {
      expect((await decide(headers)).status).toBe(401);
      const forced = await sandbox.fetch(url, { method: 'POST', headers, body, redirect: 'manual' });
      expect([forced.status, forced.headers.get('set-cookie')]).toEqual([401, null]);
    }
    expect(sandbox.log.at(-1)?.why).toBe('Submit the form on this page.');
    const allowed = new URL((await decide({})).headers.get('location') ?? '');
    expect((await redeem(allowed.searchParams.get('code') ?? '', { client_id })).status).toBe(200);
  });

  it('a browser that comes from another site opens the page again, with the cookie of the session', async () => {
    const { sandbox, authorizationUrl } = await startOAuth();
    const headers = { 'sec-fetch-site': 'cross-site' };
    const first = await (await sandbox.fetch(authorizationUrl(), { headers })).text();
    expect(first).toMatch(/content="0; url=\/oauth\/authorize\?.*&amp;again=1"/);
    const again = authorizationUrl({ again: '1' });
    expect(await (await sandbox.fetch(again, { headers })).text()).toContain('Log in');
  });

  it('the consent page takes the credentials of the account and a decision', async () => {
    const { sandbox, authorizationUrl, redeem } = await startOAuth();
    const decide = (form: Record<string, string>) =>
      sandbox.fetch(authorizationUrl(), { method: 'POST', body: new URLSearchParams(form), redirect: 'manual' });
    const wrong = await decide({ email: credentials.email, password: 'wrong', decision: 'allow' });
    expect(wrong.status).toBe(401);
    const again = await wrong.text();
    expect(again).toContain('These credentials do not match our records.');
    // The email is kept, the password is not.
    expect(again).toContain(`value="${credentials.email}"`);
    expect(again).not.toContain('wrong');
    const denied = new URL((await decide({ decision: 'deny' })).headers.get('location') ?? '');
    expect(denied.searchParams.get('error')).toBe('access_denied');
    const allowed = new URL((await decide({ ...credentials, decision: 'allow' })).headers.get('location') ?? '');
    expect(Object.fromEntries(allowed.searchParams)).toMatchObject({ state: 's t', iss: ORIGIN });
    expect((await redeem(allowed.searchParams.get('code') ?? '')).status).toBe(200);
  });

  it('another account can give its consent', async () => {
    const { sandbox, authorizationUrl } = await startOAuth();
    const other = { email: 'bo@example.com', password: 'other' };
    sandbox.accounts.create(other);
    const send = (form: Record<string, string>, cookie = '') =>
      sandbox.fetch(authorizationUrl(), {
        method: 'POST',
        headers: { cookie },
        body: new URLSearchParams(form),
        redirect: 'manual',
      });
    const first = (await send(credentials)).headers.get('set-cookie')?.split(';')[0] ?? '';
    const page = (cookie: string) =>
      sandbox.fetch(authorizationUrl(), { headers: { cookie } }).then((sent) => sent.text());
    expect(await page(first)).toContain('Use another account');
    expect(await (await send({ decision: 'switch' }, first)).text()).toContain('name="password"');
    const second = (await send(other, first)).headers.get('set-cookie')?.split(';')[0] ?? '';
    expect(await page(second)).toContain(`for ${other.email}`);
    expect(await page(first)).toContain('name="password"');
  });

  it('a loopback redirect URI may have any port', async () => {
    const { sandbox, account, authorizationUrl } = await startOAuth();
    const url = sandbox.oauth.consent(account, authorizationUrl({ redirect_uri: 'http://127.0.0.1:6001/callback' }));
    expect(new URL(url).port).toBe('6001');
  });
});

describe('an authorization code', () => {
  it('a code is exchanged once, within ten minutes, with its verifier, client and redirect URI', async () => {
    const { sandbox, redeem, authorize, register } = await startOAuth();
    const invalid = { status: 400, body: { error: 'invalid_grant', error_description: expect.any(String) } };
    expect(await redeem(authorize(), { code_verifier: 'another-verifier-of-forty-three-characters' })).toMatchObject(
      invalid,
    );
    expect(await redeem(authorize(), { redirect_uri: 'http://127.0.0.1:1/' })).toMatchObject(invalid);
    const other = (await register({ redirect_uris: [REDIRECT], token_endpoint_auth_method: 'none' })).body.client_id;
    expect(await redeem(authorize(), { client_id: other })).toMatchObject(invalid);
    const late = authorize();
    await sandbox.advance(10 * MINUTE);
    expect(await redeem(late)).toMatchObject(invalid);
    const code = authorize();
    const response = await redeem(code);
    expect(response.body).toEqual({
      access_token: expect.any(String),
      token_type: 'Bearer',
      expires_in: 3_600,
      refresh_token: expect.any(String),
      scope: 'mcp',
    });
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(await redeem(code)).toMatchObject(invalid);
  });

  it('a code that is used twice revokes its tokens', async () => {
    const { authorize, redeem, ping, refresh } = await startOAuth();
    const code = authorize();
    const { body } = await redeem(code);
    expect(await ping(body.access_token)).toBe(200);
    expect((await redeem(code)).body.error_description).toContain('revoked');
    expect(await ping(body.access_token)).toBe(401);
    expect((await refresh(body.refresh_token)).body.error).toBe('invalid_grant');
  });

  it('a password change invalidates codes', async () => {
    const { account, authorize, redeem } = await startOAuth();
    const code = authorize();
    account.changePassword('new');
    expect((await redeem(code)).body.error).toBe('invalid_grant');
  });

  it('the code of a confidential client requires its secret, in the body or by Basic authentication', async () => {
    const { sandbox, account, authorizationUrl, redeem, register, post } = await startOAuth();
    const { client_id, client_secret } = (await register({ redirect_uris: [REDIRECT] })).body;
    const code = (): string =>
      new URL(sandbox.oauth.consent(account, authorizationUrl({ client_id }))).searchParams.get('code') ?? '';
    expect(await redeem(code(), { client_id })).toMatchObject({ status: 401, body: { error: 'invalid_client' } });
    expect((await redeem(code(), { client_id, client_secret })).status).toBe(200);
    const authorization = `Basic ${btoa(`${client_id}:${client_secret}`)}`;
    expect((await post('/oauth/token', { grant_type: 'password' }, { authorization })).body).toMatchObject({
      error: 'unsupported_grant_type',
    });
    expect((await post('/oauth/token', {}, { authorization: 'Basic %%%' })).body.error).toBe('invalid_client');
  });
});

describe('OAuth tokens', () => {
  it('access tokens live an hour, refresh tokens 60 days', async () => {
    const { sandbox, connect, refresh, ping } = await startOAuth();
    const first = await connect();
    expect(await ping(first.access_token)).toBe(200);
    await sandbox.advance(HOUR - 1);
    expect(await ping(first.access_token)).toBe(200);
    await sandbox.advance(1);
    expect(await ping(first.access_token)).toBe(401);
    await sandbox.advance(60 * DAY - HOUR - 1);
    const { body: second } = await refresh(first.refresh_token);
    expect(await ping(second.access_token)).toBe(200);
    await sandbox.advance(60 * DAY);
    expect(await refresh(second.refresh_token)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
  });

  it('a refresh returns a new pair and invalidates the old one', async () => {
    const { connect, refresh, ping } = await startOAuth();
    const first = await connect();
    const { body: second } = await refresh(first.refresh_token);
    expect([await ping(first.access_token), await ping(second.access_token)]).toEqual([401, 200]);
    expect(await refresh(first.refresh_token)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
    expect((await refresh(second.refresh_token, { scope: '*' })).body.error).toBe('invalid_scope');
    expect((await refresh(second.refresh_token)).status).toBe(200);
  });

  it('either token can be revoked; a refresh token is revoked with its access token', async () => {
    const { connect, refresh, ping, post, client_id, register } = await startOAuth();
    const first = await connect();
    const revoke = (token: string, more = {}) => post('/oauth/revoke', { client_id, token, ...more });
    const stranger = (await register({ redirect_uris: [REDIRECT], token_endpoint_auth_method: 'none' })).body.client_id;
    expect((await revoke(first.access_token, { client_id: stranger })).status).toBe(200);
    expect(await ping(first.access_token)).toBe(200);
    expect((await revoke(first.access_token)).status).toBe(200);
    expect(await ping(first.access_token)).toBe(401);
    const { body: second } = await refresh(first.refresh_token);
    expect((await revoke(second.refresh_token)).status).toBe(200);
    expect(await ping(second.access_token)).toBe(401);
    expect((await refresh(second.refresh_token)).body.error).toBe('invalid_grant');
    expect((await revoke('unknown')).status).toBe(200);
    expect((await post('/oauth/revoke', { token: 'x' })).body.error).toBe('invalid_client');
  });

  it('a revocation without a token is a 400', async () => {
    const { post, client_id } = await startOAuth();
    const { status, body } = await post('/oauth/revoke', { client_id });
    expect({ status, error: body.error }).toEqual({ status: 400, error: 'invalid_request' });
  });

  it('OAuth connections survive console logins and logouts; a password change revokes them', async () => {
    const { account, connect, refresh, ping } = await startOAuth();
    const { access_token, refresh_token } = await connect();
    account.token('login');
    account.logout();
    expect(await ping(access_token)).toBe(200);
    account.changePassword('new');
    expect(await ping(access_token)).toBe(401);
    expect((await refresh(refresh_token)).body.error).toBe('invalid_grant');
  });

  it('the console lists and revokes OAuth connections', async () => {
    const { sandbox, account, connect, refresh, ping } = await startOAuth();
    const first = await connect();
    const [listed] = account.connections();
    expect(account.connections()).toEqual([
      { id: expect.any(Number), client: 'Unnamed client', expiresAt: new Date(sandbox.now() + 60 * DAY) },
    ]);
    const { body: second } = await refresh(first.refresh_token);
    expect(account.connections()).toMatchObject([{ id: listed?.id }]);
    account.revokeConnection(listed?.id ?? 0);
    expect(await ping(second.access_token)).toBe(401);
    expect(account.connections()).toEqual([]);
    expect(() => account.revokeConnection(listed?.id ?? 0)).toThrow(/no OAuth connection/);
  });

  it('OAuth tokens are valid on the MCP endpoint only', async () => {
    const { sandbox, connect } = await startOAuth();
    const { access_token } = await connect();
    const headers = { accept: 'application/json', authorization: `Bearer ${access_token}` };
    expect((await sandbox.fetch(`${ORIGIN}/api/v2/usage`, { headers })).status).toBe(401);
  });
});
