import type { AudienceClient, WaitTarget } from '../index.ts';
import { JobError, WaitTimeoutError } from '../index.ts';
import { progressOf } from '../spec/job-status.ts';
import { type Context, commandLine } from './context.ts';
import { EXIT, type ExitCode, exitCodeOf, interruption, withResume } from './exit-codes.ts';
import { labelOf } from './ids.ts';
import { createJobProgress, type JobView } from './job-progress.ts';
import { reportError } from './report-error.ts';

/** Options of {@link waitForJobs}. */
export interface JobWaitOptions {
  /** Milliseconds for each job. @default an hour */
  readonly timeout?: number | undefined;
  /** When to stop: at the end of all jobs, at the first that does not complete, or at the first that does. */
  readonly until: 'all' | 'first-failure' | 'first-success';
  /** Prints changes as data with `--json`. */
  readonly printsChanges: boolean;
}

/**
 * Waits for jobs, and shows how they proceed. Never rejects because of a job: each view says how its wait has ended; the
 * phase of those that still run when the waiting stops is `pending` or `running`.
 */
export async function waitForJobs(
  client: AudienceClient,
  targets: readonly WaitTarget[],
  { output, signal }: Pick<Context, 'output' | 'signal'>,
  { timeout, until, printsChanges }: JobWaitOptions,
): Promise<readonly JobView[]> {
  const views = targets.map((target): JobView => ({ target, phase: 'pending' }));
  const progress = await createJobProgress(views, output, printsChanges);
  const stop = new AbortController();
  const stopped = AbortSignal.any([signal, stop.signal]);
  const waitFor = async (view: JobView): Promise<void> => {
    try {
      view.resource = await client.waits.wait(view.target, {
        timeout,
        signal: stopped,
        onUpdate(resource) {
          const isNew = view.resource?.status.id !== resource.status.id;
          view.resource = resource;
          view.phase = progressOf(view.target.kind, resource);
          if (isNew && view.phase === 'running') progress.changed(view);
        },
      });
      view.phase = 'completed';
    } catch (error) {
      if (stopped.aborted && error === stopped.reason) return;
      endWith(view, error);
    }
    progress.changed(view);
    if (until === (view.phase === 'completed' ? 'first-success' : 'first-failure')) stop.abort();
  };
  try {
    await Promise.all(views.map(waitFor));
  } finally {
    progress.close();
  }
  return views;
}

function endWith(view: JobView, error: unknown): void {
  view.error = error;
  if (JobError.isInstance(error)) {
    view.resource = error.resource;
    view.phase = progressOf(error.kind, error.resource);
  } else {
    view.phase = WaitTimeoutError.isInstance(error) ? 'timed-out' : 'error';
  }
}

/** Exit codes of waits, the most important first: that of several jobs is the first that one of them has. */
const PRECEDENCE: readonly ExitCode[] = [
  EXIT.authentication,
  EXIT.refused,
  EXIT.limited,
  EXIT.usage,
  EXIT.unexpected,
  EXIT.jobFailed,
  EXIT.jobNeedsInfo,
  EXIT.jobCancelled,
  EXIT.waitTimedOut,
];

/**
 * Reports the jobs that have not completed, with the command that waits for those that still run. Returns the exit code.
 *
 * @throws {CommandError} if the wait was interrupted, or the deadline of the command has passed.
 */
export function concludeWaits(
  views: readonly JobView[],
  { output, flags, signal }: Pick<Context, 'output' | 'flags' | 'signal'>,
  { timeout, until }: Pick<JobWaitOptions, 'timeout' | 'until'>,
): ExitCode {
  const running = views.filter(({ phase }) => phase === 'pending' || phase === 'running' || phase === 'timed-out');
  const resume = commandLine(flags, [
    'wait',
    ...running.map(({ target }) => labelOf(target)),
    ...(until === 'first-success' ? ['--any'] : until === 'first-failure' ? ['--fail-fast'] : []),
    // After a timeout, the same one would be too short again.
    ...(timeout === undefined || !signal.aborted ? [] : ['--timeout', `${timeout / 1_000}s`]),
  ]);
  for (const { error, phase } of views) {
    if (error !== undefined) reportError(phase === 'timed-out' ? withResume(error, resume) : error, output);
  }
  if (signal.aborted && running.length > 0) throw interruption(signal, { late: EXIT.waitTimedOut, resume });
  if (running.some(({ phase }) => phase !== 'timed-out')) output.note(`Others still run. To continue: ${resume}`);
  if (until === 'first-success' && views.some(({ phase }) => phase === 'completed')) return EXIT.done;
  const codes = views.flatMap(({ error }) => (error === undefined ? [] : [exitCodeOf(error)]));
  if (codes.length === 0) return EXIT.done;
  return PRECEDENCE.find((code) => codes.includes(code)) ?? EXIT.unexpected;
}
