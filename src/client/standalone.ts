import { clientTokens, type TokenContext } from '../auth/token-source.ts';
import { type ClientState, createClientState } from '../http/client-state.ts';
import { createTransport, type Transport } from '../http/transport.ts';
import { createLimiter } from '../rate-limit/rate-limiter.ts';
import { mintToken } from '../resources/mint.ts';
import { checking } from '../schemas/decode.ts';
import { resolveOptions } from './client-options.ts';

/** What a client lends to its token sources. */
export function contextOf(transport: Transport, state: ClientState): TokenContext {
  return {
    baseUrl: transport.settings.baseUrl,
    closed: () => state.closed,
    logger: transport.settings.logger,
    redactor: transport.settings.redactor,
    mint: (operation, credentials) => mintToken(transport, operation, credentials),
  };
}

/** A context of its own, for a token source that is used without a client. */
export function createContext(baseUrl: string): TokenContext {
  const { settings, redactor, limits } = resolveOptions({ baseUrl });
  const none = clientTokens('none');
  const state = createClientState({
    limiter: createLimiter(limits),
    redactor,
    tokens: { general: none, mcp: none },
    answers: checking,
    readUsage: () => Promise.resolve(undefined),
  });
  return contextOf(createTransport(state, settings), state);
}
