import '../support/nothing-left.ts';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { memoryTokenStore } from '../../src/index.ts';
import { connectMcp } from '../../src/mcp/index.ts';
import { signInWithBrowser } from '../../src/node/index.ts';
import { createOAuthClient, type OAuthClient } from '../../src/oauth/index.ts';
import { type RedisClient, redisTokenStore } from '../../src/redis/index.ts';
import { signWebhook, verifyWebhook } from '../../src/webhooks/index.ts';
import { consent, ping, REDIRECT, signIn, startOAuthBench } from '../support/oauth.ts';
import { startOidc } from '../support/oidc-server.ts';
import { startBench } from '../support/sandbox.ts';
import { failureOf, quick } from '../support/server.ts';

/** The metadata of the authorization server, without a field. */
const without =
  (field: string): typeof fetch =>
  async (input, init) => {
    const response = await fetch(input, init);
    if (!String(input).includes('oauth-authorization-server')) return response;
    const { [field]: _, ...metadata } = Object(await response.json());
    return Response.json(metadata);
  };

async function refusedCallback(oauth: OAuthClient, change: Record<string, string>): Promise<unknown> {
  const back = new URL(await consent((await oauth.authorize()).url));
  for (const [name, value] of Object.entries(change)) back.searchParams.set(name, value);
  return failureOf(oauth.callback(back));
}

describe('the error of a sign-in', () => {
  it.each([{ state: 'forged' }, { iss: 'https://evil.example.com' }])(
    'the error of a sign-in whose callback has %o says to start again with `authorize()`, which succeeds',
    async (change) => {
      const { oauth, url } = await startOAuthBench();
      expect(String(await refusedCallback(oauth, change))).toContain('Start again with `authorize()`.');
      await signIn(oauth);
      expect(await ping(oauth, url)).toBe(200);
    },
  );

  it('the error of a sign-in that has ended says how to sign in, which succeeds in both ways', async () => {
    const { oauth, url, account } = await startOAuthBench({}, { redirectUri: 'http://127.0.0.1/callback' });
    const advice = /Sign in with `signInWithBrowser\(oauth\)` .*, or redirect the user to the `url` of `authorize\(\)`/;
    expect(String(await failureOf(ping(oauth, url)))).toMatch(advice);
    await signIn(oauth);
    expect(await ping(oauth, url)).toBe(200);
    account.changePassword('correct horse');
    const error = await failureOf(ping(oauth, url));
    expect(error).toMatchObject({ code: 'reauthorization-required' });
    expect(String(error)).toMatch(advice);
    const visit = async (address: string): Promise<void> => void (await fetch(await consent(address)));
    await signInWithBrowser(oauth, { open: false, onUrl: (address) => void visit(address) });
    expect(await ping(oauth, url)).toBe(200);
  });

  it('the error of a sign-in that nobody completes says to call `signInWithBrowser` again, which succeeds', async () => {
    const { oauth, url } = await startOAuthBench({}, { redirectUri: 'http://127.0.0.1/callback' });
    const error = await failureOf(signInWithBrowser(oauth, { open: false, onUrl: () => {}, timeout: 50 }));
    expect(String(error)).toContain('Call `signInWithBrowser` again.');
    const visit = async (address: string): Promise<void> => void (await fetch(await consent(address)));
    await signInWithBrowser(oauth, { open: false, onUrl: (address) => void visit(address) });
    expect(await ping(oauth, url)).toBe(200);
  });

  it('the error of a sign-in at a server that registers no clients says to set `client`, with which it succeeds', async () => {
    const { oauth, clientWith, url, store } = await startOAuthBench();
    await signIn(oauth);
    const { client_id } = JSON.parse(
      /\{"client_id":"[^"]+"\}/.exec(
        JSON.stringify(await store.load()).replace(/.*"client_id":"([^"]+)".*/, '{"client_id":"$1"}'),
      )?.[0] ?? '{}',
    );
    const options = { fetch: without('registration_endpoint') };
    const error = await failureOf(clientWith(memoryTokenStore(), options).authorize());
    expect(String(error)).toContain('Set `client` to a registered one.');
    const registered = clientWith(memoryTokenStore(), { ...options, client: { client_id } });
    await signIn(registered);
    expect(await ping(registered, url)).toBe(200);
  });

  it('the error of a sign-in at a server of another origin says to add it to `allowedIssuers`, with which it succeeds', async () => {
    const oidc = await startOidc({ separateResource: true });
    const options = { baseUrl: new URL(oidc.resource).origin, redirectUri: REDIRECT, ...quick };
    const refused = createOAuthClient({ ...options, store: memoryTokenStore() });
    expect(String(await failureOf(refused.authorize()))).toContain('Add it to `allowedIssuers` if you trust it.');
    const store = memoryTokenStore();
    const oauth = createOAuthClient({ ...options, store, allowedIssuers: [oidc.url] });
    await oauth.callback(await oidc.consent((await oauth.authorize()).url));
    // A grant of an issuer that is not allowed any more is refused with the same advice.
    const late = createOAuthClient({ ...options, store });
    const rejected = await late.get();
    expect(String(await failureOf(late.get({ rejected })))).toContain('Add it to `allowedIssuers` if you trust it.');
    expect(await createOAuthClient({ ...options, store, allowedIssuers: [oidc.url] }).get({ rejected })).not.toBe(
      rejected,
    );
  });
});

describe('the error of an authorization server', () => {
  it('the error of an authorization server that cannot revoke names `forget()`, which deletes the tokens from the store', async () => {
    const { store, clientWith } = await startOAuthBench();
    const oauth = clientWith(store, { fetch: without('revocation_endpoint') });
    await signIn(oauth);
    expect(String(await failureOf(oauth.revoke()))).toContain('`forget()` deletes them from the store.');
    await oauth.forget();
    expect(await store.load()).toBeUndefined();
  });

  it('the error of an authorization server that is unavailable says that the stored tokens have not changed, and later they are refreshed', async () => {
    const { oauth, store, sandbox, url } = await startOAuthBench();
    await signIn(oauth);
    await sandbox.advance(3_600_000);
    const before = await store.load();
    const release = sandbox.faults.add({ on: '/oauth/token', status: 503 });
    const rejected = await oauth.get();
    expect(String(await failureOf(oauth.get({ rejected })))).toContain(
      'Stored tokens have not changed. Try again later.',
    );
    expect(await store.load()).toEqual(before);
    release();
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 11_000 });
    onTestFinished(() => void vi.useRealTimers());
    expect(await ping(oauth, url)).toBe(200);
  });
});

it('the error of an unknown MCP client says to pass its transport, with which it connects', async () => {
  const { url, account } = await startBench();
  const client = new Client({ name: 'test', version: '1' });
  onTestFinished(() => client.close());
  const foreign = { connect: client.connect.bind(client), close: client.close.bind(client) };
  const options = { baseUrl: url, token: account.token('mcp'), client: foreign };
  expect(String(await failureOf(connectMcp(options)))).toContain('or pass `transport: StreamableHTTPClientTransport`');
  await connectMcp({ ...options, transport: StreamableHTTPClientTransport });
  expect(await client.ping()).toEqual({});
});

it('the error of a key in Redis without a token says to delete it or use another, and both work', async () => {
  const values = new Map([['k', 'odd']]);
  const evaluate = async (_source: string, { keys: [key = ''], arguments: [from, to] }: Command): Promise<unknown> => {
    if (to === undefined) return values.get(key) ?? null;
    values.set(key, to);
    return from === undefined ? 0 : 1;
  };
  const redis: RedisClient = { evalSha: evaluate, eval: evaluate };
  const load = (key: string) => redisTokenStore(redis, { key }).load();
  expect(String(await failureOf(Promise.resolve(load('k'))))).toContain('Delete it, or use another key.');
  expect(await load('another')).toBeUndefined();
  values.delete('k');
  expect(await load('k')).toBeUndefined();
  await redisTokenStore(redis, { key: 'k' }).save({ token: 'a-token' });
  expect(await load('k')).toMatchObject({ token: 'a-token' });
});

interface Command {
  readonly keys: string[];
  readonly arguments: string[];
}

describe('the error of a webhook', () => {
  const secret = 'secret-of-a-webhook';
  const event = {
    schema_version: 1,
    id: 'evt_1',
    type: 'webhook.test',
    created_at: '2026-11-24T10:00:00Z',
    company_id: 1,
    data: {},
  };
  const body = JSON.stringify(event);

  it('the error of a webhook without its header names `headerName`, with which it is verified', async () => {
    const headers = { 'Acme-Signature': await signWebhook(body, secret) };
    const error = await failureOf(verifyWebhook(body, headers, secret));
    expect(String(error)).toContain('set `headerName`');
    expect(await verifyWebhook(body, headers, secret, { headerName: 'Acme-Signature' })).toMatchObject({ id: 'evt_1' });
  });

  it('the error of a webhook whose signature does not match says to check the secret and the body, and both help', async () => {
    const header = await signWebhook(body, secret);
    for (const [received, key] of [
      [body, 'another'],
      [`${body} `, secret],
    ] as const) {
      const error = await failureOf(verifyWebhook(received, header, key));
      expect(String(error)).toContain('Check the secret, and that the body is unchanged.');
    }
    expect(String(await failureOf(verifyWebhook(body, header, `${secret} `)))).toContain(
      'begins or ends with white space',
    );
    expect(await verifyWebhook(body, header, secret)).toMatchObject({ id: 'evt_1' });
  });

  it('the error of a webhook whose body is parsed says to pass its raw bytes, which are verified', async () => {
    const header = await signWebhook(body, secret);
    const error = await failureOf(verifyWebhook(Object(event), header, secret));
    expect(String(error)).toContain('Pass its raw bytes');
    const request = new Request('http://localhost', { method: 'POST', body });
    expect(await verifyWebhook(await request.text(), header, secret)).toMatchObject({ id: 'evt_1' });
  });
});
