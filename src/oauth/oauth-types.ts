import type { Fetch, RequestOptions, TokenSource, TokenStore } from '../index.ts';
import type { Optional } from '../spec/wire-values.ts';
import type { Logger, LogLevel } from '../util/log.ts';
import type { Backoff } from '../util/retry.ts';

/** A client that is already registered with the authorization server. */
export interface RegisteredClient {
  /** Client id from the authorization server. */
  readonly client_id: string;
  /** Secret of a confidential client. Do not set it in a browser, where users can read it. */
  readonly client_secret?: string | undefined;
}

/**
 * Options of {@link createOAuthClient}. The client starts retries of a request to the authorization server only within
 * a minute.
 */
export interface OAuthClientOptions extends Pick<RequestOptions, 'timeout' | 'maxRetries' | 'maxRetryWait'> {
  /** URL of the service, as for `AudienceClient`. @default the environment variable AUDIENCE_BASE_URL */
  readonly baseUrl?: string | undefined;
  /**
   * URI to which the authorization server redirects the browser: an exact `https` URI on a host that the service has
   * approved, or an `http` URI of a loopback host. For a loopback URI without a port, `signInWithBrowser` listens on a
   * free port.
   */
  readonly redirectUri: string;
  /** Store of the user's tokens, the client registration and pending sign-ins. Use one store per user. */
  readonly store: TokenStore;
  /** Name of the client on the consent page. @default 'audience-activation' */
  readonly clientName?: string | undefined;
  /** An already registered client. @default a client that `authorize` registers */
  readonly client?: RegisteredClient | undefined;
  /** Allowed issuers (authorization servers), in addition to issuers on the origin of `baseUrl`. @default [] */
  readonly allowedIssuers?: readonly string[] | undefined;
  /** Resource for which to request tokens: a path or a URL on the origin of `baseUrl`. @default the MCP endpoint */
  readonly resource?: string | undefined;
  /** Also allows `http:` for hosts other than loopback. @default false */
  readonly allowInsecure?: boolean | undefined;
  /** Bounds of the random delay between attempts, in milliseconds. @default { min: 500, max: 30000 } ms */
  readonly backoff?: Optional<Backoff> | undefined;
  /** Function that sends requests instead of the global `fetch`. */
  readonly fetch?: Fetch | undefined;
  /** Logger that receives the log lines. @default console */
  readonly logger?: Logger | undefined;
  /** Minimum severity of the lines to log. @default 'warn' */
  readonly logLevel?: LogLevel | undefined;
}

/** Options of one step of the flow. */
export interface OAuthStepOptions {
  /** Signal that aborts the step. The step rejects with the reason of the signal. */
  readonly signal?: AbortSignal | undefined;
}

/** Options of {@link OAuthClient.authorize}. */
export interface AuthorizeOptions extends OAuthStepOptions {
  /** Redirect URI of this sign-in. @default the `redirectUri` of the client */
  readonly redirectUri?: string | undefined;
  /** Scope to request. @default the scope in the challenge or the metadata of the service */
  readonly scope?: string | undefined;
}

/** A pending sign-in. */
export interface Authorization {
  /** URL to which to redirect the user's browser. */
  readonly url: string;
  /** Value of `state` in the callback URL of this sign-in. */
  readonly state: string;
}

/** An OAuth 2.1 client of the service for one user: a token source, and a `fetch` that uses it. */
export interface OAuthClient extends TokenSource {
  /** The `redirectUri` of the options. */
  readonly redirectUri: string;
  /**
   * Returns an access token that has not expired. Refreshes the token up to a minute before its expiry, or if it equals
   * `rejected`. Concurrent callers share a refresh. Never opens a browser.
   *
   * @throws {ReauthorizationRequiredError} if the user must sign in.
   */
  get(options?: {
    /** Token that the service has just refused. */
    readonly rejected?: string | undefined;
    /** Signal that aborts waiting for the token. A refresh for other callers continues. */
    readonly signal?: AbortSignal | undefined;
  }): Promise<string>;
  /**
   * Starts a sign-in: discovers the authorization server, registers a client if necessary, and returns the URL for the
   * user's browser. Complete the sign-in with `callback` within ten minutes, in any process with the same store.
   */
  authorize(options?: AuthorizeOptions): Promise<Authorization>;
  /** Completes a sign-in with the URL of the redirect: checks `state` and `iss`, and exchanges the code for tokens. */
  callback(url: string | URL, options?: OAuthStepOptions): Promise<void>;
  /**
   * Sends requests like `fetch`, and adds the access token to requests to the origin of `baseUrl`. After a 401,
   * refreshes the token and retries once, if the body can be sent again. Does not follow redirects from this origin.
   * You can pass this function to the transport of an official MCP client.
   */
  readonly fetch: Fetch;
  /** Revokes the grant at the authorization server, then deletes its tokens from the store. */
  revoke(options?: OAuthStepOptions): Promise<void>;
  /** Deletes the tokens, the client registration and pending sign-ins from the store, without revoking the grant. */
  forget(): Promise<void>;
}
