import type { ClientOptions } from '../client/client-options.ts';
import { readTokens } from '../client/client-tokens.ts';
import { createTransport } from '../client/create-transport.ts';
import { AudienceError, ConfigurationError, check } from '../errors/audience-error.ts';
import type { Transport } from '../http/transport.ts';
import { operations, type ResolvedOperation } from '../spec/operations.ts';
import { abortable } from '../util/abort.ts';
import { Redactor } from '../util/redact.ts';
import { createMcpFetch, endpointOf } from './mcp-fetch.ts';
import { type ConnectMcpOptions, checkMcpOptions, type McpClient } from './mcp-options.ts';
import { transportClassOf } from './transport-class.ts';

/**
 * Connects an official MCP client to the service, with the tokens, limits, repeats and errors of this package.
 *
 * @example
 * const client = await connectMcp({
 *   baseUrl: 'https://api.example.com',
 *   token: mcpToken(credentials, { store }),
 *   client: new Client({ name: 'my-agent', version: '1.0.0' }),
 * });
 * const { tools } = await client.listTools();
 *
 * @throws {ConfigurationError} for a wrong option, before any request.
 */
export async function connectMcp<C extends McpClient>(options: ConnectMcpOptions<C>): Promise<C> {
  checkMcpOptions(options);
  const { client, transport: given, signal } = options;
  checkParts(options);
  const api = newTransport(options);
  signal?.throwIfAborted();
  const TransportClass = given ?? (await transportClassOf(client));
  const transport = new TransportClass(endpointOf(api.settings), { fetch: createMcpFetch(api) });
  transport.onclose = () => api.state.close();
  try {
    await abortable(client.connect(transport), signal);
    return client;
  } catch (error) {
    // Clients close what they could not connect, but know nothing of the signal. What failed is told by `error`.
    await transport.close().catch(() => {});
    api.state.close();
    throw signal?.aborted ? error : ownError(error);
  }
}

/** Creates a transport as a client of the API has it, for the MCP endpoint only. */
function newTransport({ client, transport, signal, token, ...options }: ConnectMcpOptions<McpClient>): Transport {
  const redactor = new Redactor();
  const { general } = readTokens({ token }, redactor);
  const created = createTransport(options, { general, mcp: general }, redactor);
  checkOverrides(options.operations, created.settings.operations['mcp.send']);
  return created;
}

/** What TypeScript would refuse, for JavaScript callers. */
function checkParts({ client, token, transport }: Partial<ConnectMcpOptions<McpClient>>): void {
  if (token === undefined) {
    throw new ConfigurationError(
      '`token` is missing: give a token of scope `mcp`, `mcpToken(credentials, { store })` or an OAuth client.',
    );
  }
  if (typeof client?.connect !== 'function') {
    throw new ConfigurationError('`client` must be a `Client` of `@modelcontextprotocol/client` or `/sdk`.');
  }
  if (transport !== undefined && typeof transport !== 'function') {
    throw new ConfigurationError('`transport` must be the class `StreamableHTTPClientTransport` itself.');
  }
}

/** Refuses overrides that could have no effect: the MCP client writes the messages, and reads the answers. */
function checkOverrides(overrides: ClientOptions['operations'] = {}, { method, override }: ResolvedOperation): void {
  for (const name of Object.keys(overrides)) {
    const used = name === 'mcp.send' || name.startsWith('auth.');
    check(used, `\`operations["${name}"]\` has no effect in connectMcp, which does not call it: leave it out.`);
  }
  const { body, query, data, retry } = override ?? {};
  const moved = method === operations['mcp.send'].method ? undefined : method;
  for (const [field, value] of Object.entries({ method: moved, query, body, data })) {
    const message = `\`operations["mcp.send"].${field}\` has no effect in connectMcp: the MCP client makes the requests and reads the answers. Leave it out.`;
    check(value === undefined, message);
  }
  check(
    retry !== 'idempotency-key',
    '`operations["mcp.send"].retry` must be always or never in connectMcp: its requests have no key.',
  );
}

/** How deep an error of this package may be within those of a client. */
const DEEPEST = 5;

/** The error of this package that a client has wrapped in its own, as it does where it finds out the protocol's version. */
function ownError(error: unknown, depth = 0): unknown {
  if (AudienceError.isInstance(error) || !(error instanceof Error) || depth > DEEPEST) return error;
  const inner = ownError(error.cause, depth + 1);
  return AudienceError.isInstance(inner) ? inner : error;
}
