import { newTransport, type Transport } from '../client/index.ts';
import { AudienceError, check } from '../errors/audience-error.ts';
import type { ClientOptions } from '../index.ts';
import { operations, type ResolvedOperation } from '../spec/operations.ts';
import { abortable } from '../util/abort.ts';
import { MAX_CAUSE_DEPTH } from '../util/redact.ts';
import { createMcpFetch, endpointOf } from './mcp-fetch.ts';
import { type ConnectMcpOptions, checkOptions, type McpClient } from './mcp-options.ts';
import { transportClassOf } from './transport-class.ts';

/**
 * Connects an official MCP client to the service, with the tokens, rate limits, retries and errors of this package.
 *
 * @example
 * const client = await connectMcp({
 *   baseUrl: 'https://api.example.com',
 *   token: mcpToken(credentials, { store }),
 *   client: new Client({ name: 'my-agent', version: '1.0.0' }),
 * });
 * const { tools } = await client.listTools();
 *
 * @throws {ConfigurationError} for an invalid option. Nothing was sent.
 */
export async function connectMcp<C extends McpClient>(options: ConnectMcpOptions<C>): Promise<C> {
  const api = createApiTransport(options);
  const { client, signal } = options;
  signal?.throwIfAborted();
  const McpTransport = options.transport ?? (await transportClassOf(client));
  const transport = new McpTransport(endpointOf(api.settings), { fetch: createMcpFetch(api) });
  transport.onclose = () => api.state.close();
  try {
    await abortable(client.connect(transport), signal);
    return client;
  } catch (error) {
    // The client closes the transport if connecting fails, but not if `signal` aborts.
    await transport.close().catch(() => {});
    api.state.close();
    throw signal?.aborted ? error : unwrapped(error);
  }
}

function createApiTransport(options: ConnectMcpOptions<McpClient>): Transport {
  checkOptions(options);
  const { client, transport, signal, token, ...shared } = options;
  check(
    token !== undefined,
    '`token` is missing.',
    'Pass a token of scope `mcp`, `mcpToken(credentials, { store })` or an OAuth client.',
  );
  check(
    typeof client?.connect === 'function',
    '`client` must be a `Client` of `@modelcontextprotocol/client` or `@modelcontextprotocol/sdk`.',
  );
  const api = newTransport({ ...shared, token, mcpToken: token });
  checkOverrides(shared.operations, api.settings.operations['mcp.send']);
  return api;
}

/** Refuses overrides that have no effect, because the MCP client creates the requests and reads the responses. */
function checkOverrides(overrides: ClientOptions['operations'] = {}, { method, override }: ResolvedOperation): void {
  for (const name of Object.keys(overrides)) {
    const isUsed = name === 'mcp.send' || name.startsWith('auth.');
    check(
      isUsed,
      `\`operations["${name}"]\` has no effect in connectMcp, which never calls this operation.`,
      'Remove it.',
    );
  }
  const { body, query, data, retry } = override ?? {};
  const moved = method === operations['mcp.send'].method ? undefined : method;
  for (const [field, value] of Object.entries({ method: moved, query, body, data })) {
    const message = `\`operations["mcp.send"].${field}\` has no effect in connectMcp: the MCP client writes the requests and reads the responses.`;
    check(value === undefined, message, 'Remove it.');
  }
  const message =
    '`operations["mcp.send"].retry` must be "always" or "never" in connectMcp, because its requests have no idempotency key.';
  check(retry !== 'idempotency-key', message);
}

/**
 * Returns the error of this package that the MCP client wrapped while connecting. Returns any other error unchanged.
 */
function unwrapped(error: unknown, depth = 0): unknown {
  if (AudienceError.isInstance(error) || !(error instanceof Error) || depth > MAX_CAUSE_DEPTH) return error;
  const cause = unwrapped(error.cause, depth + 1);
  return AudienceError.isInstance(cause) ? cause : error;
}
