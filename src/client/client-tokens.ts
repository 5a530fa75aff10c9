import { ConfigurationError } from '../errors/audience-error.ts';
import { configuredBaseUrl } from '../util/base-url.ts';
import { isUsableToken } from '../util/input-checks.ts';
import { Redactor } from '../util/redact.ts';
import { type ClientTokens, clientTokens, type TokenInput } from './auth/token-source.ts';
import type { ClientOptions } from './client-options.ts';
import { createTransport } from './create-transport.ts';
import type { Transport } from './http/transport.ts';
import { loginToken } from './token-sources.ts';

type Problem = readonly [message: string, advice: string];

const NO_TOKEN: Problem = [
  '`token` is missing.',
  'Pass a token, a function or a token source such as `apiToken(credentials, { store })`, or set AUDIENCE_TOKEN.',
];
const NO_TOKEN_AND_BASE_URL: Problem = [
  '`token` and `baseUrl` are missing.',
  'Pass both, or set AUDIENCE_TOKEN and AUDIENCE_BASE_URL, e.g. to "https://api.example.com".',
];
const NO_MCP_TOKEN: Problem = [
  '`mcpToken` is missing: `client.mcp` needs a token of scope `mcp`.',
  'Pass `mcpToken(credentials, { store })` or an OAuth client.',
];

/** Options of a transport. `connectMcp` may pass a function as the token of scope `mcp`. */
type TransportOptions = Omit<ClientOptions, 'mcpToken'> & { readonly mcpToken?: TokenInput | undefined };

/** Creates the transport of a client, with the tokens of its options or AUDIENCE_TOKEN. */
export function newTransport(options: TransportOptions): Transport {
  const redactor = new Redactor();
  const { mcpToken: _, ...others } = options;
  return createTransport(others, readTokens(options, redactor), redactor);
}

/**
 * Reads the tokens of a client from its options or AUDIENCE_TOKEN, and adds string tokens to the redactor.
 *
 * @throws {ConfigurationError} if no token is set, if both `token` and `credentials` are set, or if a header cannot
 * contain the token.
 */
function readTokens(
  options: TransportOptions,
  redactor: Redactor,
): { readonly general: ClientTokens; readonly mcp: ClientTokens } {
  const { mcpToken } = options;
  const general = generalToken(options);
  for (const [name, input] of Object.entries({ token: general, mcpToken })) {
    if (input !== undefined) checkToken(name, input);
    if (typeof input === 'string') redactor.addSecret(input);
  }
  return {
    general: general === undefined ? missingToken(NO_TOKEN) : clientTokens(general),
    mcp: mcpToken === undefined ? missingToken(NO_MCP_TOKEN) : clientTokens(mcpToken),
  };
}

const missingToken = (problem: Problem): ClientTokens => ({
  canRenew: false,
  get: () => Promise.reject(errorOf(problem)),
});

const errorOf = ([message, advice]: Problem): ConfigurationError => new ConfigurationError(message, { advice });

/** Returns the token of all namespaces except `client.mcp`. Optional for a client with an `mcpToken`. */
function generalToken({ token, credentials, mcpToken, baseUrl }: TransportOptions): TokenInput | undefined {
  if (token !== undefined && credentials !== undefined) {
    throw new ConfigurationError('`token` and `credentials` must not both be set.', { advice: 'Pass one of them.' });
  }
  if (token !== undefined) return token;
  if (credentials) return loginToken(credentials);
  const fromEnvironment = globalThis.process?.env?.AUDIENCE_TOKEN || undefined;
  const problem =
    fromEnvironment === undefined
      ? configuredBaseUrl(baseUrl) === undefined
        ? NO_TOKEN_AND_BASE_URL
        : NO_TOKEN
      : foreignTokenProblem(baseUrl);
  if (problem === undefined) return fromEnvironment;
  if (mcpToken === undefined) throw errorOf(problem);
  return undefined;
}

/**
 * Returns why the client does not use AUDIENCE_TOKEN: the origin of AUDIENCE_BASE_URL differs from the origin of
 * `baseUrl`.
 */
function foreignTokenProblem(baseUrl: string | undefined): Problem | undefined {
  const [to, from] = [baseUrl, configuredBaseUrl(undefined)].map(originOf);
  if (to === undefined || from === undefined || to === from) return undefined;
  const message = `\`token\` is missing: the client sends AUDIENCE_TOKEN only to ${from} (AUDIENCE_BASE_URL), not to ${to}.`;
  return [message, 'Pass the token of this service as `token`.'];
}

/** Returns the origin of a URL, or `undefined` without a URL or for an invalid URL, which `resolveOptions` refuses. */
const originOf = (address = ''): string | undefined => (URL.canParse(address) ? new URL(address).origin : undefined);

function checkToken(name: string, input: TokenInput): void {
  if (typeof input === 'string') {
    if (isUsableToken(input)) return;
    if (input === '') {
      const variable = name === 'token' ? 'AUDIENCE_TOKEN' : 'AUDIENCE_MCP_TOKEN';
      throw new ConfigurationError(`\`${name}\` is empty.`, { advice: `Is ${variable} set?` });
    }
    throw new ConfigurationError(`\`${name}\` must be visible ASCII without white space.`, {
      advice: 'Remove "Bearer ", spaces and line breaks from it.',
    });
  }
  if (typeof input === 'function' || typeof input?.get === 'function') return;
  throw new ConfigurationError(`\`${name}\` must be a string, a function, or a token source with \`get\`.`, {
    advice: 'Pass email and password as `credentials` or to `apiToken`.',
  });
}
