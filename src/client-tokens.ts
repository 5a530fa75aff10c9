import { ConfigurationError } from './errors/base.ts';
import { type ClientOptions, environment } from './options.ts';
import { loginToken } from './token-sources.ts';
import type { Redactor } from './transport/redact.ts';
import {
  bindSource,
  type ClientTokens,
  clientTokens,
  isBound,
  isUsableToken,
  type TokenContext,
  type TokenInput,
} from './transport/tokens.ts';

/** The tokens of a client, and how they get at its transport once there is one. */
export interface TokenSetup {
  readonly tokens: { readonly general: ClientTokens; readonly mcp: ClientTokens };
  bind(context: TokenContext): void;
}

/**
 * Reads `token`, `credentials` and `mcpToken`.
 *
 * @throws {ConfigurationError} when there is no token, more than one, or one that no header can carry.
 */
export function setUpTokens(options: ClientOptions, redactor: Redactor): TokenSetup {
  const general = generalToken(options);
  const { mcpToken } = options;
  for (const [name, input] of Object.entries({ token: general, mcpToken })) {
    if (input === undefined) continue;
    checkToken(name, input);
    if (typeof input === 'string') redactor.remember(input);
  }
  return {
    tokens: { general: clientTokens(general), mcp: mcpToken === undefined ? noMcpToken : clientTokens(mcpToken) },
    bind(context) {
      for (const source of [general, mcpToken]) {
        if (typeof source === 'object' && isBound(source)) source[bindSource](context);
      }
    },
  };
}

const noMcpToken: ClientTokens = {
  renewable: false,
  get: () =>
    Promise.reject(new ConfigurationError('`mcpToken` is missing: `client.mcp` needs a token of scope `mcp`.')),
};

function generalToken({ token, credentials }: ClientOptions): TokenInput {
  if (token !== undefined && credentials !== undefined) {
    throw new ConfigurationError('`token` and `credentials` are both given: give one of them.');
  }
  if (token !== undefined) return token;
  if (credentials) return loginToken(credentials);
  const found = environment('AUDIENCE_TOKEN');
  if (found !== undefined) return found;
  throw new ConfigurationError(
    '`token` is missing: give a token, a function or a token source such as `apiToken(credentials, { store })`, or set AUDIENCE_TOKEN.',
  );
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
