import { type AuthorizationServer, customFetch } from 'oauth4webapi';
import { OAuthError } from '../errors/oauth-errors.ts';
import { withoutTrailingSlashes } from '../util/base-url.ts';
import { isObject, parseJson } from '../util/json.ts';
import type { Redactor } from '../util/redact.ts';
import { type RequestParts, type Requests, UnusableAnswer } from './requests.ts';
import { mayUse, type Servers, SHOWN_ADDRESS, type Target, texts } from './servers.ts';

/** What the service's documents say. */
export interface Discovery {
  readonly server: AuthorizationServer;
  /** The resource's name for itself (RFC 8707); none where the service does not describe it. */
  readonly resource?: string;
  /** Scopes to ask for, where some document names them. */
  readonly scope?: string;
}

/** A resource's description of itself (RFC 9728, section 2), as far as it is used. */
interface ResourceDocument {
  readonly resource: string;
  readonly issuers: readonly string[];
  readonly scopes: readonly string[];
}

const METADATA = '/.well-known/oauth-protected-resource';

/** A message without effect: only the challenge to it is wanted. */
const PING = JSON.stringify({ jsonrpc: '2.0', id: 'discovery', method: 'ping' });

/**
 * Finds the authorization server: by the address in the challenge to a request without a token,
 * then by the resource's path, then at the root (RFC 9728, sections 3.1 and 5.1).
 */
export async function discover(
  requests: Requests,
  servers: Servers,
  target: Target,
  signal?: AbortSignal,
): Promise<Discovery> {
  const challenge = await readChallenge(requests, target, signal);
  const document = await readResource(requests, target, challenge.metadata, signal);
  const server = await servers.read(chooseIssuer(document, target, requests.redactor), signal);
  const scope = challenge.scope ?? document?.scopes.join(' ');
  return { server, ...(document && { resource: document.resource }), ...(scope && { scope }) };
}

/** What the service answers to a request without a token. */
async function readChallenge(
  requests: Requests,
  { resource }: Target,
  signal: AbortSignal | undefined,
): Promise<{ readonly metadata: string | undefined; readonly scope: string | undefined }> {
  const headers = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' };
  const header = await requests.perform({
    what: 'Asking the service for its challenge',
    retry: 'always',
    signal,
    async work(parts) {
      const answer = await request(parts, resource, { method: 'POST', headers, body: PING });
      await answer.body?.cancel();
      return answer.headers.get('www-authenticate') ?? '';
    },
  });
  return { metadata: parameterOf(header, 'resource_metadata'), scope: parameterOf(header, 'scope') };
}

/** Sends a request of its own; what passes by itself is a failure. */
async function request(parts: RequestParts, url: URL, init: RequestInit): Promise<Response> {
  const answer = await parts[customFetch](url.href, { ...init, redirect: 'manual', signal: parts.signal });
  if (answer.status >= 500 || answer.status === 429) throw new UnusableAnswer(answer);
  return answer;
}

/** A parameter of a `WWW-Authenticate` header (RFC 9110, section 11.6.1). */
function parameterOf(header: string, name: string): string | undefined {
  const match = new RegExp(`(?:^|[\\s,])${name}\\s*=\\s*(?:"((?:[^"\\\\]|\\\\.)*)"|([^\\s,"]+))`, 'i').exec(header);
  return match?.[1]?.replace(/\\(.)/g, '$1') ?? match?.[2];
}

/** The resource's description, from the first place that has one. */
async function readResource(
  requests: Requests,
  target: Target,
  challenged: string | undefined,
  signal: AbortSignal | undefined,
): Promise<ResourceDocument | undefined> {
  const { origin } = target.baseUrl;
  const places = [
    challenged,
    `${METADATA}${target.resource.pathname}`,
    METADATA,
    `${withoutTrailingSlashes(target.baseUrl.href)}${METADATA}`,
  ];
  const urls = places.filter((place) => place !== undefined && URL.canParse(place, origin));
  // A description of this service is on its own origin; anybody's could name any server.
  const own = urls.map((place) => new URL(place ?? '', origin)).filter((url) => url.origin === origin);
  for (const url of new Map(own.map((one) => [one.href, one])).values()) {
    const text = await requests.perform({
      what: 'Reading the description of the service',
      retry: 'always',
      signal,
      async work(parts) {
        const answer = await request(parts, url, { method: 'GET', headers: { accept: 'application/json' } });
        return answer.ok ? await answer.text() : await answer.body?.cancel();
      },
    });
    const document = text === undefined ? undefined : readDocument(text);
    if (document) return checkResource(document, target, requests.redactor);
  }
  return undefined;
}

function readDocument(text: string): ResourceDocument | undefined {
  const body = parseJson(text);
  if (!isObject(body) || typeof body.resource !== 'string' || !URL.canParse(body.resource)) return undefined;
  return { resource: body.resource, issuers: texts(body.authorization_servers), scopes: texts(body.scopes_supported) };
}

/** The description must be of this resource, or of one that it is part of. */
function checkResource(document: ResourceDocument, { resource }: Target, redactor: Redactor): ResourceDocument {
  const described = new URL(document.resource);
  const folder = (path: string): string => `${withoutTrailingSlashes(path)}/`;
  if (described.origin === resource.origin && folder(resource.pathname).startsWith(folder(described.pathname))) {
    return document;
  }
  const shown = redactor.text(document.resource, SHOWN_ADDRESS);
  const message = `The service describes another resource, ${shown}, than ${resource.href}. Set \`baseUrl\` to the service's own address.`;
  throw new OAuthError(message, { error: 'invalid_target' });
}

/** The first authorization server of the resource that may be used. Older services are their own. */
function chooseIssuer(document: ResourceDocument | undefined, target: Target, redactor: Redactor): string {
  const { baseUrl } = target;
  const issuers = document && document.issuers.length > 0 ? document.issuers : [baseUrl.origin];
  const allowed = issuers.find((issuer) => mayUse(issuer, target));
  if (allowed !== undefined) return allowed;
  const shown = redactor.text(issuers[0] ?? '', SHOWN_ADDRESS);
  const message = `The service names the authorization server ${shown}, which is neither on ${baseUrl.origin} nor among \`allowedIssuers\`. Add it there if it is known to be right.`;
  throw new OAuthError(message, { error: 'issuer_not_allowed' });
}
