import { fetchOf } from '../client/index.ts';
import { ConfigurationError, check } from '../errors/audience-error.ts';
import { operations } from '../spec/operations.ts';
import { abortable } from '../util/abort.ts';
import { checkBaseUrl } from '../util/base-url.ts';
import { formatUrl } from '../util/input-checks.ts';
import { isObject } from '../util/json.ts';
import { createLogger, isLogger, LOG_LEVELS } from '../util/log.ts';
import * as option from '../util/options.ts';
import { Redactor } from '../util/redact.ts';
import type { Backoff } from '../util/retry.ts';
import { checkRuntime } from '../util/runtime.ts';
import { authorize, redeem } from './authorization-code.ts';
import { authorizedFetch } from './authorized-fetch.ts';
import { Discovery } from './discovery.ts';
import { OAuthHttp } from './oauth-http.ts';
import type { OAuthClient, OAuthClientOptions } from './oauth-types.ts';
import { checkRedirectUri } from './redirect-uri.ts';
import { type OAuthContext, Session } from './session.ts';
import { TokenRepository } from './token-repository.ts';

const checkOptions = option.optionChecker<OAuthClientOptions>('createOAuthClient', {
  baseUrl: option.anyOption,
  redirectUri: option.anyOption,
  store: option.anyOption,
  clientName: option.stringOption,
  client: option.optionOf(hasClientId, 'must contain the `client_id` of a registered client'),
  allowedIssuers: option.optionOf(Array.isArray, 'must be an array of issuers'),
  resource: option.stringOption,
  allowInsecure: option.booleanOption,
  timeout: option.nonNegative,
  maxRetries: option.nonNegative,
  maxRetryWait: option.nonNegative,
  backoff: option.nestedOptions<Backoff>({ min: option.nonNegative, max: option.nonNegative }),
  fetch: option.functionOption,
  logger: option.optionOf(isLogger, 'must have the methods error, warn, info and debug'),
  logLevel: option.choice(...LOG_LEVELS),
});

/**
 * Creates an OAuth 2.1 client of the service for one user: authorization code flow with PKCE (S256), and automatic
 * refresh of tokens. Of the processes that share a store, only one refreshes the tokens at a time.
 *
 * @throws {ConfigurationError} for an invalid option.
 * @example
 * const oauth = createOAuthClient({ baseUrl, redirectUri: 'http://127.0.0.1/callback', store });
 * const { url } = await oauth.authorize(); // redirect the user's browser there
 * await oauth.callback(redirectedUrl); // the URL that the browser is redirected to afterwards
 * const client = await connectMcp({ baseUrl, token: oauth, client: new Client({ name, version }) });
 */
export function createOAuthClient(options: OAuthClientOptions): OAuthClient {
  checkRuntime(options?.fetch);
  checkOptions(options);
  const { store, fetch = fetchOf(), client, clientName = 'audience-activation' } = options;
  check(typeof store?.withLock === 'function', '`store` must be a token store, such as `memoryTokenStore()`.');
  const redactor = new Redactor();
  redactor.addSecret(client?.client_secret);
  const logger = createLogger(options.logger ?? console, options.logLevel ?? 'warn', redactor);
  const resource = resourceOf(options);
  const { origin } = resource.baseUrl;
  const http = new OAuthHttp(options, redactor);
  const context: OAuthContext = {
    http,
    discovery: new Discovery(http, resource),
    repository: new TokenRepository(store, origin, logger, redactor),
    logger,
    redirectUri: checkRedirectUri(options.redirectUri),
    clientName,
    client,
  };
  const session = new Session(context);
  const get: OAuthClient['get'] = ({ rejected, signal } = {}) => session.get(rejected, signal);
  const complete = async (url: string | URL, signal: AbortSignal | undefined): Promise<void> =>
    session.replace(await redeem(context, url, signal));
  return {
    redirectUri: context.redirectUri,
    get,
    // Use `abortable`, because the methods of the store take no signal.
    authorize: (step = {}) => abortable(authorize(context, step), step.signal),
    callback: (url, { signal } = {}) => abortable(complete(url, signal), signal),
    fetch: authorizedFetch(origin, { get }, fetch),
    revoke: ({ signal } = {}) => abortable(session.revoke(signal), signal),
    async forget() {
      await context.repository.clear();
      session.replace(undefined);
    },
  };
}

function hasClientId(client: unknown): boolean {
  return isObject(client) && typeof client.client_id === 'string' && client.client_id !== '';
}

function resourceOf({ baseUrl, resource, allowInsecure = false, allowedIssuers = [] }: OAuthClientOptions) {
  const base = checkBaseUrl(baseUrl, allowInsecure);
  const address = resource ?? `${base}${operations['mcp.send'].path}`;
  const url = URL.canParse(address, base) ? new URL(address, base) : undefined;
  if (url?.origin === new URL(base).origin) return { baseUrl: new URL(base), url, allowedIssuers };
  throw new ConfigurationError(
    `\`resource\` must be a path or a URL on the origin of \`baseUrl\`, not ${formatUrl(address)}.`,
  );
}
