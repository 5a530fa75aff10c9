import type { TokenSource, TokenStore } from '../auth/index.ts';
import type { Fetch, RequestOptions } from '../http/index.ts';
import type { Optional } from '../util/input-types.ts';
import type { Logger, LogLevel } from '../util/log.ts';
import type { Backoff } from '../util/retry.ts';

/** A client that is already registered with the authorization server. */
export interface RegisteredClient {
  readonly client_id: string;
  /** Confidential clients only: a page in a browser cannot keep a secret. */
  readonly client_secret?: string | undefined;
}

/** Options of {@link createOAuthClient}. A request to the authorization server is retried for one minute at most. */
export interface OAuthClientOptions extends Pick<RequestOptions, 'timeout' | 'maxRetries' | 'maxRetryWait'> {
  /** Address of the service, as for `AudienceClient`. @default AUDIENCE_BASE_URL of the environment */
  readonly baseUrl?: string | undefined;
  /**
   * Address that the authorization server redirects the browser to: an exact `https` URI on a host that the service has
   * approved, or an `http` URI of a loopback host. A loopback URI without a port stands for the free port on which
   * `signInWithBrowser` listens.
   */
  readonly redirectUri: string;
  /** Keeps the grant of one user, the client registration and pending sign-ins. Use one store per user. */
  readonly store: TokenStore;
  /** Name shown on the consent page. @default 'audience-activation' */
  readonly clientName?: string | undefined;
  /** Client to use instead of registering one. */
  readonly client?: RegisteredClient | undefined;
  /** Issuers of authorization servers that are allowed besides those on the origin of `baseUrl`. @default [] */
  readonly allowedIssuers?: readonly string[] | undefined;
  /** Resource to request tokens for: a path or a URL on the origin of `baseUrl`. @default the MCP endpoint */
  readonly resource?: string | undefined;
  /** Allows `http:` beyond loopback. @default false */
  readonly allowInsecure?: boolean | undefined;
  /** Random waits between retries, in milliseconds. @default { min: 500, max: 30000 } */
  readonly backoff?: Optional<Backoff> | undefined;
  /** Sends requests in place of the global `fetch`. */
  readonly fetch?: Fetch | undefined;
  /** Receives log lines. @default console */
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
  /** Replaces the client's own for this sign-in. */
  readonly redirectUri?: string | undefined;
  /** Replaces the scope that the service's metadata names. */
  readonly scope?: string | undefined;
}

/** A pending sign-in. */
export interface Authorization {
  /** Address to redirect the user's browser to. */
  readonly url: string;
  /** Value that the callback has to repeat; it ties the callback to this sign-in. */
  readonly state: string;
}

/** An OAuth 2.1 client of the service for one user: a token source, and a `fetch` that uses it. */
export interface OAuthClient extends TokenSource {
  readonly redirectUri: string;
  /**
   * Returns a live access token. Refreshes it a minute before it expires and when it was `rejected`, once for all
   * callers.
   *
   * @throws {ReauthorizationRequiredError} when the user has to sign in. Never opens a browser.
   */
  get(options?: { readonly rejected?: string | undefined; readonly signal?: AbortSignal | undefined }): Promise<string>;
  /**
   * Starts a sign-in: discovers the authorization server, registers a client if necessary, and returns the address for
   * the user's browser. `callback` completes the sign-in within ten minutes, in any process with the same store.
   */
  authorize(options?: AuthorizeOptions): Promise<Authorization>;
  /** Completes a sign-in with the URL of the redirect: checks `state` and `iss`, and exchanges the code for tokens. */
  callback(url: string | URL, options?: OAuthStepOptions): Promise<void>;
  /**
   * `fetch` with the access token on the origin of `baseUrl`; other origins never receive it. Refreshes the token and
   * retries once after a 401. Made for official MCP clients, among others.
   */
  readonly fetch: Fetch;
  /** Revokes the grant at the authorization server, then deletes its tokens. */
  revoke(options?: OAuthStepOptions): Promise<void>;
  /** Deletes tokens and registration from the store only. */
  forget(): Promise<void>;
}
