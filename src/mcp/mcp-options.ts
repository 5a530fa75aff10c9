import type { TokenInput } from '../auth/token-source.ts';
import type { ClientOptions } from '../client/client-options.ts';
import { anyOption, optionChecker } from '../util/options.ts';
import type { McpFetch } from './mcp-fetch.ts';

/** What a transport of an official MCP package is to this one. */
export interface McpTransport {
  close(): Promise<unknown>;
  onclose?: (() => void) | undefined;
}

/** `StreamableHTTPClientTransport` of an official MCP package. */
export type McpTransportClass = new (url: URL, options: { readonly fetch: McpFetch }) => McpTransport;

/** What a `Client` of an official MCP package is to this one. */
export interface McpClient {
  connect(transport: McpTransport): Promise<unknown>;
}

/**
 * Options of {@link connectMcp}: what calls of `AudienceClient` have, too, and a client. Durations are milliseconds;
 * `operations` adapts `mcp.send` (its `path`, `bucket` and `retry`) and the credential exchange; others are refused.
 */
export interface ConnectMcpOptions<C extends McpClient>
  extends Pick<
    ClientOptions,
    | 'baseUrl'
    | 'allowInsecure'
    | 'fetch'
    | 'fetchOptions'
    | 'headers'
    | 'requestIdHeader'
    | 'operations'
    | 'limiter'
    | 'rateLimits'
    | 'retryBudget'
    | 'maxRetries'
    | 'maxRetryWait'
    | 'backoff'
    | 'logger'
    | 'logLevel'
    | 'onRequest'
    | 'onResponse'
    | 'onRetry'
  > {
  /** A `Client` of `@modelcontextprotocol/client` or `@modelcontextprotocol/sdk`, not connected yet. */
  readonly client: C;
  /** A token of scope `mcp`, or where it comes from: `mcpToken(credentials, { store })`, or an OAuth client. */
  readonly token: TokenInput;
  /**
   * `StreamableHTTPClientTransport` of the package that `client` is from.
   *
   * @default found by the methods of `client`
   */
  readonly transport?: McpTransportClass | undefined;
  /** Ends the connecting, not what comes after it; it rejects with the signal's own reason. */
  readonly signal?: AbortSignal | undefined;
  /** One attempt, from sending until the headers of the answer; streams last as long as they like. @default 30000 */
  readonly timeout?: number | undefined;
}

/** Checks the names of the options; the client's own check follows for those that it shares. */
export const checkMcpOptions = optionChecker<ConnectMcpOptions<McpClient>>('connectMcp', {
  client: anyOption,
  token: anyOption,
  transport: anyOption,
  signal: anyOption,
  timeout: anyOption,
  baseUrl: anyOption,
  allowInsecure: anyOption,
  fetch: anyOption,
  fetchOptions: anyOption,
  headers: anyOption,
  requestIdHeader: anyOption,
  operations: anyOption,
  limiter: anyOption,
  rateLimits: anyOption,
  retryBudget: anyOption,
  maxRetries: anyOption,
  maxRetryWait: anyOption,
  backoff: anyOption,
  logger: anyOption,
  logLevel: anyOption,
  onRequest: anyOption,
  onResponse: anyOption,
  onRetry: anyOption,
});
