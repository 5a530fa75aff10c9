import { LONGEST_RATE_INTERVAL } from '../spec/limits.ts';
import { abortable, sleep } from '../util/abort.ts';
import { singleFlight } from '../util/concurrency.ts';
import { isObject, type JsonObject } from '../util/json.ts';
import { MAX_RETRY_AFTER_MS } from '../util/retry-after.ts';
import { PauseTooLongError } from './rate-limiter.ts';

/** A 429 of a create because the build budget is used up. */
interface BudgetRefusal {
  /** Milliseconds until the budget allows a create request again. */
  readonly wait: number;
  readonly budget?: JsonObject;
}

/** Holds creates back until the time that the service named, `until`. At `probe`, one create request is let through. */
interface Hold {
  readonly until: number;
  probe: number;
}

/**
 * Holds job-starting creates back while the organization's build budget is used up. Once a minute, one create request
 * of each token is let through, because the budget may have been raised.
 */
export class BuildBudgetGate {
  readonly #readUsage: () => Promise<unknown>;
  readonly #holds = new Map<string, Hold>();
  readonly #share = singleFlight<BudgetRefusal | undefined>();
  #classifying: Promise<unknown> | undefined;
  #refusals = 0;

  /** @param readUsage Reads the usage report. If it fails, a 429 is taken to come from a rate bucket. */
  constructor(readUsage: () => Promise<unknown>) {
    this.#readUsage = readUsage;
  }

  /** Number of refusals so far. If it has changed while a create waited for its permit, the create must pass again. */
  get refusals(): number {
    return this.#refusals;
  }

  /** Waits while creates are held back, or until this one is let through; rejects if the hold exceeds `maxWait`. */
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

  /** Returns the refusal if a 429 came from the budget, `undefined` if it came from a rate bucket. */
  async classify(retryAfter: number | undefined, signal: AbortSignal): Promise<BudgetRefusal | undefined> {
    if (retryAfter !== undefined && retryAfter > LONGEST_RATE_INTERVAL) return { wait: retryAfter };
    const reading = this.#share(() => this.#readBudget(), signal);
    // Creates that start meanwhile wait for the result in `pass`, instead of being sent and refused as well.
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

  /** Holds creates of a token back for `ms`. */
  hold(scope: string, ms: number): void {
    const now = performance.now();
    this.#refusals++;
    for (const [name, hold] of this.#holds) if (now >= hold.until) this.#holds.delete(name);
    this.#holds.set(scope, { until: now + ms, probe: now + Math.min(ms, LONGEST_RATE_INTERVAL) });
  }

  /** Lets creates of a token through again, because one has succeeded. */
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
