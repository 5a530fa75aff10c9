import { AudienceError } from '../../errors/audience-error.ts';
import type { AbortScope, ScopeOwner } from '../../util/abort.ts';
import type { Redactor } from '../../util/redact.ts';
import type { ClientTokens, TokenContext } from '../auth/token-source.ts';
import type { BuildBudgetGate } from '../rate-limit/build-budget.ts';
import type { ClientLimiter } from '../rate-limit/permits.ts';

/**
 * Counts the delete requests of an operation. A delete request moves the rows of a list that the client may be reading.
 */
export interface DeleteCount {
  /** Number of requests sent. */
  sent: number;
  /** Number of requests that have ended. */
  ended: number;
}

/** The state that a client shares with the clients that its `withOptions` returns. */
export class ClientState implements ScopeOwner {
  readonly limiter: ClientLimiter;
  readonly buildBudget: BuildBudgetGate;
  readonly redactor: Redactor;
  readonly tokens: { readonly general: ClientTokens; readonly mcp: ClientTokens };
  /** Context with which token sources issue tokens. */
  readonly tokenContext: TokenContext;
  /** Names (`kind.field`) of logged fields that differ from the documented shape, to log each field once. */
  readonly loggedFields = new Set<string>();
  /** Scopes of the calls, waits and transfers in progress. */
  readonly open = new Set<AbortScope>();
  /** Set once the client is closed. */
  ended: AudienceError | undefined;
  /**
   * Times at which this client created resources, by `namespace id`, on the monotonic clock. The first reads after a
   * create request might not find the resource.
   */
  readonly created = new Map<string, number>();
  readonly #deletes = new Map<string, DeleteCount>();
  /** Called by the last call that ends after the client is closed. */
  onIdle: (() => void) | undefined;
  #idle: Promise<void> | undefined;

  constructor(parts: Omit<ClientState, 'loggedFields' | 'created' | keyof ScopeOwner | 'close' | 'deletesOf'>) {
    this.limiter = parts.limiter;
    this.buildBudget = parts.buildBudget;
    this.redactor = parts.redactor;
    this.tokens = parts.tokens;
    this.tokenContext = parts.tokenContext;
  }

  /** Returns the current count of an operation. Each delete request updates the returned object. */
  deletesOf(operation: string): DeleteCount {
    const count = this.#deletes.get(operation) ?? { sent: 0, ended: 0 };
    this.#deletes.set(operation, count);
    return count;
  }

  /**
   * Ends every call, transfer and wait in progress, and makes later calls fail immediately. Resolves when the calls
   * have ended.
   */
  close(): Promise<void> {
    const advice = 'Create a new client, or close the client later.';
    this.ended ??= new AudienceError('The client is closed.', { code: 'client-closed', advice });
    this.#idle ??= new Promise((resolve) => {
      this.onIdle = resolve;
    });
    for (const scope of this.open) this.#end(scope);
    if (this.open.size === 0) this.onIdle?.();
    return this.#idle;
  }

  #end(scope: AbortScope): void {
    try {
      scope.abort(this.ended);
    } catch {
      // A Worker request must not abort the calls of another Worker request, which ends its calls itself.
      this.open.delete(scope);
    }
  }
}
