import { expect, it } from 'vitest';
import { memoryTokenStore } from '../../src/index.ts';
import { createOAuthClient, type OAuthClientOptions } from '../../src/oauth/index.ts';
import { REDIRECT } from '../support/oauth.ts';
import { failureOf } from '../support/server.ts';

const RESOURCE = '/.well-known/oauth-protected-resource';
const SERVER = '/.well-known/oauth-authorization-server';

/** A service with some documents, and the requests that it receives. */
function startAt(baseUrl: string, documents: Readonly<Record<string, object>>) {
  const requests: string[] = [];
  const fetch: OAuthClientOptions['fetch'] = async (input, init) => {
    const url = String(input);
    requests.push(`${init?.method} ${url}`);
    const document = documents[url];
    return document ? Response.json(document) : new Response(null, { status: init?.method === 'POST' ? 401 : 404 });
  };
  const oauth = createOAuthClient({ baseUrl, redirectUri: REDIRECT, store: memoryTokenStore(), fetch, maxRetries: 0 });
  return { oauth, requests };
}

it('discovery reads metadata from the resource’s path, then from the root, then from the origin as issuer', async () => {
  const origin = 'https://api.example.com';
  const { oauth, requests } = startAt(origin, {});
  expect(await failureOf(oauth.authorize())).toMatchObject({ error: 'invalid_response' });
  expect(requests).toEqual([
    `POST ${origin}/api/v2/mcp`,
    `GET ${origin}${RESOURCE}/api/v2/mcp`,
    `GET ${origin}${RESOURCE}`,
    `GET ${origin}${SERVER}`,
    `GET ${origin}/.well-known/openid-configuration`,
  ]);
});

it('discovery finds both documents below a base URL with a path', async () => {
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

it('discovery uses http on every loopback address', async () => {
  const { oauth, requests } = startAt('http://127.0.0.2:8080', {});
  expect(await failureOf(oauth.authorize())).toMatchObject({ error: 'invalid_response' });
  expect(requests[0]).toBe('POST http://127.0.0.2:8080/api/v2/mcp');
});

it('an error shows at most 300 characters of an issuer, without its query', async () => {
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
