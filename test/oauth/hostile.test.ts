import { describe, expect, it } from 'vitest';
import { memoryTokenStore, type TokenStore } from '../../src/index.ts';
import type { OAuthClientOptions } from '../../src/oauth/index.ts';
import { consent, MCP, ping, signIn, startOAuthBench } from '../support/oauth.ts';
import { failureOf, startServer } from '../support/server.ts';

type Fetch = NonNullable<OAuthClientOptions['fetch']>;

/** Starts a bench whose client receives some responses changed. */
async function startTwisted(twist: (path: string, respond: () => Promise<Response>) => Promise<Response> | undefined) {
  const sent: { path: string; authorization: string | null }[] = [];
  const twisted: Fetch = async (input, init) => {
    const path = new URL(input instanceof Request ? input.url : String(input)).pathname;
    sent.push({ path, authorization: new Headers(init?.headers).get('authorization') });
    return (await twist(path, () => fetch(input, init))) ?? fetch(input, init);
  };
  return { ...(await startOAuthBench({}, { fetch: twisted })), sent };
}

/** Changes one metadata document. */
const document = (name: string, change: object) =>
  startTwisted((path, respond) => {
    if (!path.endsWith(name)) return undefined;
    return respond().then(async (response) => Response.json({ ...(await response.json()), ...change }));
  });

/** Changes the response of the token endpoint to a refresh. */
async function startRefreshing(change: object) {
  let exchanges = 0;
  const bench = await startTwisted((path, respond) => {
    if (path !== '/oauth/token' || ++exchanges !== 2) return undefined;
    return respond().then(async (response) => Response.json({ ...(await response.json()), ...change }));
  });
  await signIn(bench.oauth);
  return { ...bench, rejected: await bench.oauth.get() };
}

const SERVER = '/.well-known/oauth-authorization-server';

describe('server metadata', () => {
  it.each([
    [{ code_challenge_methods_supported: null }, 'pkce_unsupported'],
    [{ code_challenge_methods_supported: 'S256' }, 'pkce_unsupported'],
    [{ code_challenge_methods_supported: ['plain'] }, 'pkce_unsupported'],
    [{ token_endpoint_auth_methods_supported: 7 }, 'unsupported_client_authentication'],
    [{ authorization_endpoint: 'javascript:alert(1)' }, 'invalid_response'],
    [{ authorization_endpoint: 'https://bank.example@evil.example/authorize' }, 'invalid_response'],
    [{ authorization_endpoint: 'http://evil.example/authorize' }, 'invalid_response'],
    [{ registration_endpoint: 'http://evil.example/register' }, 'invalid_response'],
    [{ registration_endpoint: undefined }, 'registration_not_supported'],
    [{ issuer: 'https://evil.example' }, 'invalid_response'],
  ])('server metadata with %j is refused', async (change, error) => {
    const { oauth } = await document(SERVER, change);
    expect(await failureOf(oauth.authorize())).toMatchObject({ name: 'OAuthError', error });
  });

  it.each([
    [{ resource: 'https://evil.example/api/v2/mcp' }, 'invalid_target'],
    [{ authorization_servers: ['https://evil.example'] }, 'issuer_not_allowed'],
    [{ authorization_servers: ['not an address'] }, 'issuer_not_allowed'],
  ])('the client refuses metadata of the resource with %j', async (change, error) => {
    const { oauth } = await document('/.well-known/oauth-protected-resource', change);
    expect(await failureOf(oauth.authorize())).toMatchObject({ name: 'OAuthError', error });
  });

  it('is not requested twice when a connection of the `fetch` fails after the response', async () => {
    const { oauth, sent } = await startTwisted((path, respond) => {
      if (path !== '/oauth/register') return undefined;
      const failure = Object.assign(new Error('metrics'), { syscall: 'connect', address: '127.0.0.1', port: 1 });
      return respond().then(() => Promise.reject(failure));
    });
    expect(await failureOf(oauth.authorize())).toMatchObject({ name: 'ConnectionError' });
    expect(sent.filter(({ path }) => path === '/oauth/register')).toHaveLength(1);
  });

  it('cannot redirect the authorization response elsewhere', async () => {
    const { oauth, url } = await startTwisted((path, respond) => {
      if (path !== SERVER) return undefined;
      return respond().then(async (response) => {
        const body = await response.json();
        const authorization_endpoint = `${body.authorization_endpoint}?response_mode=fragment&request=evil&kept=1#part`;
        return Response.json({ ...body, authorization_endpoint });
      });
    });
    const address = new URL((await oauth.authorize()).url);
    expect(address.origin).toBe(url);
    expect(address.hash).toBe('');
    expect([...address.searchParams.keys()]).not.toContain('response_mode');
    expect([...address.searchParams.keys()]).not.toContain('request');
    expect(address.searchParams.get('kept')).toBe('1');
  });

  it('is read again after a lost connection', async () => {
    let cuts = 0;
    const { oauth } = await startTwisted((path) => {
      if (path !== SERVER || cuts++ > 0) return undefined;
      const start = new TextEncoder().encode('{"issuer":');
      const body = new ReadableStream({
        start: (controller) => controller.enqueue(start),
        pull: (controller) => controller.error(new TypeError('terminated')),
      });
      return Promise.resolve(new Response(body, { headers: { 'content-type': 'application/json' } }));
    });
    expect((await oauth.authorize()).url).toContain('/oauth/authorize');
    expect(cuts).toBe(2);
  });
});

describe('a callback', () => {
  it('a callback that is not a URL is refused by an error that does not contain it', async () => {
    const { oauth } = await startOAuthBench();
    const error = await failureOf(oauth.callback('http://[bad/?code=SECRET&state=x'));
    expect(error).toMatchObject({ name: 'OAuthError', error: 'invalid_request' });
    expect(JSON.stringify(error)).not.toContain('SECRET');
  });

  it('a callback with two states is refused, and the correct one is accepted afterwards', async () => {
    const { oauth, url } = await startOAuthBench();
    const back = await consent((await oauth.authorize()).url);
    expect(await failureOf(oauth.callback(`${back}&state=another`))).toMatchObject({ error: 'state_mismatch' });
    await oauth.callback(back);
    expect(await ping(oauth, url)).toBe(200);
  });
});

describe('a refresh', () => {
  it('a refresh with an absurd lifetime succeeds', async () => {
    const { oauth, rejected, store } = await startRefreshing({ expires_in: Number.MAX_SAFE_INTEGER });
    expect(await oauth.get({ rejected })).not.toBe(rejected);
    expect((await store.load())?.expiresAt).toMatch(/^\+275760/);
  });

  it.each([{ access_token: 'tok\nen-secret' }, { access_token: 'to ken' }, { token_type: 'dpop' }])(
    'a refresh with %j is refused, but its refresh token is kept and used',
    async (change) => {
      const { oauth, rejected, exchanges, url } = await startRefreshing(change);
      const error = await failureOf(oauth.get({ rejected }));
      expect(error).toMatchObject({ name: 'OAuthError', error: 'invalid_response' });
      expect(String(error)).not.toContain('secret');
      expect(await ping(oauth, url)).toBe(200);
      expect(exchanges()).toEqual([200, 200, 200]);
    },
  );
});

describe('a configured client', () => {
  it('refreshes with the secret that is configured now, and keeps the grant when that is wrong', async () => {
    const { url, store, clientWith, sandbox } = await startOAuthBench();
    const metadata = { redirect_uris: ['http://127.0.0.1:5000/callback'] };
    const headers = { 'content-type': 'application/json' };
    const registered = await fetch(`${url}/oauth/register`, {
      method: 'POST',
      headers,
      body: JSON.stringify(metadata),
    });
    const { client_id, client_secret } = await registered.json();
    await signIn(clientWith(store, { client: { client_id, client_secret } }));
    await sandbox.advance(3_600_000);
    const wrong = clientWith(store, { client: { client_id, client_secret: 'wrong' } });
    expect(await failureOf(ping(wrong, url))).toMatchObject({ name: 'OAuthError', error: 'invalid_client' });
    expect(await ping(clientWith(store, { client: { client_id, client_secret } }), url)).toBe(200);
  });
});

describe('a token store', () => {
  it('the token store of another service is never used', async () => {
    const one = await startOAuthBench();
    const another = await startTwisted(() => undefined);
    await signIn(one.oauth);
    const oauth = another.clientWith(one.store);
    for (const step of [() => ping(oauth, another.url), () => oauth.authorize(), () => oauth.revoke()]) {
      expect(await failureOf(step())).toMatchObject({
        code: 'configuration-invalid',
        message: expect.stringContaining(one.url),
      });
    }
    expect(another.sent.filter(({ authorization }) => authorization !== null)).toEqual([]);
    expect(await ping(one.oauth, one.url)).toBe(200);
  });

  it('a token store that cannot be locked or cleared rejects with `token-unavailable`', async () => {
    const { clientWith } = await startOAuthBench();
    const broken = (part: Partial<TokenStore>) => clientWith({ ...memoryTokenStore(), ...part });
    const fail = () => Promise.reject(new Error('no such disk'));
    expect(await failureOf(broken({ withLock: fail }).get())).toMatchObject({
      code: 'token-unavailable',
      message: 'The token store cannot be locked: no such disk',
    });
    expect(await failureOf(broken({ save: fail }).forget())).toMatchObject({ code: 'token-unavailable' });
  });
});

describe('`oauth.fetch`', () => {
  it('sends to the URL that it has checked, even if the caller changes the object', async () => {
    const evil = await startServer([{ text: 'hello' }]);
    const { oauth, url, sandbox } = await startOAuthBench();
    await signIn(oauth);
    const address = new URL(`${url}${MCP}`);
    const call = oauth.fetch(address);
    address.port = new URL(evil.url).port;
    await (await call).text();
    expect(await evil.seen()).toEqual([]);
    expect(sandbox.log.at(-1)).toMatchObject({ path: MCP });
  });
});
