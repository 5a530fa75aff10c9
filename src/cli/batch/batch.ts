import { AuthenticationError, type RateLimitError } from '../../index.ts';
import type { JobResource } from '../../spec/job-status.ts';
import { createMutex } from '../../util/concurrency.ts';
import {
  doneOf,
  forgetPart,
  type Jobs,
  partsOf,
  type RowOptions,
  type RowState,
  type RowView,
  runRow,
} from './batch-row.ts';
import type { BatchRow } from './batch-rows.ts';
import { createQueue, isRefused, NOT_BEGUN, type QueueOptions } from './create-queue.ts';

/** Options of {@link runBatch}. Durations are milliseconds. */
export interface BatchOptions extends RowOptions, Pick<QueueOptions, 'budgetWait' | 'outageWait' | 'onOutage'> {
  /** Creates the rows again whose jobs failed in an earlier run. */
  readonly retryFailed?: boolean | undefined;
  readonly onChange: (view: RowView) => void;
  /** Called when create requests have to wait, with the number of remaining create requests. */
  readonly onLimit: (error: RateLimitError, until: number, left: number) => void;
}

/** States of rows that have not ended. */
const ON_ITS_WAY: readonly RowState[] = ['waiting', 'importing', 'building', 'activating', 'downloading'];

/** Time to wait for the first reads of existing audiences, whose activations go before new audiences. */
const FIRST_READS_MS = 60_000;

/** Reason of a row whose create request was in flight when the run ended. */
const IN_DOUBT =
  'Its create request was in flight. Run this again within 23 hours, and the service creates it only once.';

/** Processes all rows. Never rejects. */
export async function runBatch(rows: readonly BatchRow[], options: BatchOptions): Promise<readonly RowView[]> {
  const { client, journal, activate, onChange } = options;
  const pairs = rows.map((row, at) => ({ row, at, view: { key: row.key, state: 'waiting' } as RowView }));
  const stop = new AbortController();
  const signal = AbortSignal.any([options.signal, stop.signal]);
  const downloads = createMutex();
  const completed = new Map<string, JobResource>();
  const add = createQueue({
    ...options,
    signal,
    probe: () => client.audiences.list({ per_page: 1 }, { signal, maxRetries: 0 }),
    onLimit: (error, until) =>
      options.onLimit(
        error,
        until,
        pairs.reduce((sum, pair) => sum + createsLeft(pair), 0),
      ),
  });

  /** Returns how many creates a row still needs. */
  function createsLeft({ row, view: { state, cohort, audience, activation } }: (typeof pairs)[number]): number {
    const ids = [row.file === undefined || audience !== undefined ? 0 : cohort, audience, activate ? activation : 0];
    return ON_ITS_WAY.includes(state) ? ids.filter((id) => id === undefined).length : 0;
  }

  const isInDoubt = (part: string): boolean => {
    const entry = journal.get(part);
    return entry?.at !== undefined && entry.id === undefined;
  };

  /** Returns a job if it has completed, after its first read. */
  async function readOnce(jobs: Jobs<JobResource>, id: number): Promise<JobResource | undefined> {
    const seen = new AbortController();
    const either = AbortSignal.any([signal, seen.signal]);
    return jobs
      .wait(id, { timeout: FIRST_READS_MS, signal: either, onUpdate: (job) => isRunning(job) && seen.abort() })
      .catch((error) => {
        if (stateOf(error) === 'failed') throw error;
        return undefined;
      });
  }

  const isRunning = (job: JobResource): boolean => client.jobState('audience', job) === 'running';

  /**
   * Reads the audiences that earlier runs have created, so that activations of completed audiences go before new
   * audiences. With `retryFailed`, forgets the failed ones.
   */
  async function readEarlier({ key }: BatchRow): Promise<void> {
    const parts = partsOf(key);
    const kinds: readonly (readonly [part: string, jobs: Jobs<JobResource>])[] = [
      [parts.cohort, client.cohorts],
      [parts.audience, client.audiences],
      [parts.activation, client.activations],
    ];
    const created = kinds.filter(([part]) => journal.get(part)?.id !== undefined);
    const isActivatedNext = activate !== undefined && created.at(-1)?.[0] === parts.audience;
    if (doneOf(key, journal, options) || !(options.retryFailed || isActivatedNext)) return;
    for (const [part, jobs] of created) {
      try {
        const job = await readOnce(jobs, journal.get(part)?.id ?? 0);
        if (job) completed.set(part, job);
      } catch {
        if (options.retryFailed) return forgetPart(journal, key, part);
      }
    }
  }

  async function settle({ row, view, at }: (typeof pairs)[number]): Promise<void> {
    const parts = Object.values(partsOf(row.key));
    const change = (fields: Partial<RowView>): void => onChange(Object.assign(view, fields));
    // Requests whose outcome is unknown go first, because their keys expire, then activations. Each group is in the
    // order of the rows.
    const rankOf = (part: string) => [isInDoubt(part) ? 0 : 1, part === parts.at(-1) ? 0 : 1, at];
    try {
      await runRow(
        row,
        { ...options, signal },
        {
          enqueue: (part, send) => add(rankOf(part), send),
          completed: (part) => completed.get(part),
          downloads,
          change,
        },
      );
    } catch (error) {
      const isTokenRefused = AuthenticationError.isInstance(error);
      // The first row has the error of the token.
      const isStopped = error === NOT_BEGUN || (signal.aborted && (isTokenRefused || error === signal.reason));
      if (isTokenRefused) stop.abort(NOT_BEGUN);
      if (!isStopped) change({ state: stateOf(error), error });
      else if (parts.some(isInDoubt)) change({ state: 'unknown', reason: IN_DOUBT });
      else change({ state: 'unfinished' });
    }
  }

  await Promise.all(rows.map(readEarlier));
  await Promise.all(pairs.map(settle));
  stop.abort(NOT_BEGUN);
  return pairs.map(({ view }) => view);
}

/** Returns the state of a row that has failed with an error. */
function stateOf(error: unknown): RowState {
  const { code, outcome, operation }: Readonly<Record<string, unknown>> = Object(error);
  if (outcome === 'unknown' || outcome === 'done') return 'unknown';
  // A file that storage does not have is not a failed job.
  const isDeleted = code === 'not-found' && outcome === undefined && operation !== 'activations.download';
  if (isDeleted || String(code).startsWith('job-')) return 'failed';
  return code === 'body-changed' || (outcome !== undefined && isRefused(error)) ? 'refused' : 'unfinished';
}
