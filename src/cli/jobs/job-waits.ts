import { DEFAULTS } from '../../client/index.ts';
import type { AudienceClient, JobResource, WaitTarget } from '../../index.ts';
import { AuthenticationError, JobError, WaitTimeoutError } from '../../index.ts';
import { labelOf } from '../input/ids.ts';
import { NAME } from '../terminal/command-name.ts';
import { type Context, commandLine } from '../terminal/context.ts';
import {
  CommandError,
  EXIT,
  type ExitCode,
  exitCodeOf,
  interruption,
  withResume,
  worstOf,
} from '../terminal/exit-codes.ts';
import type { Output } from '../terminal/output.ts';
import { reportError } from '../terminal/report-error.ts';
import { ANNOUNCED_WAIT_MS, timeText } from '../terminal/wait-notices.ts';
import { createJobProgress, type JobView } from './job-progress.ts';

/** Timeout of a wait for a job if `timeout` is not set, in milliseconds. */
const DEFAULT_TIMEOUT_MS = 3_600_000;

/** Options of {@link waitForJobs}. */
export interface JobWaitOptions {
  /** Maximum wait for each job in milliseconds. 0 reads each job once. @default an hour */
  readonly timeout?: number | undefined;
  /** When to stop: when all jobs have ended, when the first job fails, or when the first job completes. */
  readonly until: 'all' | 'first-failure' | 'first-success';
  /** Prints changes as data with `--json`. */
  readonly printsChanges: boolean;
}

/**
 * Waits for jobs, and shows their progress. Never rejects because of a job: each view says how its wait ended. If the
 * command stopped waiting before a job's end or timeout, the phase stays `pending` or `running`.
 */
export async function waitForJobs(
  client: AudienceClient,
  targets: readonly WaitTarget[],
  { output, signal, flags }: Pick<Context, 'output' | 'signal' | 'flags'>,
  { timeout, until, printsChanges }: JobWaitOptions,
): Promise<readonly JobView[]> {
  const views = targets.map((target): JobView => ({ target, phase: 'pending' }));
  const progress = await createJobProgress(views, output, printsChanges);
  const stop = new AbortController();
  const stopped = AbortSignal.any([signal, stop.signal]);
  /** An error that concerns all jobs. Only one view contains it, so that the command reports it once. */
  let failure: unknown;
  const failAll = (error: unknown): void => {
    failure ??= error;
    stop.abort(failure);
  };
  const isRead = timeout === 0;
  const timeLimit = isRead ? READ_TIMEOUT_MS.all + READ_TIMEOUT_MS.each * targets.length : timeout;
  if (isRead) output.onPollFailed = afterRetries(flags.maxRetries, failAll);
  const stopTimer = announceUnread(views, output, timeLimit);
  const waitFor = async (view: JobView): Promise<void> => {
    const read = new AbortController();
    try {
      view.resource = await client.waits.wait(view.target, {
        timeout: timeLimit,
        signal: isRead ? AbortSignal.any([stopped, read.signal]) : stopped,
        onUpdate(resource) {
          const isNew = view.resource?.status.id !== resource.status.id;
          view.resource = resource;
          view.phase = client.jobState(view.target.kind, resource);
          if (isRead && view.phase === 'running') read.abort(stillRunning(view.target, resource));
          else if (isNew && view.phase === 'running') progress.changed(view);
        },
      });
      view.phase = 'completed';
    } catch (thrown) {
      const concernsAll = AuthenticationError.isInstance(thrown);
      if (concernsAll) failAll(thrown);
      const error = concernsAll ? failure : thrown;
      const isReported = error !== failure || views.some((view) => view.error === failure);
      if (stopped.aborted && error === stopped.reason && isReported) return;
      endWith(view, error, client);
    }
    progress.changed(view);
    if (until === (view.phase === 'completed' ? 'first-success' : 'first-failure')) stop.abort();
  };
  try {
    await Promise.all(views.map(waitFor));
  } finally {
    output.onPollFailed = undefined;
    stopTimer();
    progress.close();
  }
  return views;
}

/** Returns a function that passes on a poll's error after `maxRetries` earlier errors. */
function afterRetries(
  maxRetries: number = DEFAULTS.maxRetries,
  fail: (error: unknown) => void,
): (error: unknown) => void {
  let failures = 0;
  return (error) => {
    if (failures++ >= maxRetries) fail(error);
  };
}

/** Milliseconds for reading each job once: the timeout of an attempt, and one second per job. */
const READ_TIMEOUT_MS = { all: DEFAULTS.timeout, each: 1_000 } as const;

/** Returns the error of a job that is still running after its only read. */
const stillRunning = ({ kind, id }: WaitTarget, resource: JobResource): WaitTimeoutError =>
  new WaitTimeoutError(`The job of ${kind} ${id} has not ended.`, { kind, id, resource });

/**
 * After a few seconds, announces which jobs have not been read, and until when the command waits. Returns a function
 * that prevents the announcement.
 */
function announceUnread(views: readonly JobView[], output: Output, timeout = DEFAULT_TIMEOUT_MS): () => void {
  const until = Date.now() + timeout;
  const timer = setTimeout(() => {
    const unread = views.filter(({ phase, resource }) => phase === 'pending' && !resource);
    if (unread.length === 0) return;
    const jobs = views.length === 1 ? 'the job' : `${unread.length} of ${views.length} jobs`;
    output.log('info', `The status of ${jobs} is not known yet. The command waits until ${timeText(until)}.`);
  }, ANNOUNCED_WAIT_MS);
  return () => clearTimeout(timer);
}

function endWith(view: JobView, error: unknown, client: AudienceClient): void {
  view.error = error;
  if (JobError.isInstance(error)) {
    view.resource = error.resource;
    view.phase = client.jobState(error.kind, error.resource);
  } else {
    view.phase = WaitTimeoutError.isInstance(error) ? 'timed-out' : 'error';
  }
}

/**
 * Reports the jobs that have not completed, with the command that waits for the running jobs. Returns the exit code.
 *
 * @throws {CommandError} if Ctrl-C or the deadline interrupted the wait.
 */
export async function concludeWaits(
  views: readonly JobView[],
  { output, flags, signal, account }: Pick<Context, 'output' | 'flags' | 'signal' | 'account'>,
  { timeout, until }: Pick<JobWaitOptions, 'timeout' | 'until'>,
): Promise<ExitCode> {
  const { endsWithCommand } = await account();
  const isDone = until === 'first-success' && views.some(({ phase }) => phase === 'completed');
  const unfinished = views.filter(({ phase }) => phase === 'pending' || phase === 'running' || phase === 'timed-out');
  const isContinued = unfinished.some(({ phase }) => phase !== 'timed-out');
  const command = commandLine(flags, [
    'wait',
    ...unfinished.map(({ target }) => labelOf(target)),
    ...(until === 'first-success' ? ['--any'] : until === 'first-failure' ? ['--fail-fast'] : []),
    // After a timeout, omit `--timeout`, because it would be too short again.
    ...(timeout === undefined || !signal.aborted ? [] : ['--timeout', `${timeout / 1_000}s`]),
  ]);
  const resume = endsWithCommand ? undefined : command;
  const advice = endsWithCommand ? TEMPORARY : undefined;
  for (const { error, phase } of views) if (error !== undefined && phase !== 'timed-out') reportError(error, output);
  // With --any, do not report timeouts once a job has completed.
  const timeouts = isDone ? [] : endsWithCommand ? temporaryErrors(views) : timeoutErrors(views, output.isJson);
  for (const [index, error] of timeouts.entries()) {
    // The command names every job, so print it only once.
    const isLast = index === timeouts.length - 1 && !signal.aborted && !isContinued;
    reportError(isLast && resume ? withResume(error, resume) : error, output);
  }
  if (signal.aborted && unfinished.length > 0)
    throw interruption(signal, { late: EXIT.waitTimedOut, resume, ...(advice && { advice }) });
  if (isContinued && resume) output.note(`The command stopped waiting for the other jobs. To continue: ${resume}`);
  if (isDone) return EXIT.done;
  return worstOf(views.flatMap(({ error }) => (error === undefined ? [] : [exitCodeOf(error)])));
}

/** Advice about jobs in a sandbox that the command has started. */
const TEMPORARY = `The sandbox and its jobs end with this command. To keep a sandbox running, start \`${NAME} sandbox\`.`;

const stoppedWaiting = (count: number, { length }: readonly JobView[]): string =>
  `The command stopped waiting for ${count} of ${length} jobs (--timeout).`;

/** Returns the error for jobs that timed out in a sandbox that ends with the command. */
function temporaryErrors(views: readonly JobView[]): readonly unknown[] {
  const { length } = views.filter(({ phase }) => phase === 'timed-out');
  if (length === 0) return [];
  return [new CommandError(`${stoppedWaiting(length, views)} ${TEMPORARY}`, { code: 'waits-timed-out' })];
}

/**
 * Returns the errors of the jobs that timed out. Without `--json`, returns a single error, because the progress shows
 * each job.
 */
function timeoutErrors(views: readonly JobView[], isJson: boolean): readonly unknown[] {
  const timedOut = views.filter(({ phase }) => phase === 'timed-out');
  if (isJson || timedOut.length < 2) return timedOut.map(({ error }) => error);
  const unread = timedOut.filter(({ resource }) => !resource).length;
  const advice =
    unread === 0
      ? 'The jobs keep running.'
      : `The status of ${unread} ${unread === 1 ? 'job' : 'jobs'} was not read${unread < timedOut.length ? '; the other jobs keep running' : ''}.`;
  return [new CommandError(`${stoppedWaiting(timedOut.length, views)} ${advice}`, { code: 'waits-timed-out' })];
}
