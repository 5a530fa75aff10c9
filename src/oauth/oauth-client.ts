import { resolveOptions } from '../client/client-options.ts';
import { checkNames } from '../client/option-names.ts';
import { ConfigurationError, check } from '../errors/audience-error.ts';
import type { Fetch } from '../http/send.ts';
import { operations } from '../spec/operations.ts';
import { abortable } from '../util/abort.ts';
import { authorizedFetch } from './authorized-fetch.ts';
import { authorize, callback, type SignInSetup } from './flow.ts';
import { Ledger } from './ledger.ts';
import type { OAuthClient, OAuthClientOptions } from './oauth-types.ts';
import { checkRedirectUri } from './redirect-uri.ts';
import { Requests } from './requests.ts';
import { Servers, type Target } from './servers.ts';
import { Session } from './session.ts';

/**
 * An OAuth 2.1 client of the service, for one user: authorization code with PKCE (S256), tokens that renew
 * themselves, one renewal for all who share the store.
 *
 * @throws {ConfigurationError} naming the option and the fix.
 * @example
 * const oauth = createOAuthClient({ baseUrl, redirectUri: 'http://127.0.0.1/callback', store });
 * const { url } = await oauth.authorize(); // send the user's browser there
 * await oauth.callback(returnedUrl); // the address that it came back to
 * const client = await connectMcp({ baseUrl, token: oauth, client: new Client({ name, version }) });
 */
export function createOAuthClient(options: OAuthClientOptions): OAuthClient {
  const setup = setUp(options);
  const session = new Session(setup);
  const get: OAuthClient['get'] = ({ rejected, signal } = {}) => session.get(rejected, signal);
  return {
    redirectUri: setup.redirectUri,
    get,
    // Whoever gives up does not wait for the store, either.
    authorize: (step = {}) => abortable(authorize(setup, step), step.signal),
    callback: (url, step = {}) => abortable(callback(setup, url, step).then(session.adopt), step.signal),
    fetch: authorizedFetch({ origin: setup.target.baseUrl.origin, tokens: { get }, fetch: setup.fetch }),
    revoke: ({ signal } = {}) => abortable(session.revoke(signal), signal),
    async forget() {
      await setup.ledger.forget();
      session.drop();
    },
  };
}

const NAMES: Readonly<Record<keyof OAuthClientOptions, true>> = {
  baseUrl: true,
  redirectUri: true,
  store: true,
  clientName: true,
  client: true,
  allowedIssuers: true,
  resource: true,
  allowInsecure: true,
  timeout: true,
  maxRetries: true,
  maxRetryWait: true,
  backoff: true,
  fetch: true,
  logger: true,
  logLevel: true,
};

/** What TypeScript would refuse, for JavaScript callers. */
function checkParts({ store, clientName, client, allowedIssuers }: Partial<OAuthClientOptions>): void {
  const hasLock = typeof store?.withLock === 'function';
  check(hasLock, '`store` is missing: give one such as `memoryTokenStore()`; it keeps the tokens.');
  check(clientName === undefined || typeof clientName === 'string', '`clientName` must be a text.');
  const { client_id: id } = client ?? { client_id: 'none' };
  check(typeof id === 'string' && id !== '', '`client` needs the `client_id` that it was registered with.');
  check(allowedIssuers === undefined || Array.isArray(allowedIssuers), '`allowedIssuers` must be a list of issuers.');
}

/** Checks the options and builds what the rooms share. */
function setUp(options: OAuthClientOptions): SignInSetup & { readonly fetch: Fetch } {
  checkNames(options, NAMES, 'createOAuthClient');
  checkParts(options);
  const { store, allowedIssuers = [], clientName = 'audience-activation', client, allowInsecure = false } = options;
  const { baseUrl, timeout, maxRetries, maxRetryWait, backoff, fetch, logger, logLevel } = options;
  const given = { baseUrl, allowInsecure, timeout, maxRetries, maxRetryWait, backoff, fetch, logger, logLevel };
  const { settings, redactor } = resolveOptions(given);
  const target = targetOf(settings.baseUrl, options.resource, allowedIssuers);
  const requests = new Requests(settings, redactor, allowInsecure);
  if (client?.client_secret !== undefined) redactor.addSecret(client.client_secret);
  return {
    target,
    requests,
    servers: new Servers(requests, target),
    ledger: new Ledger(store, target.baseUrl.origin, settings.logger, redactor),
    logger: settings.logger,
    redirectUri: checkRedirectUri(options.redirectUri),
    clientName,
    client,
    fetch: settings.fetch,
  };
}

function targetOf(base: string, resource: string | undefined, allowedIssuers: readonly string[]): Target {
  const baseUrl = new URL(base);
  const address = resource ?? `${base}${operations['mcp.send'].path}`;
  const url = URL.canParse(address, base) ? new URL(address, base) : undefined;
  if (url?.origin !== baseUrl.origin) {
    throw new ConfigurationError('`resource` must be a path or an address on the origin of `baseUrl`.');
  }
  return { baseUrl, resource: url, allowedIssuers };
}
