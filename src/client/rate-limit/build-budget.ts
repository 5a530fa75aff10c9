import { LONGEST_RATE_INTERVAL } from '../../spec/limits.ts';
import type { BuildBudget } from '../../spec/usage-report.ts';
import type { JsonObject } from '../../spec/wire-values.ts';
import { settled, sleep } from '../../util/abort.ts';
import { isObject } from '../../util/json.ts';
import { MAX_RETRY_AFTER_MS } from '../../util/retry-after.ts';
import { PauseTooLongError } from './rate-limiter.ts';

/** A 429 that the build budget caused. */
interface BudgetRefusal {
  /** Milliseconds until the budget allows a create request again. */
  readonly wait: number;
  /** Set if the usage report shows that the budget is used up. Otherwise only a long `Retry-After` indicates this. */
  readonly isConfirmed?: true;
  /** The budget in the usage report, if it has the documented fields. */
  readonly budget?: BuildBudget;
}

/** Maximum milliseconds for which create requests wait for the usage report. */
export const MAX_READ_MS = 10_000;
/** Maximum milliseconds for which a create request waits for the previous create request to settle. */
const MAX_SENDING_MS = 120_000;

/** State of the budget in a usage report. */
type BudgetReading =
  | { readonly isUsedUp: false }
  | { readonly isUsedUp: true; readonly wait?: number; readonly budget?: BuildBudget };

/** A pending read of the usage report, which all refusals share. */
interface SharedReading {
  readonly settled: Promise<BudgetReading | undefined>;
  result?: BudgetReading | undefined;
}

/** The hold on the create requests of one token after a refusal. */
interface Hold {
  /** End of the hold according to the service, on the clock of `performance.now()`. */
  until: number;
  /** Number of create requests that this hold delays. */
  waiting: number;
  /**
   * The create request in flight, and the latest time until which other create requests wait for it, on the clock of
   * `performance.now()`.
   */
  sending?: { readonly settled: Promise<void>; readonly until: number } | undefined;
}

/** Permission to send a create request. */
export interface BuildPermit {
  /** Allows the next create request of the token. Call `release` when the request has settled. */
  release(): void;
}

/**
 * Holds back create requests that start a job while the organization's build budget is used up. Afterwards, releases
 * the waiting create requests of each token one at a time: if the budget is still used up, the service refuses one of
 * them instead of all.
 */
export class BuildBudgetGate {
  readonly #readUsage: () => Promise<unknown>;
  readonly #holds = new Map<string, Hold>();
  #reading: SharedReading | undefined;

  /**
   * @param readUsage Reads the usage report. If this fails, the length of `Retry-After` decides whether the budget
   * caused a 429.
   */
  constructor(readUsage: () => Promise<unknown>) {
    this.#readUsage = readUsage;
  }

  /** Returns a permit if nothing holds back the create requests of a token. */
  tryAcquire(scope: string): BuildPermit | undefined {
    if (this.#reading || this.#holds.has(scope)) return undefined;
    return this.#permit(scope);
  }

  /** Returns the remaining milliseconds of the hold on a token's create requests, or 0 without a hold. */
  timeLeft(scope: string): number {
    return Math.max(0, (this.#holds.get(scope)?.until ?? 0) - performance.now());
  }

  /**
   * Waits until the client may send a create request. Rejects if the budget holds the request back for longer than
   * `maxWait` milliseconds.
   */
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
   * Returns the refusal if the budget caused the 429, or `undefined` if a rate bucket caused it. `mayRead` says whether
   * the usage report is about this budget.
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

  /** Holds back the create requests of a token for `ms` milliseconds. */
  hold(scope: string, ms: number): void {
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
      release: () => {
        resolve();
        if (hold?.sending !== sending) return;
        hold.sending = undefined;
        if (isOver(hold)) this.#holds.delete(scope);
      },
    };
  }

  /**
   * Reads the usage report once for all refusals. Meanwhile, new create requests wait, so that the service does not
   * refuse them, too.
   */
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

/** Returns whether a hold has ended: its time has passed, and no create request is waiting or in flight. */
const isOver = ({ until, waiting, sending }: Hold): boolean => waiting === 0 && !sending && performance.now() >= until;

const isBuildBudget = (budget: JsonObject): budget is BuildBudget & JsonObject =>
  [budget.hour, budget.day].every((window) => {
    const { limit, used } = Object(window);
    return typeof limit === 'number' && typeof used === 'number';
  });

const hasLeft = (window: unknown): boolean =>
  isObject(window) && (window.limit === null || Number(window.used) < Number(window.limit));
