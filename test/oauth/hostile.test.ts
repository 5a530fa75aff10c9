import { describe, expect, it } from 'vitest';
import { memoryTokenStore, type TokenStore } from '../../src/index.ts';
import type { OAuthClientOptions } from '../../src/oauth/index.ts';
import { consent, MCP, ping, signIn, startOAuthBench } from '../support/oauth.ts';
import { failureOf, startServer } from '../support/server.ts';

type Fetch = NonNullable<OAuthClientOptions['fetch']>;

/** A bench whose client gets some answers otherwise than the service gives them. */
async function startTwisted(twist: (path: string, answer: () => Promise<Response>) => Promise<Response> | undefined) {
  const sent: { path: string; authorization: string | null }[] = [];
  const twisted: Fetch = async (input, init) => {
    const path = new URL(input instanceof Request ? input.url : String(input)).pathname;
    sent.push({ path, authorization: new Headers(init?.headers).get('authorization') });
    return (await twist(path, () => fetch(input, init))) ?? fetch(input, init);
  };
  return { ...(await startOAuthBench({}, { fetch: twisted })), sent };
}

/** Changes one document. */
const document = (name: string, change: object) =>
  startTwisted((path, answer) => {
    if (!path.endsWith(name)) return undefined;
    return answer().then(async (response) => Response.json({ ...(await response.json()), ...change }));
  });

/** Changes what the token endpoint answers to a renewal. */
async function startRenewing(change: object) {
  let exchanges = 0;
  const bench = await startTwisted((path, answer) => {
    if (path !== '/oauth/token' || ++exchanges !== 2) return undefined;
    return answer().then(async (response) => Response.json({ ...(await response.json()), ...change }));
  });
  await signIn(bench.oauth);
  return { ...bench, rejected: await bench.oauth.get() };
}

const SERVER = '/.well-known/oauth-authorization-server';

describe('documents', () => {
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
  ])('with %j are refused', async (change, error) => {
    const { oauth } = await document(SERVER, change);
    expect(await failureOf(oauth.authorize())).toMatchObject({ name: 'OAuthError', error });
  });

  it.each([
    [{ resource: 'https://evil.example/api/v2/mcp' }, 'invalid_target'],
    [{ authorization_servers: ['https://evil.example'] }, 'issuer_not_allowed'],
    [{ authorization_servers: ['not an address'] }, 'issuer_not_allowed'],
  ])('of the resource with %j are refused', async (change, error) => {
    const { oauth } = await document('/.well-known/oauth-protected-resource', change);
    expect(await failureOf(oauth.authorize())).toMatchObject({ name: 'OAuthError', error });
  });

  it('cannot have the answer come in another way', async () => {
    const { oauth, url } = await startTwisted((path, answer) => {
      if (path !== SERVER) return undefined;
      return answer().then(async (response) => {
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

  it('that break off are read again', async () => {
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
  it('that is no address is refused without showing it', async () => {
    const { oauth } = await startOAuthBench();
    const error = await failureOf(oauth.callback('http://[bad/?code=SECRET&state=x'));
    expect(error).toMatchObject({ name: 'OAuthError', error: 'invalid_request' });
    expect(JSON.stringify(error)).not.toContain('SECRET');
  });

  it('with a state of two is of no sign-in, and the right one may still come', async () => {
    const { oauth, url } = await startOAuthBench();
    const back = await consent((await oauth.authorize()).url);
    expect(await failureOf(oauth.callback(`${back}&state=another`))).toMatchObject({ error: 'state_mismatch' });
    await oauth.callback(back);
    expect(await ping(oauth, url)).toBe(200);
  });
});

describe('a renewal', () => {
  it('with an absurd lifetime is one all the same', async () => {
    const { oauth, rejected, store } = await startRenewing({ expires_in: Number.MAX_SAFE_INTEGER });
    expect(await oauth.get({ rejected })).not.toBe(rejected);
    expect((await store.load())?.expiresAt).toMatch(/^\+275760/);
  });

  it.each([{ access_token: 'tok\nen-secret' }, { access_token: 'to ken' }, { token_type: 'dpop' }])(
    'with %j is refused; its refresh token is kept and renews',
    async (change) => {
      const { oauth, rejected, exchanges, url } = await startRenewing(change);
      const error = await failureOf(oauth.get({ rejected }));
      expect(error).toMatchObject({ name: 'OAuthError', error: 'invalid_response' });
      expect(String(error)).not.toContain('secret');
      expect(await ping(oauth, url)).toBe(200);
      expect(exchanges()).toEqual([200, 200, 200]);
    },
  );
});

describe('a client that is given', () => {
  it('renews with the secret that it is given now, and loses no grant by a wrong one', async () => {
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

describe('a store', () => {
  it('of another service gives it nothing', async () => {
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

  it('that cannot be locked, or emptied, says so', async () => {
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

describe('the authorized fetch', () => {
  it('sends to the address that it has looked at, whatever becomes of the object', async () => {
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

  it('does not repeat a body that it cannot know to be there still', async () => {
    const { oauth, url, sandbox, exchanges } = await startOAuthBench();
    await signIn(oauth);
    await sandbox.advance(3_600_000);
    async function* once() {
      yield new TextEncoder().encode('{}');
    }
    const init: object = { method: 'POST', body: once(), duplex: 'half' };
    expect((await oauth.fetch(`${url}${MCP}`, init)).status).toBe(401);
    expect(exchanges()).toEqual([200]);
  });
});
