import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type AudienceClient, JobError, type JsonObject } from '../../index.ts';
import { type Journal, openJournal } from '../../node/index.ts';
import { timeToRepeat } from '../../spec/limits.ts';
import { isObject } from '../../util/json.ts';
import { readData, readStdin, readText } from '../input/body-input.ts';
import { rowOf } from '../input/resource-table.ts';
import { type Context, commandLine } from '../terminal/context.ts';
import { messageOf, rowText } from '../terminal/error-texts.ts';
import { EXIT, type ExitCode, exitCodeOf, interruption, usageError, worstOf } from '../terminal/exit-codes.ts';
import type { Output } from '../terminal/output.ts';
import { errorRecord, reportError } from '../terminal/report-error.ts';
import { timeText } from '../terminal/wait-notices.ts';
import { type RowState, type RowView, runBatch } from './batch.ts';
import { type BatchRow, parseRows } from './batch-rows.ts';

interface RunFlags {
  readonly journal?: string;
  readonly download?: string;
  readonly activate?: string;
  readonly retryFailed?: boolean;
  readonly budgetWait?: number;
  readonly outageWait?: number;
  readonly timeout?: number;
  readonly dryRun?: boolean;
}

const COLUMNS: readonly string[] = ['key', 'state', 'audience', 'activation', 'reason'];

/** The fields of a row. */
const FIELDS = {
  key: '',
  state: '',
  audience: null,
  activation: null,
  files: null,
  reason: null,
  error: null,
  plan: '',
};

/** Time for each job without --timeout. */
const DEFAULT_TIMEOUT_MS = 4 * 3_600_000;

/** Time to wait for the end of an outage without --outage-wait. */
const OUTAGE_WAIT_MS = 20 * 60_000;

/** Flags of the command that continues. */
const REPEATED = ['journal', 'download', 'activate', 'budgetWait', 'outageWait', 'timeout'] as const;

/** States in the order of the summary. */
const ENDS: readonly RowState[] = ['done', 'blocked', 'failed', 'refused', 'unfinished', 'unknown'];

/** `run`: builds the audiences of a file, activates them and saves their files, each once, however often it is run. */
export async function run(context: Context, flags: RunFlags, [file = '-']: readonly string[]): Promise<ExitCode> {
  const { output, signal } = context;
  const isStream = file === '-' || /^\/dev\/(?:stdin$|fd\/)/.test(file);
  if (isStream && flags.journal === undefined)
    throw usageError('Rows on standard input need a journal: name it with --journal <file>.');
  const path = flags.journal ?? `${file}.journal`;
  const activate = await activationOf(flags, context);
  const text = file === '-' ? await readStdin(context) : await readText(file);
  const rows = parseRows(text, (message) => output.log('info', message));
  await output.checkFields(FIELDS, {});
  warnOfUnknown(rows, output);
  const client = await context.connect();
  const existing = existsSync(path) ? await openJournal(path, client, { signal }) : undefined;
  // What an earlier run has created is not held against the windows of today.
  const isNew = ({ key }: BatchRow): boolean => existing?.get(key)?.sent === undefined;
  const refused = await checkBodies(client, rows.filter(isNew), activate, output);
  if (refused !== EXIT.done || flags.dryRun) {
    const code = refused === EXIT.done ? await printPlan(rows, existing, output) : refused;
    await existing?.close();
    return code;
  }
  const journal = existing ?? (await openJournal(path, client, { signal }));
  let announced = '';
  const announce = (notice: string, details: string): void => {
    if (notice !== announced) output.log('info', `${notice}${details}`);
    announced = notice;
  };
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
    onChange: (view) => (output.isJson ? void output.json(recordOf(view, output)) : output.note(lineOf(view))),
    onLimit({ code }, until, left) {
      const limit =
        code === 'build-budget-exhausted' ? 'The build budget is used up' : 'The service accepts no creates';
      announce(`${limit} until ${timeText(until)}`, ` (${left} create requests are left).`);
    },
    onOutage(error, until) {
      const notice = 'Three creates have failed, one after another. Waiting for the end of the outage';
      announce(`${notice} until ${timeText(until)}`, ` at the latest: ${rowText(messageOf(error))}`);
    },
  }).finally(() => journal.close());
  if (!output.isJson)
    await output.list(
      views.map((view) => ({ ...view, reason: view.reason ?? Object(view.error).code })),
      COLUMNS,
      { isDone: true },
    );
  return conclude(views, context, flags, file);
}

/** Returns the fields of each activation; `undefined` if audiences are only built. */
async function activationOf({ activate, download }: RunFlags, context: Context): Promise<JsonObject | undefined> {
  if (activate === undefined) return download === undefined ? undefined : {};
  const fields = await readData(activate, context, '--activate');
  if (!isObject(fields) || 'audience_id' in fields)
    throw usageError('--activate must be a JSON object without "audience_id", such as {"identifier":"EID"}.');
  return fields;
}

/** Warns of fields that audiences do not have: without a misspelled one, something else would be built. */
function warnOfUnknown(rows: readonly BatchRow[], output: Output): void {
  const fields = rowOf('audiences').body.map(({ field }) => field);
  const unknown = new Set(rows.flatMap(({ body }) => Object.keys(body)).filter((name) => !fields.includes(name)));
  if (unknown.size === 0) return;
  const names = [...unknown].map((name) => `"${name}"`).join(', ');
  output.log('warning', `Audiences have no field ${names} (known: ${fields.join(', ')}). It is sent as it is.`);
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
  for (const { key, body } of rows) await check(key, client.audiences.create(body, { signal }));
  if (activate) await check('--activate', client.activations.create({ ...activate, audience_id: 1 }, { signal }));
  return worstOf(codes);
}

/** Prints what would happen to each row, and sends nothing. */
async function printPlan(rows: readonly BatchRow[], journal: Journal | undefined, output: Output): Promise<ExitCode> {
  const planOf = ({ key, body }: BatchRow): string => {
    const { id, at, done } = journal?.get(key) ?? {};
    if (!journal || (id === undefined && !at)) return 'create';
    try {
      journal.find(key, body);
    } catch {
      return 'changed';
    }
    if (done) return 'done';
    if (id !== undefined) return 'wait';
    return at && timeToRepeat(at) > 0 ? 'send again' : 'unknown';
  };
  const plans = rows.map((row) => ({ key: row.key, plan: planOf(row), audience: journal?.get(row.key)?.id }));
  await output.list(plans, ['key', 'plan', 'audience'], { isDone: true });
  return plans.some(({ plan }) => plan === 'changed') ? EXIT.refused : EXIT.done;
}

const recordOf = ({ error, ...view }: RowView, output: Output): object => ({
  ...view,
  ...(error !== undefined && { error: errorRecord(error, output, rowText) }),
});

/** Returns the line about a row that has changed. */
function lineOf({ key, state, audience, activation, files, reason }: RowView): string {
  const texts: Readonly<Partial<Record<RowState, string>>> = {
    building: `waiting for audience ${audience}`,
    activating: `waiting for activation ${activation}`,
    ...(files?.[0] !== undefined && { done: `done, files in ${dirname(files[0])}` }),
  };
  return `${key}: ${texts[state] ?? state}${reason === undefined ? '' : `. ${reason}`}`;
}

/** Reports what has not become of the rows, with the command that continues. Returns the exit code. */
async function conclude(
  views: readonly RowView[],
  { output, signal, flags: globals, account }: Context,
  flags: RunFlags,
  file: string,
): Promise<ExitCode> {
  for (const { key, error } of views) if (error !== undefined) reportError(error, output, key, rowText);
  const counts = ENDS.map((end) => [views.filter(({ state }) => state === end).length, end] as const);
  const parts = counts.filter(([count]) => count > 0).map((part) => part.join(' '));
  output.log('info', `${views.length} ${views.length === 1 ? 'row' : 'rows'}: ${parts.join(', ')}.`);
  const code = worstOf(views.map(codeOf));
  if (!views.some(({ state }) => state === 'unfinished' || state === 'unknown')) return code;
  if (file === '-') output.log('info', 'To continue, pass the same rows on standard input.');
  const { endsWithCommand } = await account();
  const command = commandLine(globals, ['run', file, ...REPEATED.flatMap((name) => wordsOf(name, flags[name]))]);
  const resume = endsWithCommand ? undefined : command;
  if (signal.aborted) {
    const late = EXIT.waitTimedOut;
    const ended = reportError(interruption(signal, { late, closed: late, resume }), output);
    // A signal ends the process, so that the loop of a shell does not go on.
    return ended === late ? code : ended;
  }
  if (resume) output.log('info', `Continue with: ${resume}`);
  return code;
}

/** Returns a flag as it is written. */
function wordsOf(name: string, value: RunFlags[keyof RunFlags]): string[] {
  const flag = `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
  if (typeof value === 'boolean') return value ? [flag] : [];
  if (value === undefined) return [];
  return [flag, typeof value === 'number' ? `${value / 1_000}s` : value];
}

/** Returns the exit code of a row. One that is blocked has done what it can. */
function codeOf({ state, error }: RowView): ExitCode {
  if (state === 'unknown') return EXIT.outcomeUnknown;
  // An audience that was deleted.
  if (state === 'failed' && !JobError.isInstance(error)) return EXIT.jobFailed;
  if (error !== undefined) return exitCodeOf(error);
  return state === 'unfinished' ? EXIT.waitTimedOut : EXIT.done;
}
