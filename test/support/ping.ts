import type { OAuthClient } from '../../src/oauth/index.ts';

export const REDIRECT = 'http://127.0.0.1:5000/callback';
export const MCP = '/api/v2/mcp';

/** Pings the MCP endpoint and returns the status. */
export async function ping(oauth: Pick<OAuthClient, 'fetch'>, url: string, init: RequestInit = {}): Promise<number> {
  const headers = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' });
  const response = await oauth.fetch(`${url}${MCP}`, { method: 'POST', headers, body, ...init });
  await response.text();
  return response.status;
}
