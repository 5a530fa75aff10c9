import type { TokenStore } from '../../src/client/auth/token-source.ts';
import { memoryTokenStore } from '../../src/client/auth/token-source.ts';
import { createOAuthClient, type OAuthClient, type OAuthClientOptions } from '../../src/oauth/index.ts';
import type { SandboxOptions } from '../../src/sandbox/index.ts';
import { REDIRECT } from './ping.ts';
import { credentials, startBench } from './sandbox.ts';
import { quick } from './server.ts';

export { MCP, ping, REDIRECT } from './ping.ts';

/** Submits the account's decision on the consent page; returns the URL that the browser is redirected to. */
export async function consent(url: string, decision = 'allow'): Promise<string> {
  const body = new URLSearchParams({ ...credentials, decision });
  const { status, headers } = await fetch(url, { method: 'POST', body, redirect: 'manual' });
  const location = headers.get('location');
  if (status !== 303 || location === null) throw new Error(`The consent page responded with ${status}.`);
  return location;
}

/** Signs in: authorizes, consents, and passes the redirect to the client. */
export async function signIn(oauth: OAuthClient): Promise<void> {
  const { url } = await oauth.authorize();
  await oauth.callback(await consent(url));
}

/** Starts a sandbox over HTTP, with OAuth clients. */
export async function startOAuthBench(options: SandboxOptions = {}, own: Partial<OAuthClientOptions> = {}) {
  const bench = await startBench(options);
  const { url, sandbox } = bench;
  const clientWith = (store: TokenStore, more: Partial<OAuthClientOptions> = {}): OAuthClient =>
    createOAuthClient({ baseUrl: url, redirectUri: REDIRECT, store, ...quick, ...own, ...more });
  const store = memoryTokenStore();
  /** Returns the statuses of the requests to the token endpoint so far. */
  const exchanges = (): number[] => sandbox.log.filter(({ path }) => path === '/oauth/token').map((one) => one.status);
  return { ...bench, store, oauth: clientWith(store), clientWith, exchanges };
}
