export { connectMcp } from './connect.ts';
export type { McpFetch } from './fetch.ts';
export type { ConnectMcpOptions, McpClient, McpTransport, McpTransportClass } from './options.ts';
