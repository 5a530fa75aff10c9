import { generateKeyPairSync } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { type Adapter, type AdapterPayload, type Configuration, errors, Provider } from 'oidc-provider';
import { z } from 'zod';
import { listenForTest } from './loopback.ts';

/** Options of the authorization server and the MCP endpoint. */
interface OidcOptions {
  /** Serves the MCP endpoint on its own origin. @default false */
  readonly separateResource?: boolean;
}

/** A request to the token endpoint. */
interface TokenRequest {
  readonly grantType: string;
  readonly status: number;
}

/** An authorization server of `oidc-provider`, and an MCP endpoint that accepts its tokens. */
export interface OidcServer {
  /** Origin and issuer of the authorization server. */
  readonly url: string;
  /** URL of the MCP endpoint. */
  readonly resource: string;
  /** Requests to the token endpoint, in order of their responses. */
  readonly requests: readonly TokenRequest[];
  /** Signs in and consents as a user in a browser does; returns the URL of the final redirect. */
  consent(authorizationUrl: string | URL): Promise<string>;
  /** Expires every access token; refresh tokens stay valid. */
  endAccessTokens(): void;
  /** Processes the next request to a path of the authorization server, and never responds; resolves when processed. */
  loseResponse(path: string): Promise<void>;
}

/** Path of the resource's metadata (RFC 9728); the resource's own path may follow. */
const RESOURCE_METADATA = '/.well-known/oauth-protected-resource';
const MCP_PATH = '/api/v2/mcp';

const ACCOUNT = 'ada@example.com';
const SCOPE = 'mcp';
const INTERACTION = '/interaction/';
const DAY = 86_400;

/** Starts the authorization server and the MCP endpoint on free ports of loopback, for the running test. */
export async function startOidc(options: OidcOptions = {}): Promise<OidcServer> {
  const front = createServer();
  const back = options.separateResource ? createServer() : front;
  const url = await listenForTest(front);
  const resource = `${back === front ? url : await listenForTest(back)}${MCP_PATH}`;
  const accessTokens = createStorage();
  const provider = new Provider(url, configurationOf(resource, accessTokens));
  const loseResponse = loseResponses(provider);
  const requests = recordTokenRequests(provider);
  const isLive = async (value: string): Promise<boolean> => {
    const token = await provider.AccessToken.find(value);
    // `find` also returns tokens that expired some seconds ago.
    return token?.isValid === true && token.aud === resource && token.scopes.has(SCOPE);
  };
  const respond = (request: Request): Promise<Response> => serveMcpResource({ resource, issuer: url, isLive }, request);
  const serveResource = getRequestListener(respond, { overrideGlobalObjects: false });
  const serveProvider = provider.callback();
  if (back !== front) {
    back.on('request', (request, response) => allowCors(request, response) || serveResource(request, response));
  }
  front.on('request', (request, response) => {
    if (allowCors(request, response)) return;
    const path = request.url ?? '';
    if (back === front && isOfResource(path)) return serveResource(request, response);
    if (!path.startsWith(INTERACTION)) return serveProvider(request, response);
    return interact(provider, resource, request, response).catch((error) => response.writeHead(400).end(String(error)));
  });
  return {
    url,
    resource,
    requests,
    consent: (address) => walkRedirects(address, redirectUriOf(address)),
    endAccessTokens: () => accessTokens.clear(),
    loseResponse,
  };
}

function redirectUriOf(authorizationUrl: string | URL): string {
  const uri = new URL(authorizationUrl).searchParams.get('redirect_uri');
  if (uri === null) throw new Error('The authorization request names no redirect URI.');
  return uri;
}

const isOfResource = (path: string): boolean => [RESOURCE_METADATA, MCP_PATH].some((start) => path.startsWith(start));

/** Allows pages of other origins to read the response; responds to a preflight request and returns true. */
function allowCors({ method, headers }: IncomingMessage, response: ServerResponse): boolean {
  response.setHeader('access-control-allow-origin', '*');
  response.setHeader('access-control-expose-headers', 'www-authenticate');
  if (method !== 'OPTIONS') return false;
  response.setHeader('access-control-allow-headers', headers['access-control-request-headers'] ?? '');
  response.writeHead(204).end();
  return true;
}

function loseResponses(provider: Provider): OidcServer['loseResponse'] {
  const lost = new Map<string, () => void>();
  provider.use(async ({ path }, next) => {
    await next();
    const onProcessed = lost.get(path);
    if (!onProcessed) return;
    lost.delete(path);
    onProcessed();
    await new Promise(() => {});
  });
  return (path) => new Promise((resolve) => void lost.set(path, resolve));
}

function recordTokenRequests(provider: Provider): TokenRequest[] {
  const requests: TokenRequest[] = [];
  provider.use(async (context, next) => {
    await next();
    if (context.method !== 'POST' || context.path !== '/token') return;
    requests.push({ grantType: String(context.oidc.params?.grant_type), status: context.status });
  });
  return requests;
}

function configurationOf(resource: string, accessTokens: Adapter): Configuration {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return {
    adapter: (kind) => (kind === 'AccessToken' ? accessTokens : createStorage()),
    jwks: { keys: [privateKey.export({ format: 'jwk' })] },
    cookies: { keys: ['of-tests'] },
    scopes: ['openid', SCOPE],
    responseTypes: ['code'],
    clientDefaults: { id_token_signed_response_alg: 'ES256' },
    clientBasedCORS: () => true,
    findAccount: (_, accountId) => ({ accountId, claims: () => ({ sub: accountId }) }),
    pkce: { required: () => true },
    // By default, refresh tokens require the scope `offline_access`, and without it expire with the browser's session.
    issueRefreshToken: (_, client) => client.grantTypeAllowed('refresh_token'),
    expiresWithSession: () => false,
    rotateRefreshToken: true,
    renderError: (context, { error, error_description }) => {
      context.body = `${error}: ${error_description}`;
    },
    interactions: { url: (_, { uid }) => `${INTERACTION}${uid}` },
    ttl: {
      AccessToken: 3_600,
      AuthorizationCode: 600,
      Grant: 60 * DAY,
      Interaction: 600,
      RefreshToken: 60 * DAY,
      Session: DAY,
    },
    features: featuresOf(resource),
  };
}

function featuresOf(resource: string): NonNullable<Configuration['features']> {
  return {
    devInteractions: { enabled: false },
    registration: { enabled: true },
    resourceIndicators: {
      enabled: true,
      getResourceServerInfo: (_, asked) => {
        if (asked !== resource) throw new errors.InvalidTarget();
        return { audience: resource, scope: SCOPE, accessTokenFormat: 'opaque' };
      },
    },
    revocation: { enabled: true, allowedPolicy: (_, client, token) => token.clientId === client.clientId },
    rpInitiatedLogout: { enabled: false },
    userinfo: { enabled: false },
  };
}

/** Acts as a user: signs in, then grants everything that is requested. */
async function interact(
  provider: Provider,
  resource: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { prompt, params, session } = await provider.interactionDetails(request, response);
  if (prompt.name === 'login')
    return provider.interactionFinished(request, response, { login: { accountId: ACCOUNT } });
  const grant = new provider.Grant({ accountId: session?.accountId, clientId: String(params.client_id) });
  grant.addOIDCScope(`openid ${SCOPE}`);
  grant.addResourceScope(resource, SCOPE);
  return provider.interactionFinished(request, response, { consent: { grantId: await grant.save() } });
}

/** A protected MCP endpoint. */
interface McpResource {
  /** URL of the endpoint, for which tokens are requested. */
  readonly resource: string;
  /** Issuer of the authorization server. */
  readonly issuer: string;
  isLive(token: string): Promise<boolean>;
}

const handler = createMcpHandler(() => {
  const server = new McpServer({ name: 'echo', version: '1' });
  server.registerTool('echo', { inputSchema: z.object({ text: z.string() }) }, ({ text }) => ({
    content: [{ type: 'text', text }],
  }));
  return server;
});

/** Serves the MCP endpoint, which has one tool, `echo`, and its metadata. */
async function serveMcpResource({ resource, issuer, isLive }: McpResource, request: Request): Promise<Response> {
  if (new URL(request.url).pathname !== MCP_PATH)
    return Response.json({ resource, authorization_servers: [issuer], scopes_supported: ['mcp'] });
  const token = /^bearer (\S+)$/i.exec(request.headers.get('authorization') ?? '')?.[1];
  if (token !== undefined && (await isLive(token))) return handler.fetch(request);
  const error = token === undefined ? '' : 'error="invalid_token", ';
  const challenge = `Bearer ${error}resource_metadata="${new URL(RESOURCE_METADATA, resource)}"`;
  return new Response(null, { status: 401, headers: { 'www-authenticate': challenge } });
}

/** Creates in-memory storage of an authorization server for one model (`AccessToken`, `Grant`, …). */
function createStorage(): Adapter & { clear(): void } {
  const items = new Map<string, AdapterPayload>();
  const by = (name: 'uid' | 'userCode', value: string) => [...items.values()].find((item) => item[name] === value);
  return {
    upsert: async (id, payload) => void items.set(id, payload),
    find: async (id) => items.get(id),
    findByUid: async (uid) => by('uid', uid),
    findByUserCode: async (userCode) => by('userCode', userCode),
    consume: async (id) => void Object.assign(items.get(id) ?? {}, { consumed: Math.floor(Date.now() / 1_000) }),
    destroy: async (id) => void items.delete(id),
    async revokeByGrantId(grantId) {
      for (const [id, payload] of items) if (payload.grantId === grantId) items.delete(id);
    },
    clear: () => items.clear(),
  };
}

/** Maximum number of redirects: enough for two pages, each of which redirects once or twice. */
const MOST_REDIRECTS = 20;

/**
 * Follows redirects as a browser with cookies does. Returns the first URL that begins with `target`, without fetching
 * it.
 */
async function walkRedirects(start: string | URL, target: string): Promise<string> {
  const cookies = new CookieJar();
  let url = new URL(start);
  for (let redirects = 0; redirects < MOST_REDIRECTS; redirects++) {
    const answer = await fetch(url, { redirect: 'manual', headers: { cookie: cookies.for(url) } });
    cookies.take(answer);
    const location = answer.headers.get('location');
    if (location === null) throw new Error(`${url.pathname} answered ${answer.status}: ${await answer.text()}`);
    await answer.body?.cancel();
    url = new URL(location, url);
    if (url.href.startsWith(target)) return url.href;
  }
  throw new Error(`No redirect led to ${target}.`);
}

/** Cookies of one host, by path and name. */
class CookieJar {
  readonly #cookies = new Map<string, { readonly path: string; readonly pair: string }>();

  take(answer: Response): void {
    for (const line of answer.headers.getSetCookie()) {
      const [pair = '', ...attributes] = line.split('; ');
      const path = attributes.find((text) => text.startsWith('path='))?.slice('path='.length) ?? '/';
      const [name, value] = pair.split('=', 2);
      const key = `${path} ${name}`;
      if (value === '') this.#cookies.delete(key);
      else this.#cookies.set(key, { path, pair });
    }
  }

  for({ pathname }: URL): string {
    const sent = [...this.#cookies.values()].filter(({ path }) => pathname.startsWith(path));
    return sent.map(({ pair }) => pair).join('; ');
  }
}
