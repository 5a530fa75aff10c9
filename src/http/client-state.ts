import type { ClientTokens, TokenContext } from '../auth/token-source.ts';
import { AudienceError } from '../errors/audience-error.ts';
import type { BuildBudgetGate } from '../rate-limit/build-budget.ts';
import type { RateLimiter } from '../rate-limit/rate-limiter.ts';
import { Slots } from '../storage/reservations.ts';
import { AbortScope, type AbortScopeOptions } from '../util/abort.ts';
import type { Part } from '../util/part.ts';
import type { Redactor } from '../util/redact.ts';
import type { RetryBudget } from './retry-budget.ts';

/** The parts of a state that its client makes. */
export interface ClientParts {
  readonly limiter: RateLimiter;
  readonly buildBudget: BuildBudgetGate;
  readonly retryBudget: RetryBudget;
  readonly redactor: Redactor;
  readonly tokens: { readonly general: ClientTokens; readonly mcp: ClientTokens };
  /** What token sources get to mint with. */
  readonly tokenContext: () => TokenContext;
}

/** What a client shares with those derived from it by `withOptions`. */
export interface ClientState extends ClientParts {
  /** Fields that differ from the documented shape and have been logged, with the name of their schema. */
  readonly loggedFields: Set<string>;
  /** Returns a scope for one call or wait: it follows the caller's signal, and aborts when the client is closed. */
  open(options: AbortScopeOptions): AbortScope;
  readonly slots: Slots;
  load<M>(part: Part<M>, signal: AbortSignal | undefined): Promise<M>;
  /** Ends every call and wait in progress; later ones are refused. */
  close(): void;
}

/** A scope that leaves the set of open ones with its end. */
class OpenScope extends AbortScope {
  readonly #open: Set<AbortScope>;

  constructor(options: AbortScopeOptions, open: Set<AbortScope>) {
    super(options);
    this.#open = open;
    open.add(this);
  }

  override dispose(): void {
    this.#open.delete(this);
    super.dispose();
  }
}

const closedError = (): AudienceError =>
  new AudienceError('The client is closed. Create a new one, or close it later.', { code: 'client-closed' });

/** Creates the state of a client with nothing in progress. */
export function createClientState(parts: ClientParts): ClientState {
  const openScopes = new Set<AbortScope>();
  let isClosed = false;
  return {
    ...parts,
    loggedFields: new Set(),
    slots: new Slots(),
    load: async (part) => part.load(),
    open(options) {
      if (isClosed) throw closedError();
      return new OpenScope(options, openScopes);
    },
    close() {
      isClosed = true;
      for (const scope of openScopes) scope.abort(closedError());
    },
  };
}
