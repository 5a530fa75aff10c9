import { describe, expect, it } from 'vitest';
import { OAuthError } from '../../src/index.ts';
import { consent, ping, REDIRECT, signIn, startOAuthBench } from '../support/oauth.ts';
import { failureOf } from '../support/server.ts';

describe('a sign-in', () => {
  it('goes from discovery to a message under the token', async () => {
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
      resource: `${url}/api/v2/mcp`,
    });
    await oauth.callback(await consent(address));
    expect(await ping(oauth, url)).toBe(200);
    expect(await store.load()).toMatchObject({ token: await oauth.get(), expiresAt: expect.any(String) });
    expect(sandbox.log.map(({ path }) => path)).toEqual([
      '/api/v2/mcp',
      '/.well-known/oauth-protected-resource',
      '/.well-known/oauth-authorization-server',
      '/oauth/register',
      '/oauth/authorize',
      '/oauth/token',
      '/api/v2/mcp',
    ]);
  });
});
