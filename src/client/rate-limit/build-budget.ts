import { LONGEST_RATE_INTERVAL } from '../../spec/limits.ts';
import type { BuildBudget } from '../../spec/usage-report.ts';
import type { JsonObject } from '../../spec/wire-values.ts';
import { settled, sleep } from '../../util/abort.ts';
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

/** Maximum time for which creates wait until the usage report is read. Milliseconds. */
export const MAX_READ_MS = 10_000;
/** Maximum time for which creates wait until the one before them has settled. Milliseconds. */
const MAX_SENDING_MS = 120_000;

/** What a usage report says about the budget. */
type BudgetReading =
  | { readonly isUsedUp: false }
  | { readonly isUsedUp: true; readonly wait?: number; readonly budget?: BuildBudget };

/** A usage report that is being read for all refusals. */
interface SharedReading {
  readonly settled: Promise<BudgetReading | undefined>;
  result?: BudgetReading | undefined;
}

/** Holds the creates of one token back after a refusal. */
interface Hold {
  /** The time that the service named, of `performance.now()`. */
  until: number;
  /** Number of creates that this hold keeps back. */
  waiting: number;
  /** The create that is being sent, and until when others wait for it. */
  sending?: { readonly settled: Promise<void>; readonly until: number } | undefined;
}

/** A create that may be sent. */
export interface BuildPermit {
  /** Ends the hold, because the service has accepted the create. */
  onSuccess(): void;
  /** Lets the next create of the token be sent. To be called when the request has settled. */
  release(): void;
}

/**
 * Holds job-starting creates back while the organization's build budget is used up. When the hold of a token ends, its
 * creates that have waited are sent one after the other, so that only the first of them is refused again.
 */
export class BuildBudgetGate {
  readonly #readUsage: () => Promise<unknown>;
  readonly #holds = new Map<string, Hold>();
  #reading: SharedReading | undefined;
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
    if (this.#reading || this.#holds.has(scope)) return undefined;
    return this.#permit(scope);
  }

  /** Returns the milliseconds until the end of a token's hold as it is known, 0 without one. */
  timeLeft(scope: string): number {
    return Math.max(0, (this.#holds.get(scope)?.until ?? 0) - performance.now());
  }

  /** Waits until a create may be sent; rejects if a hold exceeds `maxWait`. */
  async acquire(scope: string, maxWait: number, signal: AbortSignal): Promise<BuildPermit> {
    if (this.#reading) await this.#settle(this.#reading, signal);
    const hold = this.#holds.get(scope);
    if (!hold) return this.#permit(scope);
    hold.waiting++;
    try {
      for (;;) {
        const left = hold.until - performance.now();
        if (left > maxWait) throw new PauseTooLongError(left);
        // Timers drop fractions of milliseconds.
        if (left > 0) await sleep(Math.ceil(left), signal);
        else if (hold.sending && performance.now() < hold.sending.until)
          await settled(hold.sending.settled, hold.sending.until - performance.now(), signal);
        else return this.#permit(scope, hold);
      }
    } finally {
      hold.waiting--;
    }
  }

  /**
   * Returns the refusal if a 429 came from the budget, `undefined` if it came from a rate bucket. `mayRead`: whether the
   * usage report shows this budget.
   */
  async classify(
    retryAfter: number | undefined,
    signal: AbortSignal,
    mayRead: boolean,
  ): Promise<BudgetRefusal | undefined> {
    const reading = mayRead ? await this.#readOnce(signal) : undefined;
    if (reading?.isUsedUp === false) return undefined;
    if (reading) return { wait: retryAfter ?? LONGEST_RATE_INTERVAL, ...reading, isConfirmed: true };
    return retryAfter !== undefined && retryAfter > LONGEST_RATE_INTERVAL ? { wait: retryAfter } : undefined;
  }

  /** Holds creates of a token back for `ms`. */
  hold(scope: string, ms: number): void {
    this.#refusals++;
    const now = performance.now();
    for (const [name, hold] of this.#holds) if (isOver(hold)) this.#holds.delete(name);
    const hold = this.#holds.get(scope) ?? { until: 0, waiting: 0 };
    hold.until = now + ms;
    this.#holds.set(scope, hold);
  }

  #permit(scope: string, hold?: Hold): BuildPermit {
    const { promise, resolve } = Promise.withResolvers<void>();
    const sending = { settled: promise, until: performance.now() + MAX_SENDING_MS };
    if (hold) hold.sending = sending;
    return {
      onSuccess: () => {
        const current = this.#holds.get(scope);
        if (current) current.until = Number.NEGATIVE_INFINITY;
      },
      release: () => {
        resolve();
        if (hold?.sending !== sending) return;
        hold.sending = undefined;
        if (isOver(hold)) this.#holds.delete(scope);
      },
    };
  }

  /** Reads the usage report once for all refusals; creates that start meanwhile wait, and are not refused as well. */
  async #readOnce(signal: AbortSignal): Promise<BudgetReading | undefined> {
    this.#reading ??= { settled: this.#readBudget() };
    const reading = this.#reading;
    void reading.settled.then((result) => {
      reading.result = result;
    });
    await this.#settle(reading, signal);
    return reading.result;
  }

  async #settle(reading: SharedReading, signal: AbortSignal): Promise<void> {
    await settled(reading.settled, MAX_READ_MS, signal);
    if (this.#reading === reading) this.#reading = undefined;
  }

  async #readBudget(): Promise<BudgetReading | undefined> {
    const usage = await this.#readUsage().catch(() => undefined);
    const report = isObject(usage) ? usage.build_budget : undefined;
    if (!isObject(report)) return undefined;
    const { hour, day, retry_after_seconds: seconds } = report;
    const budget = isBuildBudget(report) ? { budget: report } : undefined;
    if (typeof seconds === 'number' && seconds > 0)
      return { isUsedUp: true, wait: Math.min(seconds * 1000, MAX_RETRY_AFTER_MS), ...budget };
    if (hasLeft(hour) && hasLeft(day)) return { isUsedUp: false };
    return budget && { isUsedUp: true, ...budget };
  }
}

/** Returns whether a hold can be forgotten: its time has passed, and no create waits for it or is being sent. */
const isOver = ({ until, waiting, sending }: Hold): boolean => waiting === 0 && !sending && performance.now() >= until;

const isBuildBudget = (budget: JsonObject): budget is BuildBudget & JsonObject =>
  [budget.hour, budget.day].every((window) => {
    const { limit, used } = Object(window);
    return typeof limit === 'number' && typeof used === 'number';
  });

const hasLeft = (window: unknown): boolean =>
  isObject(window) && (window.limit === null || Number(window.used) < Number(window.limit));
