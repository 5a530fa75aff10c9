import { createOAuthClient, type OAuthClient, type OAuthClientOptions } from '../../src/oauth/index.ts';
import type { SandboxOptions } from '../../src/sandbox/index.ts';
import type { TokenStore } from '../../src/transport/tokens.ts';
import { memoryTokenStore } from '../../src/transport/tokens.ts';
import { credentials, startBench } from './sandbox.ts';
import { quick } from './server.ts';

export const REDIRECT = 'http://127.0.0.1:5000/callback';
export const MCP = '/api/v2/mcp';

/** What an account decides on the page of consent, by its form; returns where the browser goes next. */
export async function consent(url: string, decision = 'allow'): Promise<string> {
  const body = new URLSearchParams({ ...credentials, decision });
  const { status, headers } = await fetch(url, { method: 'POST', body, redirect: 'manual' });
  const location = headers.get('location');
  if (status !== 303 || location === null) throw new Error(`The page of consent answered ${status}.`);
  return location;
}

/** Goes through the whole flow. */
export async function signIn(oauth: OAuthClient): Promise<void> {
  const { url } = await oauth.authorize();
  await oauth.callback(await consent(url));
}

/** Status of a message to the MCP endpoint. */
export async function ping(oauth: Pick<OAuthClient, 'fetch'>, url: string, init: RequestInit = {}): Promise<number> {
  const headers = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' });
  const answer = await oauth.fetch(`${url}${MCP}`, { method: 'POST', headers, body, ...init });
  await answer.text();
  return answer.status;
}

/** A sandbox over real HTTP, and OAuth clients of it. */
export async function startOAuthBench(options: SandboxOptions = {}, own: Partial<OAuthClientOptions> = {}) {
  const bench = await startBench(options);
  const { url, sandbox } = bench;
  const clientWith = (store: TokenStore, more: Partial<OAuthClientOptions> = {}): OAuthClient =>
    createOAuthClient({ baseUrl: url, redirectUri: REDIRECT, store, ...quick, ...own, ...more });
  const store = memoryTokenStore();
  /** Answers of the token endpoint so far. */
  const exchanges = (): number[] => sandbox.log.filter(({ path }) => path === '/oauth/token').map((one) => one.status);
  return { ...bench, store, oauth: clientWith(store), clientWith, exchanges };
}
