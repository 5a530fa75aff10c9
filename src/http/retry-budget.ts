import { check } from '../errors/audience-error.ts';

/** Limits how many retries a client makes while the service fails: a token bucket, as in the AWS SDKs. */
export interface RetryBudgetOptions {
  /** Tokens when full. @default 500 */
  readonly capacity?: number | undefined;
  /** Tokens that one retry takes; a retry that succeeds returns them. @default 5 */
  readonly cost?: number | undefined;
}

/** Tokens that a success without a retry adds. */
const REFILL = 1;

/**
 * The tokens left for retries of connection failures, timeouts and 5xx responses. In an outage they run out after
 * `capacity / cost` retries, and calls fail with their first failure until calls succeed again.
 */
export class RetryBudget {
  readonly #capacity: number;
  readonly #cost: number;
  #tokens: number;

  /**
   * `false` sets no limit.
   *
   * @throws {ConfigurationError} naming the option that is wrong.
   */
  constructor(options: RetryBudgetOptions | false = {}) {
    const { capacity = 500, cost = 5, ...unknown } = checkShape(options) || { capacity: 0, cost: 0 };
    const [name] = Object.keys(unknown);
    check(name === undefined, `\`retryBudget.${name}\` does not exist. Use capacity and cost.`);
    check(isAmount(capacity), '`retryBudget.capacity` must be a number of 0 or more.');
    check(isAmount(cost), '`retryBudget.cost` must be a number of 0 or more.');
    this.#capacity = capacity;
    this.#cost = cost;
    this.#tokens = capacity;
  }

  /** Takes the tokens for one retry; `false` when too few are left. */
  take(): boolean {
    if (this.#tokens < this.#cost) return false;
    this.#tokens -= this.#cost;
    return true;
  }

  /** Adds tokens for a call that succeeded. */
  onSuccess(retried: boolean): void {
    this.#tokens = Math.min(this.#capacity, this.#tokens + (retried ? this.#cost : REFILL));
  }
}

const isAmount = (value: unknown): boolean => typeof value === 'number' && value >= 0;

function checkShape(options: RetryBudgetOptions | false): RetryBudgetOptions | false {
  const isShape = options === false || (typeof options === 'object' && options !== null);
  check(isShape, '`retryBudget` must be false or an object such as `{ capacity: 500 }`.');
  return options;
}
