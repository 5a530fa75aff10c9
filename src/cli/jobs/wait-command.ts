import type { WaitTarget } from '../../index.ts';
import { readStdin } from '../input/body-input.ts';
import { labelOf, parseTarget } from '../input/ids.ts';
import type { Context } from '../terminal/context.ts';
import { EXIT, type ExitCode, usageError } from '../terminal/exit-codes.ts';
import { recordOf } from './job-progress.ts';
import { concludeWaits, waitForJobs } from './job-waits.ts';

interface WaitFlags {
  readonly kind: string;
  readonly timeout?: number;
  readonly failFast?: boolean;
  readonly any?: boolean;
}

/** Fields of a job in a table. */
const COLUMNS: readonly string[] = ['kind', 'id', 'phase', 'status.id', 'status.name', 'name'];

/** Fields of a job. Nested fields depend on the job. */
const FIELDS = { kind: '', id: 0, phase: '', status: null, name: null, resource: null, error: null };

/** `wait`: waits for any number of jobs, and prints how each job ended. */
export async function wait(context: Context, flags: WaitFlags, args: readonly string[]): Promise<ExitCode> {
  const { output } = context;
  if (flags.any && flags.failFast) throw usageError('--any and --fail-fast cannot be combined.');
  const targets = await readTargets(args, flags.kind, context);
  if (targets.length === 0) {
    output.log('info', 'No jobs to wait for: standard input is empty.');
    return EXIT.done;
  }
  await output.checkFields(FIELDS, {});
  const client = await context.connect();
  const until = flags.any ? 'first-success' : flags.failFast ? 'first-failure' : 'all';
  const options = { timeout: flags.timeout, until, printsChanges: true } as const;
  const views = await waitForJobs(client, targets, context, options);
  if (!output.isJson)
    await output.list(
      views.map((view) => recordOf(view, output)),
      COLUMNS,
      { isDone: true },
    );
  return concludeWaits(views, context, options);
}

/**
 * Returns the jobs of the arguments without duplicates. Without arguments, or for `-`, reads the jobs from standard
 * input.
 */
async function readTargets(args: readonly string[], kind: string, context: Context): Promise<WaitTarget[]> {
  const isPiped = args.length === 0 || args.includes('-');
  const piped = isPiped ? (await readStdin(context)).split(/[\s,]+/).filter((text) => text !== '') : [];
  const texts = [...args.filter((text) => text !== '-'), ...piped];
  if (texts.length === 0 && context.stdin().isTTY)
    throw usageError('Pass the jobs to wait for, such as audience:12 cohort:7, as arguments or on standard input.');
  const targets = texts.map((text) => parseTarget(text, kind));
  return [...new Map(targets.map((target) => [labelOf(target), target])).values()];
}
