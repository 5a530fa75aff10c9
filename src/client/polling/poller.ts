import { type IdLike, idOf, type JobResource } from '../../spec/job-status.ts';
import { AbortScope, startTimer } from '../../util/abort.ts';
import { atCallSite, captureCallSite, isReason } from '../../util/call-site.ts';
import { safely } from '../../util/callbacks.ts';
import { idProblem } from '../../util/input-checks.ts';
import { isOlder } from '../../util/timestamps.ts';
import type { ClientState } from '../http/client-state.ts';
import type { Job, JobSource, JobUpdate } from './job.ts';
import type { JobTable } from './job-table.ts';
import { StatusChanges } from './status-changes.ts';
import { jobError, MAX_MACHINE_SLEEP_MS, timeoutError } from './wait-errors.ts';
import { checkWatchOptions, type WaitOptions, type WatchOptions } from './wait-options.ts';
import { WaitReport } from './wait-report.ts';

/** Default `timeout` of a wait, in milliseconds. */
export const DEFAULT_WAIT_TIMEOUT_MS = 3_600_000;
/** A job is polled once more this long before a wait for it times out, because it may have ended since its last poll. */
const LAST_POLL_MS = 2_000;

/** Returns whether a later state differs from an earlier one by its status or `updated_at`. */
const hasChanged = (resource: JobResource, earlier: JobResource | undefined): boolean =>
  !earlier || resource.status.id !== earlier.status.id || isOlder(earlier, resource);

/** Waits for jobs of one kind, or watches them. */
export class Poller<T extends JobResource> {
  readonly #state: ClientState;
  readonly #source: JobSource<T>;
  readonly #table: JobTable<T>;

  /** @param table Contains this kind's jobs; kinds that are in the same list share it. */
  constructor(state: ClientState, source: JobSource<T>, table: JobTable<T>) {
    this.#state = state;
    this.#source = source;
    this.#table = table;
  }

  /** Resolves with the completed resource. The caller must have checked the options. */
  async wait(target: IdLike, { onUpdate, ...options }: WaitOptions<T> = {}): Promise<T> {
    const { kind, settings } = this.#source;
    const startedAt = performance.now();
    let previous: T | undefined;
    const { resource, state } = await this.#follow(target, options, (update) => {
      if (!onUpdate || (update.state === 'running' && !hasChanged(update.resource, previous))) return;
      previous = update.resource;
      safely(
        () => onUpdate(update.resource, { elapsed: performance.now() - startedAt, source: update.source }),
        (message) => settings.logger.warn(`\`onUpdate\` threw: ${message}`),
      );
    });
    if (state === 'completed') return resource;
    throw jobError(kind, resource, state, this.#state.redactor);
  }

  /** Iterates a job's changes of status; each `for await` loop follows the job separately. */
  watch(target: IdLike, options: WatchOptions<T> = {}): AsyncIterable<T> {
    const site = captureCallSite();
    const follow = async (onState: (resource: T) => void, left: AbortSignal): Promise<void> => {
      checkWatchOptions(options);
      try {
        await this.#follow(target, options, ({ resource }) => onState(resource), left);
      } catch (error) {
        throw isReason(error, [options.signal]) ? error : atCallSite(error, site);
      }
    };
    return { [Symbol.asyncIterator]: () => new StatusChanges<T>(follow) };
  }

  /**
   * Passes the states of a job to `onState`, in the async context of the caller, until the job ends; resolves with the
   * final state. `left` aborts when the caller stops waiting.
   */
  async #follow(
    target: IdLike,
    options: WatchOptions<T>,
    onState: (update: JobUpdate<T>) => void,
    left?: AbortSignal,
  ): Promise<JobUpdate<T> & { readonly state: Ended }> {
    const id = idOf(target);
    const problem = idProblem(id);
    if (problem !== undefined) throw this.#source.invalidId(problem);
    const { signal, timeout = DEFAULT_WAIT_TIMEOUT_MS, request = {} } = options;
    const { redactor } = this.#state;
    const { kind, settings } = this.#source;
    signal?.throwIfAborted();
    const report = settings.hooks.some(({ onWait }) => onWait) ? new WaitReport(settings, kind, id) : undefined;
    let job: Job<T> | undefined;
    const scope = new AbortScope({
      owner: this.#state,
      parents: [signal, left],
      ms: timeout,
      reason: () => timeoutError({ kind, id, timeout }, job, redactor),
      longestStep: MAX_MACHINE_SLEEP_MS,
    });
    // Polls with request options cannot serve the waits without them.
    const table = Object.keys(request).length === 0 ? this.#table : this.#table.withRequest(request);
    let stopTimer: (() => void) | undefined;
    try {
      scope.signal.throwIfAborted();
      job = table.join(this.#source, id);
      const joined = job;
      const lead = Math.min(LAST_POLL_MS, timeout / 2);
      stopTimer = startTimer(
        timeout - lead,
        () => (joined.page ?? joined.own).request('refresh'),
        MAX_MACHINE_SLEEP_MS,
      );
      return await untilEnd(table, job, scope.signal, (update) => {
        report?.update(update);
        // A hook may have aborted the wait.
        scope.signal.throwIfAborted();
        onState(update);
      });
    } catch (error) {
      if (left?.aborted) report?.stop();
      else report?.fail(error, signal);
      throw error;
    } finally {
      stopTimer?.();
      if (job) table.leave(job);
      // Ends the polls that the wait has in flight.
      scope.abort();
      scope.dispose();
    }
  }
}

type Ended = Exclude<JobUpdate<unknown>['state'], 'running'>;

/** The loop of a wait: takes new states, sends due polls, and sleeps until either is possible again. */
async function untilEnd<T extends JobResource>(
  table: JobTable<T>,
  job: Job<T>,
  signal: AbortSignal,
  onState: (update: JobUpdate<T>) => void,
): Promise<JobUpdate<T> & { readonly state: Ended }> {
  let seen: JobUpdate<T> | undefined;
  // Waits that begin together are polled together.
  await undefined;
  for (;;) {
    signal.throwIfAborted();
    const { last, failure } = job;
    if (last && last !== seen) {
      seen = last;
      onState(last);
      const { state } = last;
      if (state !== 'running') return { ...last, state };
    } else if (failure) throw failure.error;
    else await job.sleep(table.pollDue(job, signal), signal);
  }
}
