import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, rmdir, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { type AudienceClient, JobError, type JsonObject } from '../../index.ts';
import { type Journal, openJournal, readJournal } from '../../node/index.ts';
import { timeToRepeat } from '../../spec/limits.ts';
import { isObject } from '../../util/json.ts';
import { readData, readStdin, readText } from '../input/body-input.ts';
import { rowOf } from '../input/resource-table.ts';
import { type Context, commandLine } from '../terminal/context.ts';
import { messageOf } from '../terminal/error-texts.ts';
import {
  CommandError,
  EXIT,
  type ExitCode,
  exitCodeOf,
  interruption,
  usageError,
  worstOf,
} from '../terminal/exit-codes.ts';
import type { Output } from '../terminal/output.ts';
import { reportError } from '../terminal/report-error.ts';
import { timeText } from '../terminal/wait-notices.ts';
import { activationKey, cohortKey, type RowState, type RowView, runBatch } from './batch.ts';
import { correctJournal, printStatus } from './batch-journal.ts';
import { countOf, createBatchProgress, now } from './batch-progress.ts';
import { COLUMNS, checkReport, tableRow, writeReport } from './batch-report.ts';
import { type BatchRow, parseRows } from './batch-rows.ts';

interface RunFlags {
  readonly journal?: string;
  readonly download?: string;
  readonly activate?: string;
  readonly retryFailed?: boolean;
  readonly budgetWait?: number;
  readonly outageWait?: number;
  readonly timeout?: number;
  readonly failOnBlocked?: boolean;
  readonly report?: string;
  readonly resolve?: readonly string[];
  readonly forget?: readonly string[];
  readonly status?: boolean;
  readonly dryRun?: boolean;
}

/** The fields of a row. */
const FIELDS = {
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

/** Time for each job without --timeout. */
const DEFAULT_TIMEOUT_MS = 4 * 3_600_000;

/** Time to wait for the end of an outage without --outage-wait. */
const OUTAGE_WAIT_MS = 20 * 60_000;

/** Flags of the command that continues. */
const REPEATED = [
  'journal',
  'download',
  'activate',
  'budgetWait',
  'outageWait',
  'timeout',
  'failOnBlocked',
  'report',
] as const;

/** States in the order of the summary. */
const ENDS: readonly RowState[] = ['done', 'blocked', 'failed', 'refused', 'unfinished', 'unknown'];

/** `run`: builds the audiences of a file, activates them and saves their files, each once, however often it is run. */
export async function run(context: Context, flags: RunFlags, [file = '-']: readonly string[]): Promise<ExitCode> {
  const { output, signal } = context;
  const isStream = file === '-' || /^\/dev\/(?:stdin$|fd\/)/.test(file);
  if (isStream && flags.journal === undefined)
    throw usageError('Rows on standard input need a journal: name it with --journal <file>.');
  if (flags.report !== undefined) checkReport(flags.report);
  const journalFile = flags.journal ?? `${file}.journal`;
  if (flags.resolve || flags.forget) return correctJournal(journalFile, flags, context);
  const activate = await activationOf(flags, context);
  const text = file === '-' ? await readStdin(context) : await readText(file);
  const folder = isStream ? '.' : dirname(file);
  const rows = parseRows(text, (message) => output.log('info', message)).map((row) =>
    row.file === undefined ? row : { ...row, file: resolve(folder, row.file) },
  );
  await output.checkFields(FIELDS, {});
  if (flags.status) return printStatus(rows, journalFile, output);
  warnOfUnknown(rows, output);
  const client = await context.connect();
  const { endsWithCommand } = await context.account();
  // A journal of a sandbox that ends with the command would hide the next sandbox from the next run.
  const isTemporary = endsWithCommand && flags.journal === undefined;
  const temporary = isTemporary ? await mkdtemp(join(tmpdir(), 'aud-run-')) : undefined;
  const path = temporary === undefined ? journalFile : join(temporary, 'journal');
  // Resources of an earlier run are not checked against today's date windows.
  const isKept = existsSync(path);
  const kept = isKept ? await readJournal(path) : undefined;
  const created = rows.filter(
    ({ key, file: list }) => kept?.get(list === undefined ? key : cohortKey(key))?.sent === undefined,
  );
  const refused = await checkBodies(client, created, activate, output);
  if (refused !== EXIT.done) return refused;
  if (flags.dryRun) {
    const existing = isKept ? await openJournal(path, client, { signal, isOffline: true }) : undefined;
    return printPlan(rows, existing, activate, output).finally(() => existing?.close());
  }
  if (flags.download !== undefined) await tryFolder(flags.download);
  const journal = await openJournal(path, client, { signal });
  const earlier = new Set(rows.flatMap(({ key }) => (journal.get(key)?.done ? [key] : [])));
  const progress = await createBatchProgress(
    rows.map(({ key }) => key),
    earlier,
    output,
  );
  const views = await runBatch(rows, {
    client,
    journal,
    signal,
    activate,
    folderOf: flags.download === undefined ? undefined : (key) => join(flags.download ?? '', key),
    retryFailed: flags.retryFailed,
    timeout: flags.timeout ?? DEFAULT_TIMEOUT_MS,
    budgetWait: flags.budgetWait ?? Number.POSITIVE_INFINITY,
    outageWait: flags.outageWait ?? OUTAGE_WAIT_MS,
    onChange: (view) => progress.changed(view),
    onLimit({ code }, until, left) {
      const limit =
        code === 'build-budget-exhausted' ? 'The build budget is used up' : 'The service accepts no creates';
      progress.announce(
        `${limit} until ${timeText(until)}`,
        ` (${left} create ${left === 1 ? 'request is' : 'requests are'} left).`,
      );
    },
    onOutage(error, until) {
      const notice = 'Three creates have failed, one after another. Waiting for the end of the outage';
      progress.announce(`${notice} until ${timeText(until)}`, ` at the latest: ${messageOf(error)}`);
    },
  }).finally(async () => {
    progress.close();
    await journal.close();
    if (temporary !== undefined) await rm(temporary, { recursive: true });
  });
  if (!output.isJson) await output.list(views.map(tableRow), COLUMNS, { isDone: true });
  const code = await conclude(views, context, flags, file);
  try {
    if (flags.report !== undefined) await writeReport(flags.report, views, output);
    return code;
  } catch (error) {
    return worstOf([code, reportError(error, output)]);
  }
}

/** Returns the fields of each activation; `undefined` if audiences are only built. */
async function activationOf({ activate, download }: RunFlags, context: Context): Promise<JsonObject | undefined> {
  if (activate === undefined) return download === undefined ? undefined : {};
  const fields = await readData(activate, context, '--activate');
  if (!isObject(fields) || 'audience_id' in fields)
    throw usageError('--activate must be a JSON object without "audience_id", such as {"identifier":"EID"}.');
  return fields;
}

/**
 * Checks that files can be saved in a folder, which is created if necessary: nothing is built whose results could not be.
 *
 * @throws {CommandError}
 */
async function tryFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true });
    await rmdir(await mkdtemp(join(folder, '.aud-')));
  } catch (cause) {
    throw new CommandError(`${folder} cannot be written: ${messageOf(cause)}`, { code: 'output-unwritable', cause });
  }
}

/** Warns of fields that audiences do not have: without a misspelled one, something else would be built. */
function warnOfUnknown(rows: readonly BatchRow[], output: Output): void {
  const fields = rowOf('audiences').body.map(({ field }) => field);
  const unknown = Map.groupBy(
    rows.flatMap(({ key, body }) => Object.keys(body).map((name) => ({ key, name }))),
    ({ name }) => name,
  );
  for (const [name, [first, ...others]] of unknown) {
    if (fields.includes(name)) continue;
    const where = `${first?.key}${others.length > 0 ? ` and ${countOf(others.length)} more` : ''}`;
    output.log(
      'warning',
      `${where}: audiences have no field "${name}" (known: ${fields.join(', ')}). It is sent as it is.`,
    );
  }
}

/** Reason of calls that only check their body: with an aborted signal, nothing is sent. */
const CHECKED = new Error('The body was checked.');

/** Checks all bodies as `create` does, and reports those that the service would certainly refuse. */
async function checkBodies(
  client: AudienceClient,
  rows: readonly BatchRow[],
  activate: JsonObject | undefined,
  output: Output,
): Promise<ExitCode> {
  const signal = AbortSignal.abort(CHECKED);
  const codes: ExitCode[] = [];
  const check = async (subject: string, call: PromiseLike<unknown>): Promise<void> => {
    try {
      await call;
    } catch (error) {
      if (error !== CHECKED) codes.push(reportError(error, output, subject));
    }
  };
  for (const { key, body, file } of rows) {
    if (file !== undefined) await checkFile(file, key);
    await check(key, client.audiences.create({ ...body, ...(file !== undefined && { cohort_id: 1 }) }, { signal }));
  }
  if (activate) await check('--activate', client.activations.create({ ...activate, audience_id: 1 }, { signal }));
  return worstOf(codes);
}

/** Checks that the file of a cohort can be read, and is not empty. */
async function checkFile(path: string, key: string): Promise<void> {
  const { size } = await stat(path).catch((error: unknown) => {
    throw usageError(`${key}: ${path} cannot be read: ${messageOf(error)}`);
  });
  if (size === 0) throw usageError(`${key}: ${path} is empty.`);
}

/** Prints what would happen to each row, and sends nothing. */
async function printPlan(
  rows: readonly BatchRow[],
  journal: Journal | undefined,
  activate: JsonObject | undefined,
  output: Output,
): Promise<ExitCode> {
  /** Returns what happens to one create, and the id if it has happened. */
  const planOf = (key: string, body: JsonObject): readonly [plan: string, id?: number | undefined] => {
    const { id, at } = journal?.get(key) ?? {};
    if (!journal || (id === undefined && !at)) return ['create'];
    try {
      journal.find(key, body);
    } catch {
      return ['changed', id];
    }
    if (id !== undefined) return ['wait', id];
    return [at && timeToRepeat(at) > 0 ? 'send again' : 'unknown'];
  };
  const plans = rows.map(({ key, body, file }) => {
    const cohort = journal?.get(cohortKey(key))?.id;
    const [plan, audience] = planOf(key, { ...body, ...(file !== undefined && { cohort_id: cohort }) });
    const isActivated = activate !== undefined && plan === 'wait';
    const [next = plan, activation] = isActivated
      ? planOf(activationKey(key), { ...activate, audience_id: audience })
      : [];
    const isDone = journal?.get(key)?.done !== undefined && next === 'wait';
    return { key, plan: isDone ? 'done' : next === 'create' && isActivated ? 'activate' : next, audience, activation };
  });
  await output.list(plans, ['key', 'plan', 'audience', 'activation'], { isDone: true });
  const ends: Readonly<Record<string, ExitCode>> = { changed: EXIT.refused, unknown: EXIT.outcomeUnknown };
  return worstOf(plans.map(({ plan }) => ends[plan] ?? EXIT.done));
}

/** Reports what has not become of the rows, with the command that continues. Returns the exit code. */
async function conclude(
  views: readonly RowView[],
  { output, signal, flags: globals, account }: Context,
  flags: RunFlags,
  file: string,
): Promise<ExitCode> {
  for (const { key, error } of views) if (error !== undefined) reportError(error, output, key, true);
  const counts = ENDS.map((end) => [views.filter(({ state }) => state === end).length, end] as const);
  const parts = counts.filter(([count]) => count > 0).map((part) => part.join(' '));
  output.log('info', `${output.isJson ? '' : `${now()} `}${countOf(views.length)}: ${parts.join(', ')}.`);
  const code = worstOf(views.map((view) => codeOf(view, flags)));
  if (!views.some(({ state }) => state === 'unfinished' || state === 'unknown')) return code;
  if (file === '-') output.log('info', 'To continue, pass the same rows on standard input.');
  const { endsWithCommand } = await account();
  const command = commandLine(globals, ['run', file, ...REPEATED.flatMap((name) => wordsOf(name, flags[name]))]);
  const resume = endsWithCommand ? undefined : command;
  if (signal.aborted) {
    const late = EXIT.waitTimedOut;
    const ended = reportError(interruption(signal, { late, closed: late, resume }), output);
    // The process ends by the signal itself, so that a loop in a shell ends, too.
    return ended === late ? code : ended;
  }
  if (resume) output.log('info', `Continue with: ${resume}`);
  return code;
}

/** Returns a flag as it is written. */
function wordsOf(name: string, value: RunFlags[(typeof REPEATED)[number]]): string[] {
  const flag = `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
  if (typeof value === 'boolean') return value ? [flag] : [];
  if (value === undefined) return [];
  return [flag, typeof value === 'number' ? `${value / 1_000}s` : value];
}

/** Returns the exit code of a row. One that is blocked has done what it can. */
function codeOf({ state, error }: RowView, { failOnBlocked }: RunFlags): ExitCode {
  if (state === 'unknown') return EXIT.outcomeUnknown;
  if (state === 'blocked') return failOnBlocked ? EXIT.refused : EXIT.done;
  // The audience was deleted.
  if (state === 'failed' && !JobError.isInstance(error)) return EXIT.jobFailed;
  // The next run reads the activation again, and gets other links.
  if (Object(error).operation === 'activations.download') return EXIT.unexpected;
  if (error !== undefined) return exitCodeOf(error);
  return state === 'unfinished' ? EXIT.waitTimedOut : EXIT.done;
}
