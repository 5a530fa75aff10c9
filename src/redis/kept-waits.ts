import { check } from '../errors/audience-error.ts';
import type { KeepOptions, KeptOutcome, KeptWait, KeptWaits, OutcomeHandler } from '../polling/index.ts';
import { type JobKind, type Observed, progressOf } from '../spec/job-status.ts';
import { AbortScope, sleep } from '../util/abort.ts';
import { messageOf } from '../util/callbacks.ts';
import { shown } from '../util/input-checks.ts';
import { isObject } from '../util/json.ts';
import { nonNegative, optionChecker, optionOf, requiredOption } from '../util/options.ts';
import { backoffDelay } from '../util/retry.ts';
import type { ClaimedWait, KeptRecord, WaitStore } from './wait-store.ts';

const NOT_A_NAME = 'must be a string of 1 to 200 characters in one line';

/** Returns whether a value can name a handler or a wait: scripts separate names by line breaks. */
function isName(value: unknown): boolean {
  return typeof value === 'string' && /^[^\n\p{Surrogate}]{1,200}$/u.test(value);
}

const checkKeepOptions = optionChecker<KeepOptions>('keep', {
  handler: requiredOption(isName, NOT_A_NAME),
  data: optionOf(isSerializable, 'must be a value that JSON can hold'),
  timeout: nonNegative,
  id: optionOf(isName, NOT_A_NAME),
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

/** Time until the next claim after one that found no outcome for the handlers of this process. Milliseconds. */
const CLAIM_PAUSE_MS = 1_000;
/** Time after which a process warns of outcomes that none handles. Milliseconds. */
const UNCLAIMED_MS = 60_000;

interface Host {
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
  #claiming: Promise<void> | undefined;
  #claimAgainAt = Number.NEGATIVE_INFINITY;
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
    check(isName(name), `The name of a handler ${NOT_A_NAME}.`);
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
    const isReady = !this.#claiming && this.hasHandlers && performance.now() >= this.#claimAgainAt;
    const count = MAX_HANDLED - this.#running.size;
    if (!isReady || this.#closing.signal.aborted || count <= 0) return;
    this.#claiming = this.#claim(count);
  }

  /** Claims no further outcomes; resolves when the running handlers have ended. */
  async close(reason: unknown): Promise<void> {
    this.#closing.abort(reason);
    this.#handlers.clear();
    await this.#claiming;
    await Promise.all(this.#running);
  }

  async #claim(count: number): Promise<void> {
    let claims: readonly ClaimedWait[] = [];
    try {
      claims = await this.#store.claim([...this.#handlers.keys()], count);
    } catch {
      // The outcomes can be claimed again after the lease; failures of Redis are reported by the process's reports.
    }
    this.#claiming = undefined;
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
    this.#unclaimedSince = claimed > 0 ? undefined : (this.#unclaimedSince ?? now);
    if (claimed === 0) this.#claimAgainAt = now + CLAIM_PAUSE_MS;
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
    const renewing = this.#renew(claim, done.signal, () => lost.abort()).catch(() => {});
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
    const warn = (reason: string): void =>
      this.#host.warn(`The outcome of the kept wait ${claim.id} may be handled again: ${reason}`);
    try {
      const isSettled = await this.#store.settle(claim.id, claim.attempt, retryAfter);
      if (!isSettled) warn('its claim has ended.');
    } catch (error) {
      warn(messageOf(error));
    }
  }

  async #renew({ id, attempt }: ClaimedWait, signal: AbortSignal, onLost: () => void): Promise<void> {
    while (!signal.aborted) {
      await sleep(RENEWAL_MS, signal);
      // After a failure, the next renewal comes before the claim ends.
      const isRenewed = await this.#store.renew(id, attempt).catch(() => true);
      if (!isRenewed) return onLost();
    }
  }

  #outcomeOf(claim: ClaimedWait, signal: AbortSignal): KeptOutcome {
    const { id, attempt, state } = claim;
    const { kind, jobId } = targetOf(claim);
    const base = { id, kind, jobId, attempt, signal };
    if (state === undefined) return { ...base, status: 'timed-out' };
    const value: unknown = JSON.parse(state);
    // The process that has published the resource has decoded it.
    const resource = isObject(value) ? (value.resource as Observed | undefined) : undefined;
    const progress = resource && progressOf(kind, resource);
    if (!progress || progress === 'running') return { ...base, status: 'unreadable' };
    return { ...base, status: progress, resource } as KeptOutcome;
  }
}

function targetOf({ job }: KeptRecord): { readonly kind: JobKind; readonly jobId: number } {
  const [kind = '', id] = job.split(':');
  return { kind: kind as JobKind, jobId: Number(id) };
}
