import { LONGEST_RATE_INTERVAL } from '../spec/limits.ts';
import { abortable, sleep } from '../util/abort.ts';
import { singleFlight } from '../util/concurrency.ts';
import { isObject, type JsonObject } from '../util/json.ts';
import { MAX_RETRY_AFTER_MS } from '../util/retry-after.ts';
import { PauseTooLongError } from './rate-limit-bucket.ts';

/** What is known of a spent build budget. Milliseconds. */
interface BudgetRefusal {
  readonly wait: number;
  readonly budget?: JsonObject;
}

/** A refusal that is believed: `until` the service's own time, but only `probe` without asking again. */
interface Hold {
  readonly until: number;
  probe: number;
}

/**
 * Holds job-starting creates back while the organization's build budget is spent. A refusal is
 * believed for a minute at a time; then one request tries again, because the budget can be raised.
 */
export class BudgetGate {
  readonly #readUsage: () => Promise<unknown>;
  readonly #holds = new Map<string, Hold>();
  readonly #shared = singleFlight<BudgetRefusal | undefined>();
  #classifying: Promise<unknown> | undefined;
  #refusals = 0;

  /** `readUsage` reads the usage report; its failure means "not known". */
  constructor(readUsage: () => Promise<unknown>) {
    this.#readUsage = readUsage;
  }

  /** How many refusals there were: who has passed before the latest has to pass again. */
  get refusals(): number {
    return this.#refusals;
  }

  /** Waits while a refusal holds; rejects at once when it would last longer than `maxWait`. */
  async pass(scope: string, maxWait: number, signal: AbortSignal): Promise<void> {
    if (this.#classifying) await abortable(this.#classifying, signal);
    for (let hold = this.#hold(scope); hold; hold = this.#hold(scope)) {
      const now = performance.now();
      if (hold.until - now > maxWait && now < hold.probe) throw new PauseTooLongError(hold.until - now);
      if (now >= hold.probe) {
        hold.probe = now + LONGEST_RATE_INTERVAL;
        return;
      }
      await sleep(Math.min(hold.until, hold.probe) - now, signal);
    }
  }

  /** Whether a 429 came from the budget (else from a rate bucket), and how long it holds. */
  async classify(retryAfter: number | undefined, signal: AbortSignal): Promise<BudgetRefusal | undefined> {
    if (retryAfter !== undefined && retryAfter > LONGEST_RATE_INTERVAL) return { wait: retryAfter };
    const reading = this.#shared(() => this.#readBudget(), signal);
    // Later creates wait for the answer instead of being refused, too.
    const settled = reading.then(
      () => {},
      () => {},
    );
    this.#classifying = settled;
    void settled.then(() => {
      if (this.#classifying === settled) this.#classifying = undefined;
    });
    return reading;
  }

  /** Remembers a refusal. */
  hold(scope: string, ms: number): void {
    const now = performance.now();
    this.#refusals++;
    for (const [name, hold] of this.#holds) if (now >= hold.until) this.#holds.delete(name);
    this.#holds.set(scope, { until: now + ms, probe: now + Math.min(ms, LONGEST_RATE_INTERVAL) });
  }

  /** A create has succeeded: the budget is not spent any more. */
  release(scope: string): void {
    this.#holds.delete(scope);
  }

  #hold(scope: string): Hold | undefined {
    const hold = this.#holds.get(scope);
    return hold && performance.now() < hold.until ? hold : undefined;
  }

  async #readBudget(): Promise<BudgetRefusal | undefined> {
    const usage = await this.#readUsage().catch(() => undefined);
    const budget = isObject(usage) ? usage.build_budget : undefined;
    if (!isObject(budget)) return undefined;
    const seconds = budget.retry_after_seconds;
    return typeof seconds === 'number' && seconds > 0
      ? { wait: Math.min(seconds * 1000, MAX_RETRY_AFTER_MS), budget }
      : undefined;
  }
}
