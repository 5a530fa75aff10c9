import {
  ConfigurationError,
  ConnectionError,
  FileError,
  NotAcceptableError,
  PermissionError,
  RateLimitError,
  ResponseError,
  ServerError,
} from '../../index.ts';
import { JournalError } from '../../node/index.ts';
import { sleep } from '../../util/abort.ts';

/** Options of {@link createQueue}. Durations are in milliseconds. */
export interface QueueOptions {
  readonly signal: AbortSignal;
  /** Maximum wait until the service accepts the next create request. */
  readonly budgetWait: number;
  /** Maximum wait for the end of an outage. */
  readonly outageWait: number;
  /** Sends a cheap read. Rejects during an outage. */
  readonly probe: () => Promise<unknown>;
  /** Called when a limit holds create requests back. */
  readonly onLimit: (error: RateLimitError, until: number) => void;
  /** Called when an outage holds create requests back, with the time at which the queue gives up. */
  readonly onOutage: (error: unknown, until: number) => void;
}

/** A create request that waits for its turn. */
interface Item {
  /** The queue sends create requests with smaller ranks first. */
  readonly rank: readonly number[];
  readonly send: () => Promise<number>;
  readonly resolve: (id: number) => void;
  readonly reject: (error: unknown) => void;
  /** True if the create request failed in an outage, and the queue sends it a second time. */
  readonly isRepeated?: boolean;
}

/** Error with which the queue rejects create requests that it does not send. */
export const NOT_BEGUN = new Error('No more create requests are sent.');

/** Number of consecutive failures after which the queue assumes an outage instead of faulty rows. */
const OUTAGE_CREATES = 3;

/** Minimum and maximum time between two probes of an outage, in milliseconds. */
const PROBE_MS = { min: 10_000, max: 300_000 } as const;

/** Milliseconds to wait after a 429 without `Retry-After`. */
const DEFAULT_LIMIT_MS = 60_000;

/** Codes of errors with which the service refuses a create request because of its content. */
const RESPONSES: readonly unknown[] = ['validation-failed', 'not-found', 'conflict', 'api-error'];

/** Errors that either a faulty row or an outage of the service may cause. */
const FAILURES = [ConnectionError, ResponseError, ServerError, PermissionError, NotAcceptableError] as const;

/** Returns whether a create request was not sent because its row or its file is invalid. */
const isLocal = (error: unknown): boolean =>
  (JournalError.isInstance(error) && error.key !== undefined) ||
  ConfigurationError.isInstance(error) ||
  (FileError.isInstance(error) && error.code !== 'disk-full' && error.code !== 'file-unwritable');

/** Returns whether the client, the journal or the service refused a create request because of its row. */
export const isRefused = (error: unknown): boolean => RESPONSES.includes(Object(error).code) || isLocal(error);

/**
 * Returns a function that adds a create request to a queue and resolves with the id of the created resource. The queue
 * sends one create request at a time, so that a killed process leaves at most one in flight. The queue puts a failed
 * create request aside and sends the next one. It assumes an outage after three consecutive failures, or if a read fails
 * when only failed create requests are left. After the outage, it sends the failed create requests once more.
 */
export function createQueue(options: QueueOptions): (rank: Item['rank'], send: Item['send']) => Promise<number> {
  const { signal, budgetWait, outageWait } = options;
  const items: Item[] = [];
  /** Create requests that have failed since the service last accepted or refused one. */
  const failed: (readonly [item: Item, error: unknown])[] = [];
  let limitedSince: number | undefined;
  let outage: { readonly since: number; probeMs: number } | undefined;
  let isRunning = false;
  let hasEnded = false;

  const isOutage = (): boolean => outage !== undefined || failed.length >= OUTAGE_CREATES;

  /** Puts a failed create request aside, or sends it once more after an outage. */
  function release(isRepeated: boolean): void {
    for (const [item, error] of failed.splice(0)) {
      if (isRepeated && !item.isRepeated) items.push({ ...item, isRepeated });
      else item.reject(error);
    }
    outage = undefined;
  }

  function end(): void {
    hasEnded = true;
    release(false);
    for (const { reject } of items.splice(0)) reject(NOT_BEGUN);
  }

  const probe = (): Promise<boolean> =>
    options.probe().then(
      () => true,
      () => false,
    );

  async function awaitService(): Promise<void> {
    const isRepeated = failed.every(([item]) => item.isRepeated);
    // Fewer than three failures count as an outage only if a read fails, too.
    if (items.length === 0 && (isRepeated || (!isOutage() && (await probe())))) return release(false);
    outage ??= { since: Date.now(), probeMs: PROBE_MS.min };
    const until = outage.since + outageWait;
    if (outageWait > 0) options.onOutage(failed.at(-1)?.[1], until);
    do {
      const left = until - Date.now();
      if (left <= 0) return end();
      await sleep(Math.min(outage.probeMs, left), signal);
      outage.probeMs = Math.min(2 * outage.probeMs, PROBE_MS.max);
    } while (!(await probe()));
    // Send the failed create requests: only they show whether the outage is over.
    if (items.length === 0) release(true);
  }

  async function send(item: Item): Promise<void> {
    try {
      const id = await item.send();
      limitedSince = undefined;
      release(isOutage());
      item.resolve(id);
    } catch (error) {
      const until = limitOf(error);
      if (until === undefined && FAILURES.some((type) => type.isInstance(error))) {
        failed.push([item, error]);
        return;
      }
      if (!isLocal(error)) release(isOutage());
      if (until === undefined) {
        item.reject(error);
        return isRefused(error) ? undefined : end();
      }
      limitedSince ??= Date.now();
      if (until - limitedSince > budgetWait) {
        item.reject(error);
        return end();
      }
      items.push(item);
      options.onLimit(error as RateLimitError, until);
      await sleep(Math.max(0, until - Date.now()), signal);
    }
  }

  async function run(): Promise<void> {
    // Start in a later turn, so that rows that are added together are sorted first.
    await new Promise(setImmediate);
    try {
      while (items.length > 0 || failed.length > 0) {
        if (items.length === 0 || failed.length >= OUTAGE_CREATES) await awaitService();
        signal.throwIfAborted();
        // Choose the next create request only now, because an activation may have joined the queue meanwhile.
        const item = items.sort(byRank).shift();
        if (item) await send(item);
      }
    } catch (error) {
      for (const { reject } of items.splice(0)) reject(error);
      release(false);
    }
    isRunning = false;
  }

  return (rank, sendItem) =>
    new Promise((resolve, reject) => {
      if (hasEnded || signal.aborted) return reject(hasEnded ? NOT_BEGUN : signal.reason);
      items.push({ rank, send: sendItem, resolve, reject });
      if (!isRunning) void run();
      isRunning = true;
    });
}

function byRank({ rank: a }: Item, { rank: b }: Item): number {
  const at = a.findIndex((part, index) => part !== b[index]);
  return at === -1 ? 0 : (a[at] ?? 0) - (b[at] ?? 0);
}

/**
 * Returns when the queue may repeat a create request that a limit refused, in milliseconds since 1970. Returns
 * `undefined` for other errors.
 */
const limitOf = (error: unknown): number | undefined =>
  RateLimitError.isInstance(error) ? (error.retryAt?.getTime() ?? Date.now() + DEFAULT_LIMIT_MS) : undefined;
