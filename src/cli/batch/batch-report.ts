import { statSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { JobError } from '../../index.ts';
import { writable } from '../input/local-file.ts';
import { type Context, commandLine } from '../terminal/context.ts';
import { EXIT, type ExitCode, exitCodeOf, interruption, usageError, worstOf } from '../terminal/exit-codes.ts';
import type { Output } from '../terminal/output.ts';
import { errorTexts, reportError } from '../terminal/report-error.ts';
import { countOf, now, recordOf } from './batch-progress.ts';
import { ENDS, type RowView } from './batch-row.ts';

/** Flags of `run` that the command to continue the run repeats. */
const REPEATED = {
  journal: '',
  download: '',
  activate: '',
  budgetWait: 0,
  outageWait: 0,
  timeout: 0,
  failOnBlocked: false,
  report: '',
};

export type ReportFlags = Readonly<Partial<typeof REPEATED>>;

/** All fields of a row, with example values. */
export const FIELDS = {
  key: '',
  state: '',
  cohort: null,
  audience: null,
  activation: null,
  files: null,
  reason: null,
  error: null,
  plan: '',
  at: '',
};

/** Exit codes of rows that another run may complete. */
const REPEATABLE: readonly ExitCode[] = [EXIT.outcomeUnknown, EXIT.limited, EXIT.unexpected, EXIT.waitTimedOut];

/** Columns of the printed table of rows. */
const COLUMNS = ['key', 'state', 'audience', 'activation', 'reason'] as const;

const tableRow = (view: RowView) => ({
  ...view,
  reason: view.reason ?? (view.error === undefined ? undefined : String(Object(view.error).code)),
});

/**
 * Checks the name of a report.
 *
 * @param isRun False for a command that only reads or corrects the journal.
 * @throws {CommandError} for a path that does not end with `.csv` or `.json`, or that is a pipe, a device or a folder.
 */
export function checkReport(path: string, isRun: boolean): void {
  if (!isRun) throw usageError('--report cannot be combined with --status, --dry-run, --resolve or --forget.');
  if (!/^\.(?:csv|json)$/.test(extname(path))) throw usageError(`--report must end with .csv or .json, not "${path}".`);
  if (statSync(path, { throwIfNoEntry: false })?.isFile() === false)
    throw usageError(`--report must name a regular file, not ${path}.`);
}

/**
 * Prints the results of the rows, writes the report, and prints the command to continue the run. Returns the exit code.
 */
export async function conclude(
  views: readonly RowView[],
  context: Context,
  flags: ReportFlags,
  file: string,
): Promise<ExitCode> {
  const { output } = context;
  if (!output.isJson) await output.list(views.map(tableRow), COLUMNS, { isDone: true });
  for (const { key, error } of views) if (error !== undefined) reportError(error, output, key, true);
  const counts = ENDS.map((end) => [views.filter(({ state }) => state === end).length, end] as const);
  const parts = counts.filter(([count]) => count > 0).map((part) => part.join(' '));
  output.log('info', `${output.isJson ? '' : `${now()} `}${countOf(views.length)}: ${parts.join(', ')}.`);
  const code = exitCodeOfRows(views.map((view) => codeOf(view, flags)));
  const isComplete = !views.some(({ state }) => state === 'unfinished' || state === 'unknown');
  // Do not print the command if the journal is lost: without the journal, it would create everything again.
  const isOver = isComplete || code === EXIT.journalTaken;
  const ended = isOver ? code : await sayHowToContinue(code, context, flags, file);
  try {
    if (flags.report !== undefined) await writeReport(flags.report, views, output);
    return ended;
  } catch (error) {
    return worstOf([ended, reportError(error, output)]);
  }
}

/** Prints the command to continue the run. Returns the exit code. */
async function sayHowToContinue(
  code: ExitCode,
  { output, signal, flags: globals, account }: Context,
  flags: ReportFlags,
  file: string,
): Promise<ExitCode> {
  if (file === '-') output.log('info', 'To continue, pass the same rows on standard input.');
  const { endsWithCommand } = await account();
  const words = Object.keys(REPEATED).flatMap((name) => wordsOf(name, flags[name as keyof ReportFlags]));
  const command = commandLine(globals, ['run', file, ...words]);
  const resume = endsWithCommand ? undefined : command;
  if (signal.aborted) {
    const late = EXIT.waitTimedOut;
    const ended = reportError(interruption(signal, { late, closed: late, resume }), output);
    // With the exit code of SIGINT or SIGTERM, the process ends by this signal, which also ends a loop in a shell.
    return ended === late ? code : ended;
  }
  if (resume) output.log('info', `Continue with: ${resume}`);
  return code;
}

/** Returns a flag as words of a command line. */
function wordsOf(name: string, value: string | number | boolean | undefined): string[] {
  if (value === undefined || value === false) return [];
  const flag = `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
  if (value === true) return [flag];
  return [flag, typeof value === 'number' ? `${value / 1_000}s` : value];
}

/**
 * Returns the exit code of a run. While a repeated run may complete a row, the exit code tells a script to repeat the
 * run.
 */
function exitCodeOfRows(codes: readonly ExitCode[]): ExitCode {
  const worst = worstOf(codes);
  const isStopped = worst === EXIT.journalTaken || worst === EXIT.authentication;
  const repeatable = worstOf(codes.filter((code) => REPEATABLE.includes(code)));
  return isStopped || repeatable === EXIT.done ? worst : repeatable;
}

/** Returns the exit code of a row. A blocked row is not a failure, unless `--fail-on-blocked` is set. */
function codeOf({ state, error }: RowView, { failOnBlocked }: ReportFlags): ExitCode {
  if (state === 'unknown' && Object(error).outcome !== 'unknown') return EXIT.outcomeUnknown;
  if (state === 'refused') return EXIT.refused;
  if (state === 'blocked') return failOnBlocked ? EXIT.refused : EXIT.done;
  // The cohort, the audience or the activation of the row was deleted.
  if (state === 'failed' && !JobError.isInstance(error)) return EXIT.jobFailed;
  // The next run reads the activation again and receives new links.
  if (Object(error).operation === 'activations.download') return EXIT.unexpected;
  if (error !== undefined) return exitCodeOf(error);
  return state === 'unfinished' ? EXIT.waitTimedOut : EXIT.done;
}

/** Writes the results of the rows as CSV or JSON, depending on the extension of the file. */
async function writeReport(path: string, views: readonly RowView[], output: Output): Promise<void> {
  const records = views.map((view) => recordOf(view, output));
  const text = extname(path) === '.csv' ? csvOf(views, output) : `${JSON.stringify(records, null, 2)}\n`;
  await writable(path, () => writeFile(path, text));
}

function csvOf(views: readonly RowView[], output: Output): string {
  const columns = [...COLUMNS, 'files', 'error'] as const;
  const cell = (value: unknown): string => {
    const text = value === undefined ? '' : [value].flat().join(' ');
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const records = views.map((view) => {
    const error = view.error === undefined ? undefined : errorTexts(view.error, output, true);
    const row = { ...tableRow(view), error };
    return columns.map((name) => cell(row[name])).join(',');
  });
  return `${[columns.join(','), ...records].join('\n')}\n`;
}
