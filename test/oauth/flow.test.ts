import { describe, expect, it, vi } from 'vitest';
import { memoryTokenStore, OAuthError, ReauthorizationRequiredError } from '../../src/index.ts';
import { consent, MCP, ping, REDIRECT, signIn, startOAuthBench } from '../support/oauth.ts';
import { failureOf } from '../support/server.ts';

const RESOURCE = '/.well-known/oauth-protected-resource';
const SERVER = '/.well-known/oauth-authorization-server';

describe('a sign-in', () => {
  it('runs from discovery to a request with the token', async () => {
    const { oauth, url, store, sandbox } = await startOAuthBench();
    const { url: address, state } = await oauth.authorize();
    const asked = new URL(address);
    expect(asked.origin + asked.pathname).toBe(`${url}/oauth/authorize`);
    expect(Object.fromEntries(asked.searchParams)).toMatchObject({
      response_type: 'code',
      redirect_uri: REDIRECT,
      scope: 'mcp',
      state,
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: 'S256',
      resource: `${url}${MCP}`,
    });
    await oauth.callback(await consent(address));
    expect(await ping(oauth, url)).toBe(200);
    expect(await store.load()).toMatchObject({ token: await oauth.get(), expiresAt: expect.any(String) });
    const path = ['/oauth/register', '/oauth/authorize', '/oauth/token', MCP];
    expect(sandbox.log.map((one) => one.path)).toEqual([MCP, RESOURCE, SERVER, ...path]);
  });

  it('registers one client per redirect URI', async () => {
    const { oauth, clientWith, store, sandbox } = await startOAuthBench();
    await signIn(oauth);
    await signIn(clientWith(store));
    const registrations = (): number => sandbox.log.filter(({ path }) => path === '/oauth/register').length;
    expect(registrations()).toBe(1);
    const { url } = await oauth.authorize({ redirectUri: 'http://127.0.0.1:6000/callback' });
    expect(new URL(url).searchParams.get('redirect_uri')).toBe('http://127.0.0.1:6000/callback');
    expect(registrations()).toBe(2);
    expect(await failureOf(oauth.authorize({ redirectUri: 'http://app.example.com/' }))).toMatchObject({
      code: 'configuration-invalid',
    });
  });

  it('completes in another process with the same store, also with a path instead of a URL', async () => {
    const { oauth, clientWith, store, url } = await startOAuthBench();
    const { url: address } = await oauth.authorize();
    const other = clientWith(store);
    const { pathname, search } = new URL(await consent(address));
    await other.callback(`${pathname}${search}`);
    expect(await ping(other, url)).toBe(200);
    expect(await oauth.get()).toBe(await other.get());
  });

  it('can be one of several pending ones', async () => {
    const { oauth, url } = await startOAuthBench();
    const [first, second] = [await oauth.authorize(), await oauth.authorize()];
    await oauth.callback(await consent(first.url));
    await oauth.callback(await consent(second.url));
    expect(await ping(oauth, url)).toBe(200);
  });

  it('rejects with the reason why the account’s owner refused', async () => {
    const { oauth } = await startOAuthBench();
    const { url } = await oauth.authorize();
    const error = await failureOf(oauth.callback(await consent(url, 'deny')));
    expect(error).toMatchObject({ name: 'OAuthError', code: 'oauth-failed', error: 'access_denied' });
    expect(error).toMatchObject({ message: expect.stringContaining('The owner of the account refused') });
  });

  it('uses the configured client instead of registering one', async () => {
    const { url, sandbox, store, clientWith } = await startOAuthBench();
    const body = JSON.stringify({ redirect_uris: [REDIRECT], token_endpoint_auth_method: 'client_secret_basic' });
    const headers = { 'content-type': 'application/json' };
    const { client_id, client_secret } = await (
      await fetch(`${url}/oauth/register`, { method: 'POST', headers, body })
    ).json();
    const oauth = clientWith(store, { client: { client_id, client_secret } });
    await signIn(oauth);
    expect(await ping(oauth, url)).toBe(200);
    expect(sandbox.log.filter(({ path }) => path === '/oauth/register')).toHaveLength(1);
  });
});

describe('each step of a sign-in', () => {
  it('rejects with the reason of its signal, also while the store is locked', async () => {
    const { oauth, store, exchanges } = await startOAuthBench();
    const back = await consent((await oauth.authorize()).url);
    const busy = Promise.withResolvers<void>();
    const held = store.withLock(() => busy.promise);
    const reason = new Error('enough');
    const controller = new AbortController();
    const step = { signal: controller.signal };
    const steps = [oauth.authorize(step), oauth.callback(back, step), oauth.revoke(step)].map(failureOf);
    controller.abort(reason);
    expect(await Promise.all(steps)).toEqual([reason, reason, reason]);
    busy.resolve();
    await held;
    await store.withLock(async () => {});
    expect(exchanges()).toEqual([]);
    await oauth.callback(back);
  });
});

describe('a callback', () => {
  it.each([
    ['a forged state', { state: 'forged' }, 'state_mismatch'],
    ['no state', { state: '' }, 'state_mismatch'],
    ['another issuer', { iss: 'https://evil.example.com' }, 'issuer_mismatch'],
    ['no issuer', { iss: '' }, 'issuer_mismatch'],
  ])('a callback with %s is refused before any exchange', async (_, change, error) => {
    const { oauth, exchanges } = await startOAuthBench();
    const { url } = await oauth.authorize();
    const back = new URL(await consent(url));
    for (const [name, value] of Object.entries(change)) {
      if (value === '') back.searchParams.delete(name);
      else back.searchParams.set(name, value);
    }
    expect(await failureOf(oauth.callback(back))).toMatchObject({ name: 'OAuthError', error });
    expect(exchanges()).toEqual([]);
    expect(await failureOf(oauth.get())).toSatisfy((one) => ReauthorizationRequiredError.isInstance(one));
  });

  it('is accepted once', async () => {
    const { oauth, url, exchanges } = await startOAuthBench();
    const back = await consent((await oauth.authorize()).url);
    await oauth.callback(back);
    expect(await failureOf(oauth.callback(back))).toMatchObject({ error: 'state_mismatch' });
    expect(exchanges()).toEqual([200]);
    expect(await ping(oauth, url)).toBe(200);
  });

  it('is refused after ten minutes', async () => {
    const { oauth } = await startOAuthBench();
    const back = await consent((await oauth.authorize()).url);
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 601_000 });
    expect(await failureOf(oauth.callback(back))).toMatchObject({ error: 'state_mismatch' });
    vi.useRealTimers();
  });

  it('can be retried after a connection that was lost before the service acted', async () => {
    const { oauth, sandbox, url } = await startOAuthBench();
    const back = await consent((await oauth.authorize()).url);
    sandbox.faults.add({ on: '/oauth/token', cut: 'before', times: 1 });
    expect(await failureOf(oauth.callback(back))).toMatchObject({ code: 'connection-failed' });
    await oauth.callback(back);
    expect(await ping(oauth, url)).toBe(200);
  });

  it('is not retried automatically, because a code must not be used twice', async () => {
    const { oauth, sandbox, exchanges } = await startOAuthBench();
    const back = await consent((await oauth.authorize()).url);
    sandbox.faults.add({ on: '/oauth/token', cut: 'after', times: 1 });
    expect(await failureOf(oauth.callback(back))).toMatchObject({ code: 'connection-failed' });
    expect(exchanges()).toHaveLength(1);
    expect(await failureOf(oauth.callback(back))).toMatchObject({ error: 'invalid_grant', status: 400 });
  });
});

describe('a refusal of the server', () => {
  it('a server that refuses the scope rejects the sign-in with an `OAuthError`', async () => {
    const { oauth } = await startOAuthBench();
    const error = await failureOf(oauth.authorize({ scope: '*' }));
    expect(error).toMatchObject({ name: 'OAuthError', error: 'invalid_scope', status: 400 });
  });

  it('a server that refuses the redirect URI’s host rejects the sign-in with an `OAuthError`', async () => {
    const { clientWith } = await startOAuthBench();
    const oauth = clientWith(memoryTokenStore(), { redirectUri: 'https://not-approved.example.net/callback' });
    const error = await failureOf(oauth.authorize());
    expect(error).toSatisfy((one) => OAuthError.isInstance(one));
    expect(error).toMatchObject({ error: 'invalid_redirect_uri', message: expect.stringContaining('approved') });
  });

  it('the client retries a 503 of the authorization server, and rejects when it persists', async () => {
    const { oauth, sandbox } = await startOAuthBench();
    const back = sandbox.faults.add({ on: RESOURCE, status: 503, times: 2 });
    expect((await oauth.authorize()).url).toContain('/oauth/authorize');
    back();
    sandbox.faults.add({ on: SERVER, status: 503 });
    expect(await failureOf(oauth.authorize())).toMatchObject({ error: 'temporarily_unavailable', status: 503 });
    expect(sandbox.log.filter(({ path, status }) => path === SERVER && status === 503)).toHaveLength(5);
  });

  it('a server that does not know the client makes the next sign-in register again', async () => {
    const { clientWith, store, url } = await startOAuthBench();
    await signIn(clientWith(store));
    const stored = await store.load();
    // As if the service had lost its registrations.
    await store.save(JSON.parse(JSON.stringify(stored).replaceAll(/"client_id":"[^"]+"/g, '"client_id":"gone"')));
    const oauth = clientWith(store);
    expect(await failureOf(oauth.get({ rejected: stored?.token ?? '' }))).toMatchObject({ error: 'invalid_client' });
    await signIn(oauth);
    expect(await ping(oauth, url)).toBe(200);
  });

  it('a client without tokens registers again, because the server may have deleted an old registration', async () => {
    const { oauth, sandbox, url } = await startOAuthBench();
    await signIn(oauth);
    await oauth.revoke();
    await Promise.all([oauth.authorize(), oauth.authorize()]);
    await signIn(oauth);
    const registrations = sandbox.log.filter(({ path }) => path === '/oauth/register');
    // One for both tabs: the one that another tab has made for its sign-in is new.
    expect(registrations).toHaveLength(2);
    expect(await ping(oauth, url)).toBe(200);
  });
});
