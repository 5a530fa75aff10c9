import { check } from '../errors/audience-error.ts';
import type { KeepOptions, KeptOutcome, KeptWait, KeptWaits, OutcomeHandler } from '../polling/index.ts';
import { type JobKind, type Observed, progressOf } from '../spec/job-status.ts';
import { AbortScope, sleep } from '../util/abort.ts';
import { messageOf } from '../util/callbacks.ts';
import { shown } from '../util/input-checks.ts';
import { isObject } from '../util/json.ts';
import { nonNegative, optionChecker, optionOf, requiredString } from '../util/options.ts';
import { backoffDelay } from '../util/retry.ts';
import type { ClaimedWait, KeptRecord, WaitStore } from './wait-store.ts';

const checkKeepOptions = optionChecker<KeepOptions>('keep', {
  handler: requiredString,
  data: optionOf(isSerializable, 'must be a value that JSON can hold'),
  timeout: nonNegative,
  id: optionOf((value) => typeof value === 'string' && value !== '', 'must be a non-empty string'),
});

function isSerializable(value: unknown): boolean {
  try {
    return value === undefined || JSON.stringify(value) !== undefined;
  } catch {
    return false;
  }
}

const DAY_MS = 86_400_000;
/** Maximum number of outcomes that a process handles at the same time. */
const MAX_HANDLED = 16;
/** Time between two renewals of a claim, a third of its lease. Milliseconds. */
const RENEWAL_MS = 10_000;
/** Waits between two attempts to handle an outcome. Milliseconds. */
const RETRY = { min: 1_000, max: 900_000 } as const;

/** Time after which a process warns of outcomes that none handles. Milliseconds. */
const UNCLAIMED_MS = 60_000;

interface Host {
  /** Returns the resource of a state, if it is complete. */
  decode(kind: string, data: unknown): Observed | undefined;
  /** Called when the process begins to handle outcomes. */
  onHandler(): void;
  warn(message: string): void;
}

/** Waits kept as data in Redis, and the handlers of this process for their outcomes. */
export class RedisKeptWaits implements KeptWaits {
  readonly #store: WaitStore;
  readonly #host: Host;
  readonly #handlers = new Map<string, OutcomeHandler>();
  readonly #running = new Set<Promise<void>>();
  readonly #closing = new AbortController();
  #isClaiming = false;
  /** Since when outcomes are due that this process cannot claim. */
  #unclaimedSince: number | undefined;
  #hasWarned = false;

  constructor(store: WaitStore, host: Host) {
    this.#store = store;
    this.#host = host;
  }

  get hasHandlers(): boolean {
    return this.#handlers.size > 0;
  }

  async keep(
    { kind, id: jobId }: { readonly kind: JobKind; readonly id: number },
    options: KeepOptions,
  ): Promise<string> {
    this.#closing.signal.throwIfAborted();
    check(Number.isSafeInteger(jobId) && jobId > 0, `\`id\` must be a positive integer, not ${shown(jobId)}.`);
    const { handler, data, timeout = DAY_MS, id = crypto.randomUUID() } = checkKeepOptions(options);
    await this.#store.keep({ id, job: `${kind}:${jobId}`, handler, data: JSON.stringify(data ?? null) }, timeout);
    return id;
  }

  handle(name: string, handler: OutcomeHandler): () => void {
    this.#closing.signal.throwIfAborted();
    check(typeof name === 'string' && name !== '', '`handle` needs the name of the handler.');
    check(typeof handler === 'function', `\`handle('${name}', …)\` needs a function.`);
    this.#handlers.set(name, handler);
    this.#host.onHandler();
    return () => {
      if (this.#handlers.get(name) === handler) this.#handlers.delete(name);
    };
  }

  async kept(): Promise<KeptWait[]> {
    this.#closing.signal.throwIfAborted();
    const records = await this.#store.kept();
    return records.map((record) => {
      const { id, handler, data } = record;
      return { id, ...targetOf(record), handler, data: JSON.parse(data) };
    });
  }

  async drop(id: string): Promise<boolean> {
    this.#closing.signal.throwIfAborted();
    return this.#store.drop(id);
  }

  /** Claims outcomes and handles them, as many as this process can at the same time. */
  onDue(): void {
    if (this.#isClaiming || this.#closing.signal.aborted || !this.hasHandlers) return;
    const count = MAX_HANDLED - this.#running.size;
    if (count <= 0) return;
    this.#isClaiming = true;
    void this.#claim(count);
  }

  /** Claims no further outcomes; resolves when the running handlers have ended. */
  async close(reason: unknown): Promise<void> {
    this.#closing.abort(reason);
    this.#handlers.clear();
    await Promise.all(this.#running);
  }

  async #claim(count: number): Promise<void> {
    let claims: readonly ClaimedWait[] = [];
    try {
      claims = await this.#store.claim([...this.#handlers.keys()], count);
    } catch {
      // The outcomes can be claimed again after the lease; failures of Redis are reported by the process's reports.
    }
    this.#isClaiming = false;
    this.#checkUnclaimed(claims.length);
    for (const claim of claims) {
      const running = this.#handle(claim).finally(() => {
        this.#running.delete(running);
        this.onDue();
      });
      this.#running.add(running);
    }
  }

  /** Warns once if outcomes are due, but no process claims them: the name of their handler may be wrong. */
  #checkUnclaimed(claimed: number): void {
    const now = performance.now();
    if (claimed > 0) this.#unclaimedSince = undefined;
    else this.#unclaimedSince ??= now;
    if (this.#hasWarned || now - (this.#unclaimedSince ?? now) < UNCLAIMED_MS) return;
    this.#hasWarned = true;
    const names = [...this.#handlers.keys()].join(', ');
    this.#host.warn(
      `Outcomes of kept waits have been due for a minute without a handler; this process handles ${names}. Register the others by \`waits.handle\`; \`waits.kept()\` shows their names.`,
    );
  }

  async #handle(claim: ClaimedWait): Promise<void> {
    const handler = this.#handlers.get(claim.handler);
    const lost = new AbortScope({ parents: [this.#closing.signal] });
    const done = new AbortController();
    const lease = { value: claim.lease };
    const renewing = this.#renew(claim.id, lease, done.signal, () => lost.abort()).catch(() => {});
    let retryAfter: number | undefined;
    try {
      // Closed or removed after the claim: another process, or a later handler, takes the outcome.
      if (!handler) retryAfter = 0;
      await handler?.(this.#outcomeOf(claim, lost.signal), JSON.parse(claim.data));
    } catch (error) {
      // The end of the process is not a failure of the handler: another process can continue immediately.
      const isEnding = this.#closing.signal.aborted;
      retryAfter = isEnding ? 0 : backoffDelay(claim.attempt, RETRY, Math.random);
      const { id, handler: name } = claim;
      const seconds = Math.ceil(retryAfter / 1_000);
      const message = messageOf(error);
      const text = `The handler '${name}' of the kept wait ${id} failed, and is called again in ${seconds} s: ${message}`;
      if (!isEnding) this.#host.warn(text);
    }
    done.abort();
    await renewing;
    lost.dispose();
    await this.#store.settle(claim.id, lease.value, retryAfter).catch((error) => {
      this.#host.warn(`The outcome of the kept wait ${claim.id} may be handled again: ${messageOf(error)}`);
    });
  }

  async #renew(id: string, lease: { value: string }, signal: AbortSignal, onLost: () => void): Promise<void> {
    while (!signal.aborted) {
      await sleep(RENEWAL_MS, signal);
      try {
        const renewed = await this.#store.renew(id, lease.value);
        if (renewed === undefined) return onLost();
        lease.value = renewed;
      } catch {
        // The next renewal comes before the lease ends.
      }
    }
  }

  #outcomeOf(claim: ClaimedWait, signal: AbortSignal): KeptOutcome {
    const { id, attempt, state } = claim;
    const { kind, jobId } = targetOf(claim);
    const base = { id, kind, jobId, attempt, signal };
    if (state === undefined) return { ...base, status: 'timed-out' };
    const value: unknown = JSON.parse(state);
    const resource = isObject(value) ? this.#host.decode(kind, value.resource) : undefined;
    const progress = resource && progressOf(kind, resource);
    if (!progress || progress === 'running') return { ...base, status: 'unreadable' };
    // The decoder of the kind has checked the resource.
    return { ...base, status: progress, resource } as KeptOutcome;
  }
}

function targetOf({ job }: KeptRecord): { readonly kind: JobKind; readonly jobId: number } {
  const [kind = '', id] = job.split(':');
  return { kind: kind as JobKind, jobId: Number(id) };
}
