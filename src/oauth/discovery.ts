import { type AuthorizationServer, type CustomFetchOptions, customFetch, processDiscoveryResponse } from 'oauth4webapi';
import { ConfigurationError } from '../errors/audience-error.ts';
import { OAuthError } from '../errors/oauth-errors.ts';
import { withoutTrailingSlashes } from '../util/base-url.ts';
import { isObject, parseJson, stringsOf } from '../util/json.ts';
import { CHECK_BASE_URL, ErrorResponse, type OAuthHttp } from './oauth-http.ts';

const ALLOW_ISSUER = 'Add the issuer to `allowedIssuers` if you trust it.';

/** The protected resource that accepts the tokens. */
export interface ProtectedResource {
  readonly baseUrl: URL;
  /** URL of the resource, on the origin of the service. */
  readonly url: URL;
  readonly allowedIssuers: readonly string[];
}

/** Metadata of a protected resource (RFC 9728, section 2). */
interface ResourceMetadata {
  readonly resource: string;
  readonly issuers: readonly string[];
  readonly scopes: readonly string[];
}

const RESOURCE_METADATA = '/.well-known/oauth-protected-resource';
const SERVER_METADATA = '/.well-known/oauth-authorization-server';
const OPENID_METADATA = '/.well-known/openid-configuration';

/** Maximum number of characters of a URL in an error message. */
const MAX_URL_LENGTH = 300;

/** A request that the client sends only for the `WWW-Authenticate` challenge in the response. */
const PING = {
  method: 'POST',
  headers: { accept: 'application/json, text/event-stream', 'content-type': 'application/json' },
  body: JSON.stringify({ jsonrpc: '2.0', id: 'discovery', method: 'ping' }),
};

const GET = { method: 'GET', headers: { accept: 'application/json' }, body: undefined };

/** Finds the authorization server of a protected resource through the metadata of both. */
export class Discovery {
  readonly #http: OAuthHttp;
  readonly #resource: ProtectedResource;
  /**
   * Metadata of authorization servers by issuer. `authorize` reads the metadata again; all other steps use this cache.
   */
  readonly #servers = new Map<string, AuthorizationServer>();

  constructor(http: OAuthHttp, resource: ProtectedResource) {
    this.#http = http;
    this.#resource = resource;
  }

  /**
   * Finds the authorization server, the identifier of the resource (RFC 8707) and the scopes to request. Reads the
   * resource's metadata from the URL in the challenge (RFC 9728, section 5.1), or from a well-known URL (section 3.1).
   */
  async discover(signal?: AbortSignal) {
    const name = 'Requesting the challenge of the service';
    const header = await this.#send(name, PING, this.#resource.url.href, signal, async ({ headers }) => {
      return headers.get('www-authenticate') ?? '';
    });
    const metadata = await this.#readResource(parameterOf(header, 'resource_metadata'), signal);
    const server = await this.#readServer(this.#chooseIssuer(metadata), signal);
    const scope = parameterOf(header, 'scope') ?? metadata?.scopes.join(' ');
    return { server, resource: metadata?.resource, scope: scope || undefined };
  }

  async serverOf(issuer: string, signal?: AbortSignal): Promise<AuthorizationServer> {
    const cached = this.#servers.get(issuer);
    if (cached) return cached;
    if (this.#isAllowed(issuer)) return this.#readServer(issuer, signal);
    const { origin } = this.#resource.baseUrl;
    const message = `The stored client is registered at ${issuer}, which is neither on ${origin} nor in \`allowedIssuers\`.`;
    throw new ConfigurationError(message, { advice: ALLOW_ISSUER });
  }

  #isAllowed(issuer: string): boolean {
    const { baseUrl, allowedIssuers } = this.#resource;
    if (!URL.canParse(issuer)) return false;
    const isSame = (other: string): boolean => withoutTrailingSlashes(other) === withoutTrailingSlashes(issuer);
    return new URL(issuer).origin === baseUrl.origin || allowedIssuers.some(isSame);
  }

  /** Returns the resource's metadata from the first URL that returns metadata, or `undefined`. */
  async #readResource(challenged?: string, signal?: AbortSignal): Promise<ResourceMetadata | undefined> {
    const { baseUrl, url } = this.#resource;
    const { origin } = baseUrl;
    const below = withoutTrailingSlashes(baseUrl.pathname) + RESOURCE_METADATA;
    const places = [challenged, RESOURCE_METADATA + url.pathname, RESOURCE_METADATA, below];
    const hrefs = places.map((place) => (place && URL.canParse(place, origin) ? new URL(place, origin).href : ''));
    // Trust only the origin of the service: metadata of other origins could name any authorization server.
    for (const href of new Set(hrefs.filter((candidate) => candidate.startsWith(`${origin}/`)))) {
      const metadata = await this.#send('Reading the metadata of the service', GET, href, signal, readMetadata);
      if (metadata) return this.#checkResource(metadata);
    }
    return undefined;
  }

  /** Throws unless the metadata describe the requested resource, or a resource that contains it. */
  #checkResource(metadata: ResourceMetadata): ResourceMetadata {
    const { url } = this.#resource;
    const described = new URL(metadata.resource);
    const folder = (path: string): string => `${withoutTrailingSlashes(path)}/`;
    if (described.origin === url.origin && folder(url.pathname).startsWith(folder(described.pathname))) return metadata;
    const message = `The service's metadata describe the resource ${this.#formatUrl(metadata.resource)} instead of ${url.href}.`;
    const advice = "Set `baseUrl` to the service's own address.";
    throw new OAuthError(message, { error: 'invalid_target', advice });
  }

  /** Returns the first allowed issuer in the metadata. Without metadata, returns the origin of the service. */
  #chooseIssuer(metadata?: ResourceMetadata): string {
    const { origin } = this.#resource.baseUrl;
    const issuers = metadata?.issuers.length ? metadata.issuers : [origin];
    const allowed = issuers.find((issuer) => this.#isAllowed(issuer));
    if (allowed !== undefined) return allowed;
    const message = `The service names the authorization server ${this.#formatUrl(issuers[0])}, which is neither on ${origin} nor in \`allowedIssuers\`.`;
    throw new OAuthError(message, { error: 'issuer_not_allowed', advice: ALLOW_ISSUER });
  }

  /**
   * Reads the metadata of an authorization server. Tries the URLs of RFC 8414 and OpenID Connect Discovery, and the URL
   * that the specification defines below the issuer's path.
   */
  async #readServer(issuer: string, signal?: AbortSignal): Promise<AuthorizationServer> {
    const url = new URL(issuer);
    const path = withoutTrailingSlashes(url.pathname);
    const paths = [SERVER_METADATA + path, path + OPENID_METADATA, path + SERVER_METADATA];
    for (const href of new Set(paths.map((candidate) => url.origin + candidate))) {
      const name = 'Reading the metadata of the authorization server';
      const server = await this.#send(name, GET, href, signal, async (response) => {
        return response instanceof ErrorResponse ? undefined : processDiscoveryResponse(url, response);
      });
      if (!server) continue;
      this.#servers.set(server.issuer, server);
      return server;
    }
    const message = `The authorization server ${this.#formatUrl(issuer)} does not publish metadata.`;
    throw new OAuthError(message, { error: 'invalid_response', advice: CHECK_BASE_URL });
  }

  /** Sends a request without credentials, and decodes the response. Retries after transient errors. */
  #send<T>(
    name: string,
    init: Pick<CustomFetchOptions<string, string | undefined>, 'method' | 'headers' | 'body'>,
    href: string,
    signal: AbortSignal | undefined,
    decode: (response: Response | ErrorResponse) => Promise<T>,
  ): Promise<T> {
    return this.#http.send({
      name,
      server: new URL(href).origin,
      retry: 'always',
      signal,
      execute: ({ [customFetch]: fetch, signal }) =>
        fetch(href, { ...init, redirect: 'manual', signal })
          .catch(finalResponse)
          .then(decode),
    });
  }

  #formatUrl(url = ''): string {
    return this.#http.redactor.text(url, MAX_URL_LENGTH);
  }
}

/** Returns an error response, to decode it like a success. Throws for the statuses 429 and 5xx, and any other error. */
function finalResponse(error: unknown): ErrorResponse {
  if (error instanceof ErrorResponse && error.status < 500 && error.status !== 429) return error;
  throw error;
}

/** Returns a parameter of a `WWW-Authenticate` header (RFC 9110, section 11.6.1). */
function parameterOf(header: string, name: string): string | undefined {
  const match = new RegExp(`(?:^|[\\s,])${name}\\s*=\\s*(?:"((?:[^"\\\\]|\\\\.)*)"|([^\\s,"]+))`, 'i').exec(header);
  return match?.[1]?.replace(/\\(.)/g, '$1') ?? match?.[2];
}

async function readMetadata(response: Response | ErrorResponse): Promise<ResourceMetadata | undefined> {
  if (response instanceof ErrorResponse) return undefined;
  const body = parseJson(await response.text());
  if (!isObject(body) || typeof body.resource !== 'string' || !URL.canParse(body.resource)) return undefined;
  const { resource, authorization_servers, scopes_supported } = body;
  return { resource, issuers: stringsOf(authorization_servers), scopes: stringsOf(scopes_supported) };
}
