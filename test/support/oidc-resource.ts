import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';

/** Path of the resource's metadata (RFC 9728); the resource's own path may follow. */
export const RESOURCE_METADATA = '/.well-known/oauth-protected-resource';
export const MCP_PATH = '/api/v2/mcp';

/** A protected MCP endpoint. */
export interface McpResource {
  /** URL of the endpoint, for which tokens are requested. */
  readonly resource: string;
  /** Issuer of the authorization server. */
  readonly issuer: string;
  isLive(token: string): Promise<boolean>;
}

const handler = createMcpHandler(() => {
  const server = new McpServer({ name: 'echo', version: '1' });
  server.registerTool('echo', { inputSchema: z.object({ text: z.string() }) }, ({ text }) => ({
    content: [{ type: 'text', text }],
  }));
  return server;
});

/** Serves the MCP endpoint, which has one tool, `echo`, and its metadata. */
export async function serveMcpResource({ resource, issuer, isLive }: McpResource, request: Request): Promise<Response> {
  if (new URL(request.url).pathname !== MCP_PATH)
    return Response.json({ resource, authorization_servers: [issuer], scopes_supported: ['mcp'] });
  const token = /^bearer (\S+)$/i.exec(request.headers.get('authorization') ?? '')?.[1];
  if (token !== undefined && (await isLive(token))) return handler.fetch(request);
  const error = token === undefined ? '' : 'error="invalid_token", ';
  const challenge = `Bearer ${error}resource_metadata="${new URL(RESOURCE_METADATA, resource)}"`;
  return new Response(null, { status: 401, headers: { 'www-authenticate': challenge } });
}
