/**
 * Connects an official MCP client to the MCP endpoint of the service.
 *
 * @module audience-activation/mcp
 */

export { connectMcp } from './connect.ts';
export type { McpFetch } from './mcp-fetch.ts';
export type { ConnectMcpOptions, McpClient, McpTransport, McpTransportClass } from './mcp-options.ts';
