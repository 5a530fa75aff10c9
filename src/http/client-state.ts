import type { ClientTokens } from '../auth/token-source.ts';
import { AudienceError } from '../errors/audience-error.ts';
import { BudgetGate } from '../rate-limit/build-budget.ts';
import type { Gatekeeper } from '../rate-limit/rate-limiter.ts';
import { AbortScope, type AbortScopeOptions, abortable } from '../util/abort.ts';
import type { Part } from '../util/part.ts';
import type { Redactor } from '../util/redact.ts';
import { RetryBudget, type RetryBudgetOptions } from './retry-budget.ts';

/** What a client shares with those derived from it by `withOptions`. */
export interface ClientState {
  readonly limiter: Gatekeeper;
  readonly budget: BudgetGate;
  readonly retryBudget: RetryBudget;
  readonly redactor: Redactor;
  /** Fields that differ from what is documented, and have been logged. */
  readonly loggedFields: Set<string>;
  /** What reading answers takes. */
  readonly answers: Part<unknown>;
  readonly tokens: { readonly general: ClientTokens; readonly mcp: ClientTokens };
  /** A signal for one call: follows the caller's, and aborts when the client is closed. */
  open(options: AbortScopeOptions): AbortScope;
  /** Has a part loaded, until the caller aborts or the client is closed. */
  load<M>(part: Part<M>, signal: AbortSignal | undefined): Promise<M>;
  /** Ends every call and wait under way; later ones are refused. */
  close(): void;
  readonly closed: boolean;
}

/** A scope among those that the client's close ends. */
class TrackedScope extends AbortScope {
  readonly #among: Set<AbortScope>;

  constructor(options: AbortScopeOptions, among: Set<AbortScope>) {
    super(options);
    this.#among = among;
  }

  override dispose(): void {
    this.#among.delete(this);
    super.dispose();
  }
}

/** What a state is made of. */
export interface ClientStateParts extends Pick<ClientState, 'limiter' | 'redactor' | 'tokens' | 'answers'> {
  readUsage(): Promise<unknown>;
  readonly retryBudget?: RetryBudgetOptions | false | undefined;
}

const closedError = (): AudienceError =>
  new AudienceError('The client is closed. Create a new one, or close it later.', { code: 'client-closed' });

/** A state with nothing under way. */
export function createClientState({ readUsage, retryBudget, ...parts }: ClientStateParts): ClientState {
  const scopes = new Set<AbortScope>();
  let closed = false;
  return {
    ...parts,
    budget: new BudgetGate(readUsage),
    retryBudget: new RetryBudget(retryBudget),
    loggedFields: new Set(),
    open(options) {
      if (closed) throw closedError();
      const scope = new TrackedScope(options, scopes);
      scopes.add(scope);
      return scope;
    },
    async load(part, signal) {
      if (part.loaded) return part.loaded;
      const life = this.open({ parent: signal });
      try {
        return await abortable(Promise.resolve(part.load()), life.signal);
      } finally {
        life.dispose();
      }
    },
    get closed() {
      return closed;
    },
    close() {
      closed = true;
      for (const scope of scopes) scope.abort(closedError());
    },
  };
}
