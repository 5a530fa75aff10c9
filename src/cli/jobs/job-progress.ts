import type { JobResource, JobState, WaitTarget } from '../../index.ts';
import { labelOf } from '../input/ids.ts';
import type { Output } from '../terminal/output.ts';
import { createRedrawnBlock } from '../terminal/redrawn-block.ts';
import { errorRecord } from '../terminal/report-error.ts';
import { isLive, printable, type Style } from '../terminal/terminal.ts';

/** State of a wait for a job: the state of the job, or the reason why the wait ended. */
type JobPhase = JobState | 'pending' | 'timed-out' | 'error';

/** A wait for a job, with the last known state of the job. */
export interface JobView {
  readonly target: WaitTarget;
  phase: JobPhase;
  resource?: JobResource;
  /** Error with which the wait ended, if the job has not completed. */
  error?: unknown;
}

export interface JobProgress {
  /** Called when the status of a job has changed, or the wait for the job has ended. */
  changed(view: JobView): void;
  close(): void;
}

/**
 * Creates the progress display of an output. In a terminal, redraws a line for each job. Elsewhere, prints a line for
 * each change. With `--json`, prints changes as data, but only if `printsChanges` is true.
 */
export async function createJobProgress(
  views: readonly JobView[],
  output: Output,
  printsChanges: boolean,
): Promise<JobProgress> {
  if (output.isJson)
    return { changed: (view) => printsChanges && void output.json(recordOf(view, output)), close() {} };
  if (output.isQuiet || !isLive(output.stderr)) return { changed: (view) => output.note(plainLine(view)), close() {} };
  return redrawnLines(views, output);
}

/** Returns the printable form of a job, including the resource after the wait ends. */
export function recordOf({ target, phase, resource, error }: JobView, output: Output): object {
  const hasEnded = phase !== 'pending' && phase !== 'running';
  const { name, description }: { readonly name?: unknown; readonly description?: unknown } = Object(resource);
  return {
    ...target,
    phase,
    status: resource?.status ?? null,
    name: name ?? description ?? null,
    ...(hasEnded && { resource: resource ?? null }),
    ...(error !== undefined && { error: errorRecord(error, output) }),
  };
}

function stateOf({ phase, resource, error }: JobView): string {
  if (phase === 'error') return String(errorRecord(error).code);
  const status = resource ? printable(`${resource.status.id} ${resource.status.name}`.trim()) : 'waiting';
  if (phase === 'timed-out') return resource ? `timed out at ${status}` : 'timed out before its status was read';
  return status;
}

const plainLine = (view: JobView): string => `${labelOf(view.target)}: ${stateOf(view)}`;

const STYLES: Readonly<Record<JobPhase, Style>> = {
  pending: 'dim',
  running: 'bold',
  completed: 'green',
  'needs-info': 'yellow',
  failed: 'red',
  cancelled: 'yellow',
  'timed-out': 'yellow',
  error: 'red',
};

/** Redraws one line per job. If the terminal has too few lines, shows unfinished jobs first. */
async function redrawnLines(views: readonly JobView[], output: Output): Promise<JobProgress> {
  const { stderr } = output;
  const width = Math.max(...views.map(({ target }) => labelOf(target).length));
  const isRunning = ({ phase }: JobView): boolean => phase === 'pending' || phase === 'running';
  const block = await createRedrawnBlock(output, ({ cut, maximum, elapsed }) => {
    const running = views.filter(isRunning);
    const visible =
      views.length <= maximum ? views : [...running, ...views.filter((view) => !isRunning(view))].slice(0, maximum);
    const lines = visible.map((view) => {
      const line = cut(`${labelOf(view.target).padEnd(width)}  ${stateOf(view)}`);
      return output.paint(STYLES[view.phase], line, stderr);
    });
    const total = `${views.length - running.length} of ${views.length} ended, ${elapsed}`;
    return [...lines, output.paint('dim', total, stderr)];
  });
  return { changed: () => block.redraw(), close: () => block.close() };
}
