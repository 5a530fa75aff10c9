import { expect, it } from 'vitest';
import { memoryTokenStore } from '../../src/index.ts';
import { createOAuthClient, type OAuthClientOptions } from '../../src/oauth/index.ts';
import { REDIRECT } from '../support/oauth.ts';
import { failureOf } from '../support/server.ts';

const RESOURCE = '/.well-known/oauth-protected-resource';
const SERVER = '/.well-known/oauth-authorization-server';

/** A service with some documents; what is asked of it, in order. */
function startAt(baseUrl: string, documents: Readonly<Record<string, object>>) {
  const asked: string[] = [];
  const fetch: OAuthClientOptions['fetch'] = async (input, init) => {
    const url = String(input);
    asked.push(`${init?.method} ${url}`);
    const document = documents[url];
    return document ? Response.json(document) : new Response(null, { status: init?.method === 'POST' ? 401 : 404 });
  };
  const oauth = createOAuthClient({ baseUrl, redirectUri: REDIRECT, store: memoryTokenStore(), fetch, maxRetries: 0 });
  return { oauth, asked };
}

it('asks at the resource’s path, then at the root, and at the origin for its server', async () => {
  const origin = 'https://api.example.com';
  const { oauth, asked } = startAt(origin, {});
  expect(await failureOf(oauth.authorize())).toMatchObject({ error: 'invalid_response' });
  expect(asked).toEqual([
    `POST ${origin}/api/v2/mcp`,
    `GET ${origin}${RESOURCE}/api/v2/mcp`,
    `GET ${origin}${RESOURCE}`,
    `GET ${origin}${SERVER}`,
    `GET ${origin}/.well-known/openid-configuration`,
  ]);
});

it('finds both documents below a service with a path', async () => {
  const base = 'https://proxy.example.com/audience';
  const { oauth } = startAt(base, {
    [`${base}${RESOURCE}`]: { resource: `${base}/api/v2/mcp`, authorization_servers: [base] },
    [`${base}${SERVER}`]: {
      issuer: base,
      authorization_endpoint: `${base}/oauth/authorize`,
      registration_endpoint: `${base}/oauth/register`,
      code_challenge_methods_supported: ['S256'],
      token_endpoint_auth_methods_supported: ['none'],
    },
    [`${base}/oauth/register`]: { client_id: 'registered' },
  });
  const { origin, pathname, searchParams } = new URL((await oauth.authorize()).url);
  expect(`${origin}${pathname}`).toBe(`${base}/oauth/authorize`);
  expect(searchParams.get('client_id')).toBe('registered');
});

it('takes any address of this machine for one that cannot be listened to', async () => {
  const { oauth, asked } = startAt('http://127.0.0.2:8080', {});
  expect(await failureOf(oauth.authorize())).toMatchObject({ error: 'invalid_response' });
  expect(asked[0]).toBe('POST http://127.0.0.2:8080/api/v2/mcp');
});

it('shows a part of an overlong issuer, without its query', async () => {
  const origin = 'https://api.example.com';
  const issuer = `https://other.example.com/${'x'.repeat(100_000)}`;
  const own = `${origin}/${'y'.repeat(100_000)}`;
  for (const [named, error] of [
    [`https://other.example.com/?key=canary`, 'issuer_not_allowed'],
    [issuer, 'issuer_not_allowed'],
    [own, 'invalid_response'],
  ] as const) {
    const document = { resource: `${origin}/api/v2/mcp`, authorization_servers: [named] };
    const { oauth } = startAt(origin, { [`${origin}${RESOURCE}/api/v2/mcp`]: document });
    const failure = await failureOf(oauth.authorize());
    expect(failure).toMatchObject({ error });
    expect(String(failure).length).toBeLessThan(600);
    expect(String(failure)).not.toContain('canary');
  }
});
