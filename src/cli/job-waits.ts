import type { AudienceClient, WaitTarget } from '../index.ts';
import { JobError, WaitTimeoutError } from '../index.ts';
import { CommandError, EXIT, type ExitCode, exitCodeOf, usageError } from './exit-codes.ts';
import { createJobProgress, type JobView, labelOf, phaseOf } from './job-progress.ts';
import type { Output } from './output.ts';
import { reportError } from './report-error.ts';
import { JOB_KINDS } from './resource-table.ts';

/** Options of {@link waitForJobs}. */
export interface JobWaitOptions {
  /** Milliseconds for each job. @default an hour */
  readonly timeout?: number | undefined;
  /** When to stop: at the end of all jobs, at the first that does not complete, or at the first that does. */
  readonly until: 'all' | 'first-failure' | 'first-success';
  readonly signal: AbortSignal;
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
  output: Output,
  { timeout, until, signal, printsChanges }: JobWaitOptions,
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
          view.phase = phaseOf(view.target.kind, resource);
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
    view.phase = phaseOf(error.kind, error.resource);
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
 * Reports the jobs that have not completed, and the command that waits for those that still run. Returns the exit code.
 *
 * @throws {CommandError} if the wait was interrupted.
 */
export function concludeWaits(
  views: readonly JobView[],
  output: Output,
  { timeout, until, signal }: Pick<JobWaitOptions, 'timeout' | 'until' | 'signal'>,
): ExitCode {
  for (const { error } of views) if (error !== undefined) reportError(error, output);
  const running = views.filter(({ phase }) => phase === 'pending' || phase === 'running' || phase === 'timed-out');
  const limit = timeout === undefined ? '' : ` --timeout ${timeout / 1_000}s`;
  const resume = `audience-activation wait ${running.map(({ target }) => labelOf(target)).join(' ')}${limit}`;
  if (signal.aborted) throw new CommandError('Interrupted.', { exitCode: EXIT.interrupted, resume });
  if (running.length > 0) output.note(`Still running. To wait again: ${resume}`);
  if (until === 'first-success' && views.some(({ phase }) => phase === 'completed')) return EXIT.done;
  const codes = new Set(views.flatMap(({ error }) => (error === undefined ? [] : [exitCodeOf(error)])));
  return PRECEDENCE.find((code) => codes.has(code)) ?? EXIT.done;
}

/**
 * Parses a job such as `audience:12`; `12` alone is of the kind `fallback`.
 *
 * @throws {CommandError} for anything else.
 */
export function parseTarget(text: string, fallback: string): WaitTarget {
  const [, named = fallback, id] = /^(?:([a-z]+):)?(\d+)$/.exec(text) ?? [];
  const kind = JOB_KINDS.find((one) => one === named);
  if (id === undefined || !kind || !Number.isSafeInteger(Number(id)))
    throw usageError(
      `A job must be an id, or a kind and an id such as audience:12, not "${text}". Kinds: ${JOB_KINDS.join(', ')}.`,
    );
  return { kind, id: Number(id) };
}
