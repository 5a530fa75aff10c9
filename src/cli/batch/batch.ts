import { AuthenticationError, type RateLimitError } from '../../index.ts';
import { sleep } from '../../util/abort.ts';
import { createMutex } from '../../util/concurrency.ts';
import { ON_ITS_WAY, partsOf, type RowOptions, type RowView, runRow, stateOf } from './batch-row.ts';
import type { BatchRow } from './batch-rows.ts';
import { createQueue, NOT_BEGUN, type QueueOptions } from './create-queue.ts';

/** Options of {@link runBatch}. Durations are in milliseconds. */
export interface BatchOptions extends RowOptions, Pick<QueueOptions, 'budgetWait' | 'outageWait' | 'onOutage'> {
  readonly onChange: (view: RowView) => void;
  /**
   * Called when a limit holds create requests back. `until` is in milliseconds since 1970; `left` is the number of
   * create requests left.
   */
  readonly onLimit: (error: RateLimitError, until: number, left: number) => void;
}

/** Maximum milliseconds to wait for the first reads of existing audiences, whose activations precede new audiences. */
const FIRST_READS_MS = 60_000;

/** Reason for a row whose create request was in flight when the run ended. */
const IN_DOUBT =
  'A create request of the row was in flight when a run ended. Run the same command again within 23 hours, and the service creates the resource only once.';

/** Processes all rows. Never rejects. */
export async function runBatch(rows: readonly BatchRow[], options: BatchOptions): Promise<readonly RowView[]> {
  const { client, journal, activate, onChange } = options;
  const pairs = rows.map((row, at) => ({
    row,
    at,
    view: { key: row.key, state: 'waiting' } as RowView,
    read: Promise.withResolvers<void>(),
  }));
  const stop = new AbortController();
  const signal = AbortSignal.any([options.signal, stop.signal]);
  const downloads = createMutex();
  const isCreated = (part: string): boolean => journal.get(part)?.id !== undefined;
  const isInDoubt = (part: string): boolean => journal.get(part)?.at !== undefined && !isCreated(part);

  /** Returns how many create requests a row still needs. */
  function createsLeft({ row: { key, file }, view }: (typeof pairs)[number]): number {
    const { cohort, audience, activation } = partsOf(key);
    const needed = [audience, ...(activate ? [activation] : []), ...(file === undefined ? [] : [cohort])];
    return ON_ITS_WAY.some((state) => state === view.state) ? needed.filter((part) => !isCreated(part)).length : 0;
  }

  const add = createQueue({
    ...options,
    signal,
    probe: () => client.audiences.list({ per_page: 1 }, { signal, maxRetries: 0 }),
    onLimit: (error, until) =>
      options.onLimit(
        error,
        until,
        pairs.map(createsLeft).reduce((a, b) => a + b),
      ),
  });
  const earlier = pairs.filter(({ row }) => activate && isCreated(row.key) && !isCreated(partsOf(row.key).activation));
  const firstReads = Promise.race([
    Promise.all(earlier.map(({ read }) => read.promise)),
    sleep(FIRST_READS_MS, signal).catch(() => {}),
  ]);

  async function settle({ row, view, at, read }: (typeof pairs)[number]): Promise<void> {
    const parts = Object.values(partsOf(row.key));
    const change = (fields: Partial<RowView>): void => onChange(Object.assign(view, fields));
    const enqueue = async (part: string, send: () => Promise<number>): Promise<number> => {
      const isActivation = part === parts.at(-1);
      if (!isActivation) await firstReads;
      // Requests with an unknown outcome go first, because their keys expire. Activations go next.
      return add([isInDoubt(part) ? 0 : 1, isActivation ? 0 : 1, at], send);
    };
    try {
      await runRow(row, { ...options, signal }, { enqueue, downloads, change, onRead: read.resolve });
    } catch (error) {
      const isTokenRefused = AuthenticationError.isInstance(error);
      // Only the first row reports a refused token.
      const isStopped = error === NOT_BEGUN || (signal.aborted && (isTokenRefused || error === signal.reason));
      if (isTokenRefused) stop.abort(NOT_BEGUN);
      if (!isStopped) change({ state: stateOf(error), error });
      else if (parts.some(isInDoubt)) change({ state: 'unknown', reason: IN_DOUBT });
      else change({ state: 'unfinished' });
    }
    read.resolve();
  }

  await Promise.all(pairs.map(settle));
  stop.abort(NOT_BEGUN);
  return pairs.map(({ view }) => view);
}
