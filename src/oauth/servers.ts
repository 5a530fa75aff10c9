import { type AuthorizationServer, customFetch, discoveryRequest, processDiscoveryResponse } from 'oauth4webapi';
import { ConfigurationError } from '../errors/audience-error.ts';
import { OAuthError } from '../errors/oauth-errors.ts';
import { withoutTrailingSlashes } from '../util/base-url.ts';
import { type RequestParts, type Requests, UnusableAnswer } from './requests.ts';

/** The protected resource: what tokens are for. */
export interface Target {
  /** Address of the service. */
  readonly baseUrl: URL;
  /** The resource's own address, on the same origin. */
  readonly resource: URL;
  /** Issuers that may be used beside those on the service's origin. */
  readonly allowedIssuers: readonly string[];
}

/** The longest part of an address that an error shows, in characters. */
export const SHOWN_ADDRESS = 300;

/** The texts in what should be a list of them. */
export const texts = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];

/** Whether an issuer may be used: one on the service's origin, or one that the user has named. */
export function mayUse(issuer: string, { baseUrl, allowedIssuers }: Target): boolean {
  if (!URL.canParse(issuer)) return false;
  const named = withoutTrailingSlashes(issuer);
  return (
    new URL(issuer).origin === baseUrl.origin || allowedIssuers.some((one) => withoutTrailingSlashes(one) === named)
  );
}

const METADATA = '/.well-known/oauth-authorization-server';

type Ask = (parts: RequestParts) => Promise<Response>;

/**
 * How to ask a server for its description: as RFC 8414 says, as OpenID providers want it and, where the issuer has a
 * path, below that, which is where the specification has the document of a service with a path.
 */
function waysToAsk(issuer: URL): readonly Ask[] {
  const headers = { accept: 'application/json' };
  const below: Ask = ({ [customFetch]: fetch, signal }) =>
    fetch(`${withoutTrailingSlashes(issuer.href)}${METADATA}`, { method: 'GET', headers, redirect: 'manual', signal });
  return [
    (parts) => discoveryRequest(issuer, { ...parts, algorithm: 'oauth2' }),
    (parts) => discoveryRequest(issuer, { ...parts, algorithm: 'oidc' }),
    ...(issuer.pathname === '/' ? [] : [below]),
  ];
}

/** Authorization servers by their issuers, each read once a process, and anew for each sign-in. */
export class Servers {
  readonly #requests: Requests;
  readonly #target: Target;
  readonly #known = new Map<string, AuthorizationServer>();

  constructor(requests: Requests, target: Target) {
    this.#requests = requests;
    this.#target = target;
  }

  /** The server of a client or a grant that is stored. */
  async of(issuer: string, signal?: AbortSignal): Promise<AuthorizationServer> {
    const known = this.#known.get(issuer);
    if (known) return known;
    if (mayUse(issuer, this.#target)) return this.read(issuer, signal);
    const { origin } = this.#target.baseUrl;
    throw new ConfigurationError(
      `What is stored is of ${issuer}, which is neither on ${origin} nor among \`allowedIssuers\`.`,
    );
  }

  /** The metadata of a server (RFC 8414), or of an OpenID provider, which can be the same. */
  async read(issuer: string, signal: AbortSignal | undefined): Promise<AuthorizationServer> {
    const url = new URL(issuer);
    for (const ask of waysToAsk(url)) {
      const server = await this.#requests.perform({
        what: 'Reading the description of the authorization server',
        retry: 'always',
        signal,
        async work(parts) {
          const answer = await ask(parts);
          if (answer.status >= 500 || answer.status === 429) throw new UnusableAnswer(answer);
          return answer.ok ? processDiscoveryResponse(url, answer) : await answer.body?.cancel();
        },
      });
      if (!server) continue;
      this.#known.set(server.issuer, server);
      return server;
    }
    const shown = this.#requests.redactor.text(issuer, SHOWN_ADDRESS);
    throw new OAuthError(`The authorization server ${shown} does not describe itself.`, { error: 'invalid_response' });
  }
}
