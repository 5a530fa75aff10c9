import { soleLogin } from '../auth/login-token-source.ts';
import {
  bindSource,
  type ClientTokens,
  clientTokens,
  isBound,
  isUsableToken,
  type TokenContext,
  type TokenInput,
} from '../auth/token-source.ts';
import { ConfigurationError } from '../errors/audience-error.ts';
import type { Redactor } from '../util/redact.ts';
import { type ClientOptions, environment } from './client-options.ts';

/** The tokens of a client, and how they get at its transport once there is one. */
export interface TokenSetup {
  readonly tokens: { readonly general: ClientTokens; readonly mcp: ClientTokens };
  bind(context: TokenContext): void;
}

/**
 * Reads `token`, `credentials` and `mcpToken`.
 *
 * @throws {ConfigurationError} when there is no token at all, more than one of a kind, or one that no header can carry.
 */
export function setUpTokens(options: ClientOptions, redactor: Redactor): TokenSetup {
  const { mcpToken } = options;
  const general = generalToken(options);
  for (const [name, input] of Object.entries({ token: general, mcpToken })) {
    if (input === undefined) continue;
    checkToken(name, input);
    if (typeof input === 'string') redactor.addSecret(input);
  }
  return {
    tokens: {
      general: general === undefined ? missing(NO_TOKEN) : clientTokens(general),
      mcp: mcpToken === undefined ? missing(NO_MCP_TOKEN) : clientTokens(mcpToken),
    },
    bind(context) {
      for (const source of [general, mcpToken]) {
        if (typeof source === 'object' && isBound(source)) source[bindSource](context);
      }
    },
  };
}

const NO_TOKEN =
  '`token` is missing: give a token, a function or a token source such as `apiToken(credentials, { store })`, or set AUDIENCE_TOKEN.';
const NO_MCP_TOKEN =
  '`mcpToken` is missing: `client.mcp` needs a token of scope `mcp`, `mcpToken(credentials, { store })` or an OAuth client.';

const missing = (message: string): ClientTokens => ({
  renewable: false,
  get: () => Promise.reject(new ConfigurationError(message)),
});

/** The token of all but `client.mcp`; a client may do without where it is for that alone. */
function generalToken({ token, credentials, mcpToken }: ClientOptions): TokenInput | undefined {
  if (token !== undefined && credentials !== undefined) {
    throw new ConfigurationError('`token` and `credentials` are both given: give one of them.');
  }
  if (token !== undefined) return token;
  if (credentials) return soleLogin(credentials);
  const found = environment('AUDIENCE_TOKEN');
  if (found === undefined && mcpToken === undefined) throw new ConfigurationError(NO_TOKEN);
  return found;
}

function checkToken(name: string, input: TokenInput): void {
  if (typeof input === 'string') {
    if (isUsableToken(input)) return;
    throw new ConfigurationError(
      `\`${name}\` is empty, or holds what no header can carry: give it trimmed, and without "Bearer ".`,
    );
  }
  if (typeof input === 'function' || typeof input?.get === 'function') return;
  throw new ConfigurationError(
    `\`${name}\` must be a text, a function, or a token source with \`get\`; email and password go into \`credentials\` or \`apiToken\`.`,
  );
}
