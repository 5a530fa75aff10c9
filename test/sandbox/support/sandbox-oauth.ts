import { createHash } from 'node:crypto';
import { createSandbox, type SandboxOptions } from '../../../src/sandbox/index.ts';
import { credentials } from '../../support/sandbox.ts';

export const ORIGIN = 'https://api.example.com';
export const REDIRECT = 'http://127.0.0.1:5000/callback';
const VERIFIER = 'a-verifier-of-forty-three-characters-or-more';
const CHALLENGE = createHash('sha256').update(VERIFIER).digest('base64url');

/** Creates a sandbox with a registered public OAuth client, and functions that send the requests of that client. */
export async function startOAuth(options: SandboxOptions = {}) {
  const sandbox = createSandbox({ clock: 'manual', ...options });
  const account = sandbox.accounts.create(credentials);
  const post = async (path: string, form: Record<string, string>, headers: Record<string, string> = {}) => {
    const body = new URLSearchParams(form);
    const response = await sandbox.fetch(`${ORIGIN}${path}`, { method: 'POST', body, headers });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: text && JSON.parse(text) };
  };
  const register = async (metadata: object) => {
    const response = await sandbox.fetch(`${ORIGIN}/oauth/register`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(metadata),
    });
    return { status: response.status, body: await response.json() };
  };
  const client_id: string = (await register({ redirect_uris: [REDIRECT], token_endpoint_auth_method: 'none' })).body
    .client_id;
  const authorizationUrl = (more: Record<string, string | undefined> = {}): string => {
    const query = {
      response_type: 'code',
      client_id,
      redirect_uri: REDIRECT,
      scope: 'mcp',
      state: 's t',
      code_challenge: CHALLENGE,
      code_challenge_method: 'S256',
      ...more,
    };
    const params = Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]));
    return `${ORIGIN}/oauth/authorize?${new URLSearchParams(params)}`;
  };
  const redeem = (code: string, more: Record<string, string> = {}) =>
    post('/oauth/token', {
      grant_type: 'authorization_code',
      client_id,
      code,
      redirect_uri: REDIRECT,
      code_verifier: VERIFIER,
      ...more,
    });
  const authorize = (): string =>
    new URL(sandbox.oauth.consent(account, authorizationUrl())).searchParams.get('code') ?? '';
  const connect = async (): Promise<{ access_token: string; refresh_token: string }> =>
    (await redeem(authorize())).body;
  const refresh = (refresh_token: string, more: Record<string, string> = {}) =>
    post('/oauth/token', { grant_type: 'refresh_token', client_id, refresh_token, ...more });
  /** Returns the status of an MCP ping with a token. */
  const ping = async (token?: string): Promise<number> => {
    const headers = {
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    };
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' });
    return (await sandbox.fetch(`${ORIGIN}/api/v2/mcp`, { method: 'POST', headers, body })).status;
  };
  return { sandbox, account, post, register, client_id, authorizationUrl, authorize, redeem, connect, refresh, ping };
}
