import { type ClientOptions, resolveOptions } from '../client/client-options.ts';
import { setUpTokens } from '../client/client-tokens.ts';
import { checkNames } from '../client/option-names.ts';
import { contextOf } from '../client/standalone.ts';
import { AudienceError, ConfigurationError, check } from '../errors/audience-error.ts';
import { type ClientState, createClientState } from '../http/client-state.ts';
import type { Settings } from '../http/request-options.ts';
import { createTransport } from '../http/transport.ts';
import { createLimiter, gatekeeperOf } from '../rate-limit/rate-limiter.ts';
import { checking } from '../schemas/decode.ts';
import { operations, type ResolvedOperation } from '../spec/operations.ts';
import { abortable } from '../util/abort.ts';
import { createMcpFetch, endpointOf } from './mcp-fetch.ts';
import { type ConnectMcpOptions, MCP_OPTIONS, type McpClient } from './mcp-options.ts';
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
  checkNames(options, MCP_OPTIONS, 'connectMcp');
  const { client, transport: given, signal } = options;
  checkParts(options);
  const { state, settings } = setUp(options);
  signal?.throwIfAborted();
  const Transport = given ?? (await transportClassOf(client));
  const transport = new Transport(endpointOf(settings), { fetch: createMcpFetch(state, settings) });
  // A token source that outlives the connection lets go of it.
  transport.onclose = () => state.close();
  try {
    await abortable(client.connect(transport), signal);
    return client;
  } catch (error) {
    // Clients close what they could not connect, but know nothing of the signal. What failed is told by `error`.
    if (!state.closed) await transport.close().catch(() => {});
    state.close();
    throw signal?.aborted ? error : ownError(error);
  }
}

/** What a client of the API would be made of, for the MCP endpoint alone. */
function setUp(given: ConnectMcpOptions<McpClient>): { readonly state: ClientState; readonly settings: Settings } {
  const { client, transport, signal, token, ...options } = given;
  const { settings, redactor, limits } = resolveOptions(options);
  checkOverrides(options.operations, settings.operation('mcp.send'));
  const { tokens, bind } = setUpTokens({ token }, redactor);
  const state = createClientState({
    limiter: options.limiter ? gatekeeperOf(options.limiter) : createLimiter(limits),
    redactor,
    tokens: { general: tokens.general, mcp: tokens.general },
    answers: checking,
    readUsage: () => Promise.resolve(undefined),
    retryBudget: options.retryBudget,
  });
  bind(contextOf(createTransport(state, settings), state));
  return { state, settings };
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
