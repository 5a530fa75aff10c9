import type { TokenSource, TokenStore } from '../auth/token-source.ts';
import type { Fetch } from '../http/send.ts';
import type { Optional } from '../util/input-types.ts';
import type { Logger, LogLevel } from '../util/log.ts';
import type { Backoff } from '../util/retry.ts';

/** A client that has been registered with the authorization server by other means. */
export interface RegisteredClient {
  readonly client_id: string;
  /** Confidential clients only; a page of a browser can keep none. */
  readonly client_secret?: string | undefined;
}

/** Options of `createOAuthClient`. */
export interface OAuthClientOptions {
  /** Address of the service, as for `AudienceClient`; or AUDIENCE_BASE_URL. */
  readonly baseUrl?: string | undefined;
  /**
   * Where the authorization server sends the browser back to: an exact `https` address on a host that the
   * service has approved, or an `http` one of this machine (OAuth 2.1, rule 3). One of this machine without
   * a port stands for whichever port is free when `signInWithBrowser` listens.
   */
  readonly redirectUri: string;
  /** Keeps the grant of one user, the registration, and sign-ins under way. One store a user. */
  readonly store: TokenStore;
  /** Shown on the page of consent. @default 'audience-activation' */
  readonly clientName?: string | undefined;
  /** Instead of registering one. */
  readonly client?: RegisteredClient | undefined;
  /** Authorization servers that may be used beside those on the origin of `baseUrl`: their issuers. @default [] */
  readonly allowedIssuers?: readonly string[] | undefined;
  /** What tokens are asked for, a path or an address on the origin of `baseUrl`. @default the MCP endpoint */
  readonly resource?: string | undefined;
  /** Allows `http` beyond this machine. @default false */
  readonly allowInsecure?: boolean | undefined;
  /** One request to the authorization server, in milliseconds. @default 30000 */
  readonly timeout?: number | undefined;
  /** Repeats of a request that failed on the way or with 5xx, within a minute. @default 4 */
  readonly maxRetries?: number | undefined;
  /** A `Retry-After` beyond this, or beyond that minute, is not sat out. Milliseconds. @default 120000 */
  readonly maxRetryWait?: number | undefined;
  readonly backoff?: Optional<Backoff> | undefined;
  readonly fetch?: Fetch | undefined;
  readonly logger?: Logger | undefined;
  /** @default 'warn' */
  readonly logLevel?: LogLevel | undefined;
}

/** Options of one step of the flow. */
export interface OAuthStepOptions {
  readonly signal?: AbortSignal | undefined;
}

/** Options of {@link OAuthClient.authorize}. */
export interface AuthorizeOptions extends OAuthStepOptions {
  /** Instead of the client's own, for one sign-in. */
  readonly redirectUri?: string | undefined;
  /** Instead of what the service's documents name. */
  readonly scope?: string | undefined;
}

/** A sign-in under way. */
export interface Authorization {
  /** Where to send the user's browser. */
  readonly url: string;
  /** Comes back in the address that `callback` takes, and ties both together. */
  readonly state: string;
}

/** An OAuth 2.1 client of the service, for one user: a token source, and a `fetch` that uses it. */
export interface OAuthClient extends TokenSource {
  readonly redirectUri: string;
  /**
   * A live access token. Renewed a minute before it expires, and when it was `rejected`, once for all who ask.
   *
   * @throws {ReauthorizationRequiredError} when the user has to sign in. No browser is opened.
   */
  get(options?: { readonly rejected?: string | undefined; readonly signal?: AbortSignal | undefined }): Promise<string>;
  /**
   * Starts a sign-in: discovers the authorization server, registers a client where none is, and
   * makes the address to send the user's browser to. It ends with `callback`, within ten minutes,
   * in this process or another with the same store.
   */
  authorize(options?: AuthorizeOptions): Promise<Authorization>;
  /**
   * Ends a sign-in with the address that the browser came back to: checks `state` and `iss`, and
   * exchanges the code for tokens.
   */
  callback(url: string | URL, options?: OAuthStepOptions): Promise<void>;
  /**
   * `fetch` with the access token, on the origin of `baseUrl`; other origins never get it. Renews and
   * repeats once after a 401. For official MCP clients, among others.
   */
  readonly fetch: Fetch;
  /** Ends the grant at the authorization server, and forgets its tokens. */
  revoke(options?: OAuthStepOptions): Promise<void>;
  /** Forgets tokens and registration on this side alone. */
  forget(): Promise<void>;
}
