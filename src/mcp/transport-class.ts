import { ConfigurationError } from '../errors/base.ts';
import type { McpClient, McpTransportClass } from './options.ts';

/** An official MCP package: whether it is there, and a client is of it. */
type Lookup = (client: McpClient) => Promise<McpTransportClass | undefined>;

/** Whoever uses one of the packages may not have the other: bundlers let an import fail where it may be caught. */
const LOOKUPS: readonly Lookup[] = [
  async (client) => {
    try {
      const { Client, StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client');
      return client instanceof Client ? StreamableHTTPClientTransport : undefined;
    } catch {
      return undefined;
    }
  },
  async (client) => {
    try {
      const { Client } = await import('@modelcontextprotocol/sdk/client/index.js');
      if (!(client instanceof Client)) return undefined;
      const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/sdk/client/streamableHttp.js');
      return StreamableHTTPClientTransport;
    } catch {
      return undefined;
    }
  },
];

/**
 * The transport of the package that a client is from.
 *
 * @throws {ConfigurationError} when it is of neither, or of another copy.
 */
export async function transportClassOf(client: McpClient): Promise<McpTransportClass> {
  for (const lookup of LOOKUPS) {
    const found = await lookup(client);
    if (found) return found;
  }
  throw new ConfigurationError(
    '`client` is no `Client` of `@modelcontextprotocol/client` or `@modelcontextprotocol/sdk` as this package finds them: install one of them beside it, or give `transport: StreamableHTTPClientTransport` from where `Client` is imported.',
  );
}
