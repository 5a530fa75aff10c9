import { AudienceError, check } from '../../errors/audience-error.ts';
import type { Redactor } from '../../util/redact.ts';
import type { ClientTokens, TokenContext } from '../auth/token-source.ts';
import type { BuildBudgetGate } from '../rate-limit/build-budget.ts';
import type { ClientLimiter } from '../rate-limit/rate-limiter.ts';

/** The state that a client shares with those derived from it by `withOptions`. */
export class ClientState {
  readonly limiter: ClientLimiter;
  readonly buildBudget: BuildBudgetGate;
  readonly redactor: Redactor;
  readonly tokens: { readonly general: ClientTokens; readonly mcp: ClientTokens };
  /** Passed to token sources, which use it to issue tokens. */
  readonly tokenContext: TokenContext;
  /** Fields logged because they differ from the documented shape, as `kind.field`: each is logged once. */
  readonly loggedFields = new Set<string>();
  /** Aborts when the client is closed; every call and wait follows its signal. */
  readonly closing = new AbortController();

  /** Number of calls and transfers in progress. */
  open = 0;
  /** Called by the last of them when it ends, once the client is closed. */
  onIdle: (() => void) | undefined;
  readonly #idle: PromiseWithResolvers<void>;

  constructor(parts: Omit<ClientState, 'loggedFields' | 'closing' | 'open' | 'onIdle' | 'close'>) {
    check('withResolvers' in Promise, 'audience-activation needs Node >= 22.12, or a browser of the last two years.');
    this.#idle = Promise.withResolvers();
    this.limiter = parts.limiter;
    this.buildBudget = parts.buildBudget;
    this.redactor = parts.redactor;
    this.tokens = parts.tokens;
    this.tokenContext = parts.tokenContext;
  }

  /** Ends every call and wait in progress; later ones fail immediately. Resolves when the calls have ended. */
  close(): Promise<void> {
    const message = 'The client is closed.';
    this.closing.abort(
      new AudienceError(message, { code: 'client-closed', advice: 'Create a new one, or close it later.' }),
    );
    this.onIdle = this.#idle.resolve;
    if (this.open === 0) this.onIdle();
    return this.#idle.promise;
  }
}
