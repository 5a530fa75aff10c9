import { LONGEST_RATE_INTERVAL } from '../spec/limits.ts';
import { abortable, sleep } from '../util/abort.ts';
import { createMutex, singleFlight } from '../util/concurrency.ts';
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

/** When a create may be sent. */
interface Passage {
  /** Milliseconds until it may be sent or ask again; 0 for now. */
  readonly wait: number;
  /** Milliseconds until the end of the hold, 0 without one. */
  readonly left: number;
}

/** Holds the creates of several processes back, and lets only a few of them be in flight. */
export interface SharedHold {
  /** Lets the attempt of a create through, or returns when to ask again. */
  pass(attempt: string): Promise<Passage>;
  /** Ends an attempt that was let through. */
  settle(attempt: string): Promise<void>;
  hold(ms: number): Promise<void>;
  release(): Promise<void>;
}

/** After a failure of the shared hold, this process's own holds count for this time. Milliseconds. */
const SHARED_RETRY_MS = 5_000;

/**
 * Holds job-starting creates back while the organization's build budget is used up. Once a minute, one create request
 * of each token is let through, because the budget may have been raised.
 */
export class BuildBudgetGate {
  readonly #readUsage: () => Promise<unknown>;
  readonly #holds = new Map<string, Hold>();
  readonly #share = singleFlight<BudgetRefusal | undefined>();
  #classifying: Promise<unknown> | undefined;
  readonly #shared: SharedHold | undefined;
  #sharedFailedAt = Number.NEGATIVE_INFINITY;
  readonly #mutex = createMutex();
  /**
   * The attempts that ask the shared hold, or were let through by it, by their signals. The success of one that was let
   * through during a hold, a probe, ends the hold.
   */
  readonly #attempts = new Map<AbortSignal, { readonly id: string; isProbe: boolean }>();
  #refusals = 0;

  /** @param readUsage Reads the usage report. If it fails, a 429 is taken to come from a rate bucket. */
  constructor(readUsage: () => Promise<unknown>, shared?: SharedHold) {
    this.#readUsage = readUsage;
    this.#shared = shared;
  }

  /** Number of refusals so far. If it has changed while a create waited for its permit, the create must pass again. */
  get refusals(): number {
    return this.#refusals;
  }

  /** Waits while creates are held back, or until this one is let through; rejects if the hold exceeds `maxWait`. */
  async pass(scope: string, maxWait: number, signal: AbortSignal): Promise<void> {
    if (this.#classifying) await abortable(this.#classifying, signal);
    for (;;) {
      const { wait, left } = await this.#ask(scope, signal);
      if (wait > 0 && left > maxWait) throw new PauseTooLongError(left);
      const attempt = this.#attempts.get(signal);
      if (attempt) attempt.isProbe = wait === 0 && left > 0;
      if (wait === 0) return;
      await sleep(wait, signal);
    }
  }

  /** Ends an attempt that has asked to pass. */
  settle(signal: AbortSignal): void {
    const attempt = this.#attempts.get(signal);
    if (attempt === undefined) return;
    this.#attempts.delete(signal);
    this.#shared?.settle(attempt.id).catch(() => {});
  }

  /**
   * Returns the refusal if a 429 came from the budget, `undefined` if it came from a rate bucket. `mayRead`: whether the
   * usage report shows this budget.
   */
  async classify(
    retryAfter: number | undefined,
    signal: AbortSignal,
    mayRead = true,
  ): Promise<BudgetRefusal | undefined> {
    if (retryAfter !== undefined && retryAfter > LONGEST_RATE_INTERVAL) return { wait: retryAfter };
    if (!mayRead) return undefined;
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
    this.#shared?.hold(ms).catch(() => {});
  }

  /** Lets creates of a token through again, because the attempt with this signal has succeeded. */
  release(scope: string, signal: AbortSignal): void {
    this.#holds.delete(scope);
    if (this.#attempts.get(signal)?.isProbe) this.#shared?.release().catch(() => {});
  }

  async #ask(scope: string, signal: AbortSignal): Promise<Passage> {
    if (this.#shared && performance.now() >= this.#sharedFailedAt + SHARED_RETRY_MS) {
      const attempt = this.#attempts.get(signal) ?? { id: crypto.randomUUID(), isProbe: false };
      this.#attempts.set(signal, attempt);
      try {
        return await abortable(this.#askShared(this.#shared, attempt.id, signal), signal);
      } catch {
        signal.throwIfAborted();
      }
    }
    return this.#askHold(scope);
  }

  /** Asks the shared hold. One attempt at a time waits for creates of other processes to end; others queue here. */
  #askShared(shared: SharedHold, attempt: string, signal: AbortSignal): Promise<Passage> {
    return this.#mutex('', async () => {
      signal.throwIfAborted();
      if (performance.now() < this.#sharedFailedAt + SHARED_RETRY_MS) throw new Error('It has just failed.');
      try {
        let passage = await shared.pass(attempt);
        for (; passage.wait > 0 && passage.left === 0; passage = await shared.pass(attempt)) {
          await sleep(passage.wait, signal);
        }
        return passage;
      } catch (error) {
        if (!signal.aborted) this.#sharedFailedAt = performance.now();
        throw error;
      }
    });
  }

  /** Asks the hold of this process; lets one create through when a probe is due. */
  #askHold(scope: string): Passage {
    const hold = this.#holds.get(scope);
    const now = performance.now();
    if (!hold || now >= hold.until) return { wait: 0, left: 0 };
    const left = hold.until - now;
    if (now < hold.probe) return { wait: Math.min(left, hold.probe - now), left };
    hold.probe = now + LONGEST_RATE_INTERVAL;
    return { wait: 0, left };
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
