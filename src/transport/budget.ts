import { LONGEST_RATE_INTERVAL } from '../limits.ts';
import { isObject, type JsonObject } from './envelope.ts';
import { PauseTooLongError } from './lane.ts';
import { sleep } from './signal.ts';
import { singleFlight } from './tokens.ts';

/** What is known of a spent build budget. Milliseconds. */
interface BudgetRefusal {
  readonly wait: number;
  readonly budget?: JsonObject;
}

/** Holds job-starting creates back while the organization's build budget is spent. */
export interface BudgetGate {
  /** Waits while a known refusal holds; rejects at once when it would last longer than `maxWait`. */
  pass(scope: string, maxWait: number, signal: AbortSignal): Promise<void>;
  /** Whether a 429 came from the budget (else from a rate bucket), and how long it holds. */
  classify(retryAfter: number | undefined, signal: AbortSignal): Promise<BudgetRefusal | undefined>;
  /** Remembers a refusal. */
  hold(scope: string, ms: number): void;
}

interface Hold {
  readonly until: number;
  readonly forget: number;
}

/**
 * Creates the gate. A refusal is believed for a minute at most and then tried again by one
 * request, because the budget can be raised meanwhile.
 *
 * @param readUsage reads the usage report; its failure means "not known".
 */
export function createBudgetGate(readUsage: () => Promise<unknown>): BudgetGate {
  const holds = new Map<string, Hold>();
  const shared = singleFlight<BudgetRefusal | undefined>();

  async function readBudget(): Promise<BudgetRefusal | undefined> {
    const usage = await readUsage().catch(() => undefined);
    const budget = isObject(usage) ? usage.build_budget : undefined;
    if (!isObject(budget)) return undefined;
    const seconds = budget.retry_after_seconds;
    return typeof seconds === 'number' && seconds > 0 ? { wait: seconds * 1000, budget } : undefined;
  }

  return {
    async pass(scope, maxWait, signal) {
      const hold = holds.get(scope);
      const now = performance.now();
      if (!hold || now >= Math.min(hold.until, hold.forget)) return;
      if (hold.until - now > maxWait) throw new PauseTooLongError(hold.until - now);
      await sleep(Math.min(hold.until, hold.forget) - now, signal);
    },
    classify(retryAfter, signal) {
      if (retryAfter !== undefined && retryAfter > LONGEST_RATE_INTERVAL) return Promise.resolve({ wait: retryAfter });
      return shared(readBudget, signal);
    },
    hold(scope, ms) {
      const now = performance.now();
      for (const [name, hold] of holds) if (now >= hold.until) holds.delete(name);
      holds.set(scope, { until: now + ms, forget: now + LONGEST_RATE_INTERVAL });
    },
  };
}
