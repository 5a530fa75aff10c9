import { CLIENT_OPTIONS } from '../client/index.ts';
import type { ClientOptions, TokenInput } from '../index.ts';
import * as option from '../util/options.ts';
import type { McpFetch } from './mcp-fetch.ts';

/** The part of a transport of an official MCP package that `connectMcp` uses. */
export interface McpTransport {
  /** Ends the connection and its streams. */
  close(): Promise<unknown>;
  /** Called when the connection has ended. */
  onclose?: (() => void) | undefined;
}

/** `StreamableHTTPClientTransport` of an official MCP package. */
export type McpTransportClass = new (url: URL, options: { readonly fetch: McpFetch }) => McpTransport;

/** The part of a `Client` of an official MCP package that `connectMcp` uses. */
export interface McpClient {
  /** Initializes the protocol over a transport. Resolves when the server has responded. */
  connect(transport: McpTransport): Promise<unknown>;
}

/**
 * Options of {@link connectMcp}: an MCP client, and options of `AudienceClient` for its requests. Durations are in
 * milliseconds. `operations` may override `path`, `bucket` and `retry` of `mcp.send`, and the operations of `auth`.
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
    | 'maxRetries'
    | 'maxRetryWait'
    | 'backoff'
    | 'logger'
    | 'logLevel'
    | 'onRequest'
    | 'onResponse'
    | 'onRetry'
    | 'shouldRetry'
    | 'onEnd'
    | 'around'
    | 'telemetry'
    | 'appInfo'
  > {
  /** An unconnected `Client` of `@modelcontextprotocol/client` or `@modelcontextprotocol/sdk`. */
  readonly client: C;
  /** A token of scope `mcp`, or its source: `mcpToken(credentials, { store })`, or an OAuth client. */
  readonly token: TokenInput;
  /**
   * The `StreamableHTTPClientTransport` class of the package of `client`.
   *
   * @default the class that `connectMcp` imports from the package of `client`
   */
  readonly transport?: McpTransportClass | undefined;
  /** Signal that aborts connecting, but not later requests. `connectMcp` rejects with the reason of the signal. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Timeout of one attempt, until the headers of the response have arrived. Streams have no time limit.
   * @default 30000 ms
   */
  readonly timeout?: number | undefined;
}

/** Options of `AudienceClient` that apply to the requests of an MCP client. */
const {
  credentials,
  mcpToken,
  validation,
  serverTimeZone,
  maxResponseBytes,
  waits,
  onWait,
  onBuildBudget,
  ...REQUEST_OPTIONS
} = CLIENT_OPTIONS;

export const checkOptions = option.optionChecker<ConnectMcpOptions<McpClient>>('connectMcp', {
  ...REQUEST_OPTIONS,
  client: option.anyOption,
  transport: option.optionOf(
    (value) => typeof value === 'function',
    'must be the class `StreamableHTTPClientTransport`',
  ),
  signal: option.signalOption,
});
