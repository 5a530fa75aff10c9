/** @module audience-activation/mcp */

export { connectMcp } from './connect.ts';
export type { McpFetch } from './mcp-fetch.ts';
export type { ConnectMcpOptions, McpClient, McpTransport, McpTransportClass } from './mcp-options.ts';
