import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { describe, expect, it, onTestFinished } from 'vitest';
import { memoryTokenStore, type StoredToken } from '../../src/index.ts';
import { createOAuthClient, type OAuthClientOptions } from '../../src/oauth/index.ts';
import { REDIRECT } from '../support/oauth.ts';
import { startOidc } from '../support/oidc-server.ts';
import { failureOf, quick } from '../support/server.ts';

/** A client of an independent authorization server, and of an MCP endpoint that the server protects. */
async function startProvider(options = {}, own: Partial<OAuthClientOptions> = {}) {
  const oidc = await startOidc(options);
  const store = memoryTokenStore();
  const defaults = { baseUrl: new URL(oidc.resource).origin, redirectUri: REDIRECT, store, ...quick };
  const oauth = createOAuthClient({ ...defaults, ...own });
  const signIn = async (): Promise<void> => oauth.callback(await oidc.consent((await oauth.authorize()).url));
  /** Calls a tool by the official client. */
  const echo = async (text: string): Promise<unknown> => {
    const client = new Client({ name: 'test', version: '1' });
    await client.connect(new StreamableHTTPClientTransport(new URL(oidc.resource), { fetch: oauth.fetch }));
    onTestFinished(() => client.close());
    return (await client.callTool({ name: 'echo', arguments: { text } })).content;
  };
  const grants = (): string[] => oidc.requests.map(({ grantType, status }) => `${grantType} ${status}`);
  return { oidc, oauth, store, signIn, echo, grants };
}

/** A client of the same server with a state that was stored earlier. */
async function restored(resource: string, stored: StoredToken | undefined) {
  const store = memoryTokenStore();
  await store.save(stored);
  return createOAuthClient({ baseUrl: new URL(resource).origin, redirectUri: REDIRECT, store, ...quick });
}

it('a client of a real authorization server runs from the first 401 to the revocation', async () => {
  const { oidc, oauth, store, signIn, echo, grants } = await startProvider();
  expect((await fetch(oidc.resource, { method: 'POST' })).status).toBe(401);
  expect(await failureOf(echo('early'))).toMatchObject({ code: 'reauthorization-required' });

  await signIn();
  expect(await echo('hello')).toEqual([{ type: 'text', text: 'hello' }]);
  const old = await store.load();

  oidc.endAccessTokens();
  expect(await echo('renewed')).toEqual([{ type: 'text', text: 'renewed' }]);
  expect(grants()).toEqual(['authorization_code 200', 'refresh_token 200']);

  const sibling = await restored(oidc.resource, old);
  expect(await failureOf(sibling.get({ rejected: old?.token ?? '' }))).toMatchObject({ error: 'invalid_grant' });
  oidc.endAccessTokens();
  expect(await failureOf(echo('after a replay'))).toMatchObject({ code: 'reauthorization-required' });
  await signIn();
  expect(await echo('on')).toEqual([{ type: 'text', text: 'on' }]);

  const last = await store.load();
  await oauth.revoke();
  const revoked = await restored(oidc.resource, last);
  expect(await revoked.fetch(oidc.resource, { method: 'POST' }).catch((error) => error)).toMatchObject({
    error: 'invalid_grant',
  });
  expect(await failureOf(echo('late'))).toMatchObject({ error: 'no_grant' });
});

describe('an authorization server on another origin', () => {
  it('is used if `allowedIssuers` contains it, and never receives the bearer token', async () => {
    const bearers: string[] = [];
    const allowedIssuers: string[] = [];
    const recording: OAuthClientOptions['fetch'] = (input, init) => {
      if (/^bearer/i.test(new Headers(init?.headers).get('authorization') ?? '')) {
        bearers.push(new URL(String(input)).origin);
      }
      return fetch(input, init);
    };
    const { oidc, signIn, echo } = await startProvider(
      { separateResource: true },
      { allowedIssuers, fetch: recording },
    );
    allowedIssuers.push(oidc.url);
    await signIn();
    expect(await echo('hello')).toEqual([{ type: 'text', text: 'hello' }]);
    oidc.endAccessTokens();
    expect(await echo('again')).toEqual([{ type: 'text', text: 'again' }]);
    expect(new Set(bearers)).toEqual(new Set([new URL(oidc.resource).origin]));
  });
});
