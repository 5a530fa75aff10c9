import { ConfigurationError } from '../errors/audience-error.ts';
import type { McpClient, McpTransportClass } from './mcp-options.ts';

/**
 * Returns the transport class of the client's package. Recognizes the package by the methods of the client, because a
 * program can load several copies of the client's class, for example with `require` and with `import`.
 *
 * @throws {ConfigurationError} if the client is not from an official package, or its package cannot be imported.
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
    // Both packages are optional. Import them inside `try`, because only there do bundlers accept unresolved imports.
    cause = error;
  }
  throw new ConfigurationError(
    '`client` is not a `Client` of `@modelcontextprotocol/client` or `@modelcontextprotocol/sdk`, or its package cannot be imported from here.',
    {
      cause,
      advice:
        'Install that package next to this one, or pass `transport: StreamableHTTPClientTransport` from where `Client` is imported.',
    },
  );
}
