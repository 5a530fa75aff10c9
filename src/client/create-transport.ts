import { Redactor } from '../util/redact.ts';
import { clientTokens, type TokenContext } from './auth/token-source.ts';
import { type ClientOptions, resolveOptions } from './client-options.ts';
import { ClientState } from './http/client-state.ts';
import { BACKGROUND } from './http/request-options.ts';
import { Transport } from './http/transport.ts';
import { BuildBudgetGate, MAX_READ_MS } from './rate-limit/build-budget.ts';
import { createRateLimiter } from './rate-limit/rate-limiter.ts';
import { issueToken } from './resources/auth.ts';
import { readUsage } from './resources/usage.ts';

/** Options for reading the usage report, which shows whether the build budget caused a 429. */
const BUDGET_READ = { [BACKGROUND]: {}, maxRetries: 0, deadline: MAX_READ_MS } as const;

/** Creates the transport and the state of a client from checked options. */
export function createTransport(options: ClientOptions, tokens: ClientState['tokens'], redactor: Redactor): Transport {
  const settings = resolveOptions(options, redactor);
  const { baseUrl, logger, rateLimits } = settings;
  const state: ClientState = new ClientState({
    limiter: options.limiter ?? createRateLimiter(options.rateLimits === false ? false : rateLimits),
    buildBudget: new BuildBudgetGate(() => Promise.resolve(readUsage(transport, {}, BUDGET_READ, (usage) => usage))),
    redactor,
    tokens,
    tokenContext: {
      baseUrl,
      logger,
      redactor,
      issueToken: (operation, credentials) => issueToken(transport, operation, credentials),
    },
  });
  const transport = new Transport(state, settings);
  return transport;
}

/** Creates a context for a token source that runs without a client. */
export function createStandaloneContext(baseUrl: string): TokenContext {
  const noToken = clientTokens('none');
  return createTransport({ baseUrl }, { general: noToken, mcp: noToken }, new Redactor()).state.tokenContext;
}
