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

export const DEFAULT_WAIT_TIMEOUT_MS = 3_600_000;
/** Milliseconds before the timeout of a wait at which the wait polls a last time. */
const LAST_POLL_MS = 2_000;

/** Returns whether two states differ in the status or `updated_at`. */
const hasChanged = (resource: JobResource, earlier: JobResource | undefined): boolean =>
  !earlier || resource.status.id !== earlier.status.id || isOlder(earlier, resource);

/** Waits for jobs of one kind, or watches them. */
export class Poller<T extends JobResource> {
  readonly #state: ClientState;
  readonly #source: JobSource<T>;
  readonly #table: JobTable<T>;

  /** @param table Jobs of this kind. Kinds in the same list share the table. */
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

  /** Returns an iterable of the job's status changes. Each `for await` loop watches the job separately. */
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
   * Passes the states of a job to `onState`, in the async context of the caller, until the job ends. Resolves with the
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
    // Waits without request options must not share polls with a wait that has request options.
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
        // Check the signal again: a hook may have aborted the wait.
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
      // Abort the wait's polls in flight.
      scope.abort();
      scope.dispose();
    }
  }
}

type Ended = Exclude<JobUpdate<unknown>['state'], 'running'>;

/** Loop of a wait: reports new states, sends due polls, and sleeps until a state arrives or a poll is due. */
async function untilEnd<T extends JobResource>(
  table: JobTable<T>,
  job: Job<T>,
  signal: AbortSignal,
  onState: (update: JobUpdate<T>) => void,
): Promise<JobUpdate<T> & { readonly state: Ended }> {
  let seen: JobUpdate<T> | undefined;
  // Waits that start in the same tick share their polls.
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
