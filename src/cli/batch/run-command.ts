import { existsSync } from 'node:fs';
import { appendFile, mkdir, mkdtemp, rm, rmdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { type Journal, openJournal } from '../../node/index.ts';
import { isObject } from '../../util/json.ts';
import { readData, readStdin, readText } from '../input/body-input.ts';
import { writable } from '../input/local-file.ts';
import { isStdin } from '../input/pipes.ts';
import { type Context, commandLine } from '../terminal/context.ts';
import { messageOf } from '../terminal/error-texts.ts';
import { EXIT, type ExitCode, usageError } from '../terminal/exit-codes.ts';
import { timeText } from '../terminal/wait-notices.ts';
import { runBatch } from './batch.ts';
import { correctJournal, printPlan, printStatus, readEntries } from './batch-journal.ts';
import { countOf, createBatchProgress } from './batch-progress.ts';
import { checkReport, conclude, FIELDS, type ReportFlags } from './batch-report.ts';
import { doneOf, partsOf, type RowGoal } from './batch-row.ts';
import { type BatchRow, parseRows } from './batch-rows.ts';
import { ACTIVATE, checkRows, warnOfUnknown } from './check-rows.ts';

interface RunFlags extends ReportFlags {
  readonly retryFailed?: boolean;
  readonly resolve?: readonly string[];
  readonly forget?: readonly string[];
  readonly status?: boolean;
  readonly dryRun?: boolean;
}

/** Default of `--timeout`: the maximum wait for each job. */
const DEFAULT_TIMEOUT_MS = 4 * 3_600_000;

/** Default of `--outage-wait`: the maximum wait for the end of an outage. */
const OUTAGE_WAIT_MS = 20 * 60_000;

/**
 * `run`: builds the audiences of a file. With `--activate` or `--download`, also activates them; with `--download`, saves
 * the result files. A repeated run continues the earlier run.
 */
export async function run(context: Context, flags: RunFlags, [file = '-']: readonly string[]): Promise<ExitCode> {
  const { output, signal } = context;
  const isStream = isStdin(file) || file.startsWith('/dev/fd/');
  if (isStream && flags.journal === undefined)
    throw usageError('Rows on standard input need a journal: pass --journal <file>.');
  if (flags.report !== undefined)
    checkReport(flags.report, !(flags.status || flags.dryRun || flags.resolve || flags.forget));
  const journalFile = flags.journal ?? `${file}.journal`;
  if (flags.resolve || flags.forget) return correctJournal(journalFile, flags, context);
  const goal = await goalOf(flags, context);
  const text = isStdin(file) ? await readStdin(context) : await readText(file, context).catch(nothingSent);
  const folder = isStream ? '.' : dirname(file);
  const rows = parseRows(text, folder, (message) => output.log('info', message));
  await output.checkFields(FIELDS, {});
  if (flags.status) return printStatus(rows, journalFile, goal, output);
  warnOfUnknown(rows, output);
  const client = await context.connect();
  const { endsWithCommand } = await context.account();
  // If the sandbox ends with the command, use a temporary journal: the next run uses another sandbox.
  const isTemporary = endsWithCommand && flags.journal === undefined;
  const temporary = isTemporary ? await mkdtemp(join(tmpdir(), 'aud-run-')) : undefined;
  try {
    const path = temporary === undefined ? journalFile : join(temporary, 'journal');
    const entries = await readEntries(path);
    const unsent = rows.filter(({ key, file }) => !entries.get(file === undefined ? key : partsOf(key).cohort)?.sent);
    // When continuing a run, refuse only invalid rows instead of the entire file, because dates may have left the
    // 45-day window.
    const isBegun = unsent.length < rows.length;
    const refused = await checkRows(client, isBegun && !flags.dryRun ? [] : unsent, goal.activate, output);
    if (refused.has(ACTIVATE) || (refused.size > 0 && !isBegun)) return EXIT.usage;
    if (flags.dryRun) {
      const existing = existsSync(path) ? await openJournal(path, client, { signal, isOffline: true }) : undefined;
      return await printPlan(rows, refused, existing, goal, output).finally(() => existing?.close());
    }
    const { download, report } = flags;
    if (download !== undefined) await writable(download, () => tryFolder(download)).catch(nothingSent);
    if (report !== undefined) await writable(report, () => appendFile(report, '')).catch(nothingSent);
    return await runRows(rows, path, { file: isStream ? '-' : file, goal, flags, context });
  } finally {
    if (temporary !== undefined) await rm(temporary, { recursive: true });
  }
}

async function runRows(
  rows: readonly BatchRow[],
  path: string,
  { file, goal, flags, context }: { file: string; goal: RowGoal; flags: RunFlags; context: Context },
): Promise<ExitCode> {
  const { output, signal } = context;
  const client = await context.connect();
  const journal = await openJournal(path, client, { signal }).catch(nothingSent);
  const { download } = flags;
  const earlier = rows.filter(({ key }) => doneOf(key, journal, goal)).map(({ key }) => key);
  if (download !== undefined) warnOfOthers(earlier, journal, download, context);
  const progress = await createBatchProgress(
    rows.map(({ key }) => key),
    new Set(earlier),
    output,
  );
  const views = await runBatch(rows, {
    client,
    journal,
    signal,
    ...goal,
    retryFailed: flags.retryFailed,
    timeout: flags.timeout ?? DEFAULT_TIMEOUT_MS,
    budgetWait: flags.budgetWait ?? Number.POSITIVE_INFINITY,
    outageWait: flags.outageWait ?? OUTAGE_WAIT_MS,
    onChange: (view) => progress.changed(view),
    onLimit({ code }, until, left) {
      const limit =
        code === 'build-budget-exhausted' ? 'The build budget is used up' : 'The service accepts no create requests';
      const creates = `${left} create ${left === 1 ? 'request is' : 'requests are'} left`;
      progress.announce(`${limit} until ${timeText(until)}`, ` (${creates}).`);
    },
    onOutage(error, until) {
      const notice = `Create requests fail. The command waits for the end of the outage until ${timeText(until)}`;
      progress.announce(notice, ` at the latest: ${messageOf(error, true)}`);
    },
  }).finally(async () => {
    progress.close();
    await journal.close();
  });
  return conclude(views, context, flags, file);
}

/**
 * Converts a file system error to a usage error (exit code 2), because nothing was sent and repeating the command does
 * not help.
 */
function nothingSent(error: unknown): never {
  const { code } = Object(error);
  if (code === 'input-unreadable' || code === 'output-unwritable') throw usageError(messageOf(error));
  if (code !== 'file-unwritable') throw error;
  throw usageError(`${messageOf(error)} To keep the journal in another folder, pass --journal <file>.`);
}

/** Warns about files that an earlier run has saved in another folder. This run does not save them again. */
function warnOfOthers(keys: readonly string[], journal: Journal, download: string, { output, flags }: Context): void {
  const others = keys.flatMap((key) => {
    const { files, activation } = journal.get(key)?.done ?? {};
    const [file] = [files].flat();
    if (typeof file !== 'string' || dirname(resolve(file)) === resolve(download, key)) return [];
    const to = join(download, key);
    return [
      { from: dirname(file), to, again: commandLine(flags, ['activations', 'download', String(activation), to]) },
    ];
  });
  const [first] = others;
  if (!first) return;
  const files = `An earlier run saved the files of ${countOf(others.length)} outside ${download}, for example in ${first.from}`;
  const advice = `To save those files in ${first.to}, run: ${first.again}`;
  output.log('warning', `${files}. This run does not save them again. ${advice}`);
}

async function goalOf({ activate, download }: RunFlags, context: Context): Promise<RowGoal> {
  if (activate === undefined) return { activate: download === undefined ? undefined : {}, download };
  const fields = await readData(activate, context, '--activate');
  if (!isObject(fields) || 'audience_id' in fields)
    throw usageError('--activate must be a JSON object without "audience_id", such as {"identifier":"EID"}.');
  return { activate: fields, download };
}

/** Creates a folder if necessary, and checks that the run can save files in it, before the run builds an audience. */
async function tryFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  await rmdir(await mkdtemp(join(folder, '.aud-')));
}
