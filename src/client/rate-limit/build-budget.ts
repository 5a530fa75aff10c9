import { LONGEST_RATE_INTERVAL } from '../../spec/limits.ts';
import type { BuildBudget } from '../../spec/usage-report.ts';
import type { JsonObject } from '../../spec/wire-values.ts';
import { abortable, sleep } from '../../util/abort.ts';
import { createMutex, singleFlight } from '../../util/concurrency.ts';
import { isObject } from '../../util/json.ts';
import { MAX_RETRY_AFTER_MS } from '../../util/retry-after.ts';
import { PauseTooLongError } from './rate-limiter.ts';

/** A 429 of a create because the build budget is used up. */
interface BudgetRefusal {
  /** Milliseconds until the budget allows a create request again. */
  readonly wait: number;
  /** Not set if the usage report could not be read, so that only a long `Retry-After` indicates the budget. */
  readonly isConfirmed?: true;
  /** The budget in the usage report, if it has the documented shape. */
  readonly budget?: BuildBudget;
}

/** A usage report about the budget: it is used up, some of it is left, or the report does not say. */
type BudgetReading = BudgetRefusal | 'left' | 'unknown';

/** Holds the creates of one token back after a refusal. Times of `performance.now()`. */
interface Hold {
  /** The time that the service named. */
  until: number;
  /** When one create request is let through earlier, because the budget may have been raised. */
  probeAt: number;
  /** Creates in the queue, the one that is sent included. */
  readonly queue: Set<QueuedCreate>;
}

/** A create that is sent when those before it have settled. */
interface QueuedCreate {
  readonly maxWait: number;
  reject(reason: unknown): void;
}

/** A create that may be sent. */
export interface BuildPermit {
  /** Ends the hold, because the service has accepted the create. */
  onSuccess(): void;
  /** Lets the next create of the token be sent. To be called when the request has settled. */
  release(): void;
}

/** How often during a hold one create is let through, because the budget may have been raised. Milliseconds. */
export const PROBE_INTERVAL_MS = 1_200_000;

/**
 * Holds job-starting creates back while the organization's build budget is used up. After a refusal, the creates of a
 * token follow one another: one is sent when the hold ends, and each success releases the next. Every 20 minutes of a
 * hold, one create request of each token is let through, because the budget may have been raised.
 */
export class BuildBudgetGate {
  readonly #readUsage: () => Promise<unknown>;
  readonly #holds = new Map<string, Hold>();
  readonly #mutex = createMutex();
  readonly #share = singleFlight<BudgetReading>();
  #classifying: Promise<unknown> | undefined;
  #refusals = 0;

  /** @param readUsage Reads the usage report. If it fails, the `Retry-After` of a 429 decides where it came from. */
  constructor(readUsage: () => Promise<unknown>) {
    this.#readUsage = readUsage;
  }

  /** Number of refusals so far. If it has changed while a create waited for its permit, the create must ask again. */
  get refusals(): number {
    return this.#refusals;
  }

  /** Returns a permit if nothing holds the creates of a token back. */
  tryAcquire(scope: string): BuildPermit | undefined {
    if (this.#classifying || this.#holds.has(scope)) return undefined;
    return this.#permit(scope, undefined);
  }

  /** Returns the milliseconds until the end of a token's hold as it is known, 0 without one. */
  timeLeft(scope: string): number {
    return Math.max(0, (this.#holds.get(scope)?.until ?? 0) - performance.now());
  }

  /** Waits while creates are held back, and for those before it in the queue; rejects if a hold exceeds `maxWait`. */
  async acquire(scope: string, maxWait: number, signal: AbortSignal): Promise<BuildPermit> {
    if (this.#classifying) await abortable(this.#classifying, signal);
    const hold = this.#holds.get(scope);
    if (!hold) return this.#permit(scope, undefined);
    // Only the first of the queue may be let through before the end of the hold.
    const left = hold.until - performance.now();
    if (hold.queue.size > 0 && left > maxWait) throw new PauseTooLongError(left);
    const leave = await this.#enterQueue(scope, hold, maxWait, signal);
    try {
      await this.#endOf(hold, maxWait, signal);
      return this.#permit(scope, leave);
    } catch (error) {
      leave();
      throw error;
    }
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
    const isLong = retryAfter !== undefined && retryAfter > LONGEST_RATE_INTERVAL;
    const probable = isLong ? { wait: retryAfter } : undefined;
    if (!mayRead) return probable;
    const reading = this.#share(() => this.#readBudget(), signal);
    // Creates that start meanwhile wait for the result, instead of being sent and refused as well.
    const settled = reading.then(
      () => {},
      () => {},
    );
    this.#classifying = settled;
    void settled.then(() => {
      if (this.#classifying === settled) this.#classifying = undefined;
    });
    const read = await reading;
    if (read === 'unknown') return probable;
    return read === 'left' ? undefined : read;
  }

  /** Holds creates of a token back for `ms`. */
  hold(scope: string, ms: number): void {
    this.#refusals++;
    const now = performance.now();
    for (const [name, { until, queue }] of this.#holds) if (queue.size === 0 && now >= until) this.#holds.delete(name);
    const hold = this.#holds.get(scope) ?? { until: 0, probeAt: 0, queue: new Set<QueuedCreate>() };
    hold.until = now + ms;
    hold.probeAt = now + PROBE_INTERVAL_MS;
    this.#holds.set(scope, hold);
    for (const create of hold.queue) if (ms > create.maxWait) create.reject(new PauseTooLongError(ms));
  }

  /** Resolves when a hold ends, or when a create may be let through earlier; rejects if that exceeds `maxWait`. */
  async #endOf(hold: Hold, maxWait: number, signal: AbortSignal): Promise<void> {
    for (;;) {
      const now = performance.now();
      const left = hold.until - now;
      if (left <= 0) return;
      if (now >= hold.probeAt) {
        hold.probeAt = now + PROBE_INTERVAL_MS;
        return;
      }
      if (left > maxWait) throw new PauseTooLongError(left);
      await sleep(Math.min(left, hold.probeAt - now), signal);
    }
  }

  /** Resolves when this create is first in the queue, with the function that leaves it. */
  async #enterQueue(scope: string, hold: Hold, maxWait: number, signal: AbortSignal): Promise<() => void> {
    const { promise: begun, resolve: begin, reject } = Promise.withResolvers<void>();
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    const create: QueuedCreate = { maxWait, reject };
    hold.queue.add(create);
    const leave = (): void => {
      hold.queue.delete(create);
      end();
      if (hold.queue.size === 0 && performance.now() >= hold.until) this.#holds.delete(scope);
    };
    void this.#mutex(scope, () => {
      begin();
      return ended;
    });
    try {
      await abortable(begun, signal);
      return leave;
    } catch (error) {
      leave();
      throw error;
    }
  }

  #permit(scope: string, leave: (() => void) | undefined): BuildPermit {
    return {
      onSuccess: () => {
        const hold = this.#holds.get(scope);
        if (hold) hold.until = Number.NEGATIVE_INFINITY;
      },
      release: () => leave?.(),
    };
  }

  async #readBudget(): Promise<BudgetReading> {
    const usage = await this.#readUsage().catch(() => undefined);
    const budget = isObject(usage) ? usage.build_budget : undefined;
    if (!isObject(budget)) return 'unknown';
    const { hour, day, retry_after_seconds: seconds } = budget;
    if (typeof seconds === 'number' && seconds > 0) {
      const wait = Math.min(seconds * 1000, MAX_RETRY_AFTER_MS);
      return { wait, isConfirmed: true, ...(isBuildBudget(budget) && { budget }) };
    }
    return hasLeft(hour) && hasLeft(day) ? 'left' : 'unknown';
  }
}

const isBuildBudget = (budget: JsonObject): budget is BuildBudget & JsonObject =>
  [budget.hour, budget.day].every((window) => {
    const { limit, used } = Object(window);
    return typeof limit === 'number' && typeof used === 'number';
  });

const hasLeft = (window: unknown): boolean =>
  isObject(window) && (window.limit === null || Number(window.used) < Number(window.limit));
