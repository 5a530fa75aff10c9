import { ConfigurationError } from '../errors/audience-error.ts';
import type { McpClient, McpTransportClass } from './mcp-options.ts';

/**
 * Returns the transport of the package that a client is from. A client is recognized by its methods: programs can
 * load several copies of its class, such as one by `require` and one by `import`.
 *
 * @throws {ConfigurationError} when the client is from neither package, or that package cannot be imported from here.
 */
export async function transportClassOf(client: McpClient): Promise<McpTransportClass> {
  let cause: unknown;
  try {
    if ('getNegotiatedProtocolVersion' in client) {
      return (await import('@modelcontextprotocol/client')).StreamableHTTPClientTransport;
    }
    if ('callTool' in client) {
      return (await import('@modelcontextprotocol/sdk/client/streamableHttp.js')).StreamableHTTPClientTransport;
    }
  } catch (error) {
    // Whoever uses one package may not have the other: bundlers let an import fail where it may be caught.
    cause = error;
  }
  throw new ConfigurationError(
    '`client` is not a `Client` of `@modelcontextprotocol/client` or `@modelcontextprotocol/sdk`, or its package cannot be imported from here. Install that package next to this one, or pass `transport: StreamableHTTPClientTransport` from where `Client` is imported.',
    { cause },
  );
}
