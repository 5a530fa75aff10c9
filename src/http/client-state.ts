import type { ClientTokens } from '../auth/token-source.ts';
import { AudienceError } from '../errors/audience-error.ts';
import { BudgetGate } from '../rate-limit/build-budget.ts';
import type { Gatekeeper } from '../rate-limit/rate-limiter.ts';
import { Slots } from '../storage/reservations.ts';
import { abortable, type ScopeOptions, SignalScope } from '../util/abort.ts';
import type { Part } from '../util/part.ts';
import type { Redactor } from '../util/redact.ts';
import { RetryBudget, type RetryBudgetOptions } from './retry-budget.ts';

/** What a client shares with those derived from it by `withOptions`. */
export interface Core {
  readonly limiter: Gatekeeper;
  readonly budget: BudgetGate;
  readonly retryBudget: RetryBudget;
  readonly redactor: Redactor;
  readonly slots: Slots;
  /** Fields that differ from what is documented, and have been logged. */
  readonly loggedFields: Set<string>;
  /** What reading answers takes. */
  readonly answers: Part<unknown>;
  readonly tokens: { readonly general: ClientTokens; readonly mcp: ClientTokens };
  /** A signal for one call: follows the caller's, and aborts when the client is closed. */
  open(options: ScopeOptions): SignalScope;
  /** Has a part loaded, until the caller aborts or the client is closed. */
  load<M>(part: Part<M>, signal: AbortSignal | undefined): Promise<M>;
  /** Ends every call and wait under way; later ones are refused. */
  close(): void;
  readonly closed: boolean;
}

/** A scope among those that the client's close ends. */
class TrackedScope extends SignalScope {
  readonly #among: Set<SignalScope>;

  constructor(options: ScopeOptions, among: Set<SignalScope>) {
    super(options);
    this.#among = among;
  }

  override dispose(): void {
    this.#among.delete(this);
    super.dispose();
  }
}

/** What a core is made of. */
export interface CoreParts extends Pick<Core, 'limiter' | 'redactor' | 'tokens' | 'answers'> {
  readUsage(): Promise<unknown>;
  readonly retryBudget?: RetryBudgetOptions | false | undefined;
}

const closedError = (): AudienceError =>
  new AudienceError('The client is closed. Create a new one, or close it later.', { code: 'client-closed' });

/** A core with nothing under way. */
export function createCore({ readUsage, retryBudget, ...parts }: CoreParts): Core {
  const scopes = new Set<SignalScope>();
  let closed = false;
  return {
    ...parts,
    budget: new BudgetGate(readUsage),
    retryBudget: new RetryBudget(retryBudget),
    slots: new Slots(),
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
        return await abortable(Promise.resolve(part.load()), life);
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
