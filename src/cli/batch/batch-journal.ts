import { existsSync } from 'node:fs';
import { type Journal, type JournalEntry, openJournal, readJournal } from '../../node/index.ts';
import { timeToRepeat } from '../../spec/limits.ts';
import type { Context } from '../terminal/context.ts';
import { EXIT, type ExitCode, usageError } from '../terminal/exit-codes.ts';
import type { Output } from '../terminal/output.ts';
import { timeText } from '../terminal/wait-notices.ts';
import { doneOf, forgetPart, partsOf, type RowGoal } from './batch-row.ts';
import type { BatchRow } from './batch-rows.ts';

/** Suffix of the journal keys of a row's cohort and activation. */
const PART_SUFFIX = / (?:cohort|activation)$/;

/** Corrects entries of a journal (`--resolve`, `--forget`). Sends nothing. */
export async function correctJournal(
  path: string,
  { resolve = [], forget = [] }: { readonly resolve?: readonly string[]; readonly forget?: readonly string[] },
  { output, signal, connect }: Context,
): Promise<ExitCode> {
  const ids = resolve.map((text) => {
    const [, key, id] = /^(.+)=(\d+)$/.exec(text) ?? [];
    if (key === undefined || !Number.isSafeInteger(Number(id)))
      throw usageError(`--resolve must be key=id, such as north=12, not "${text}".`);
    return [key, Number(id)] as const;
  });
  if (!existsSync(path)) throw usageError(`The journal ${path} does not exist: pass its path with --journal <file>.`);
  const journal = await openJournal(path, await connect(), { signal, isOffline: true });
  try {
    for (const key of [...ids.map(([name]) => name), ...forget])
      if (!journal.get(key)) throw usageError(`${path} has no key "${key}". --status prints its keys.`);
    for (const [key, id] of ids) {
      await journal.resolve(key, id);
      output.log('info', `"${key}" has the id ${id} in the journal. To continue, run the command without --resolve.`);
    }
    for (const key of forget) {
      await forgetPart(journal, key.replace(PART_SUFFIX, ''), key);
      output.log('info', `"${key}" is removed from the journal: the next run creates its resources again.`);
    }
    return EXIT.done;
  } finally {
    await journal.close();
  }
}

/** Last columns of `--status` and `--dry-run`. */
const PARTS = ['audience', 'activation'];

/** Returns the entries of a journal without acquiring its lock. */
export const readEntries = async (path: string): Promise<ReadonlyMap<string, JournalEntry>> =>
  existsSync(path) ? readJournal(path) : new Map();

/**
 * Prints the state of each row of the file, and of each other row in the journal. Acquires no lock, so that it works
 * while a run uses the journal.
 */
export async function printStatus(
  rows: readonly BatchRow[],
  path: string,
  goal: RowGoal,
  output: Output,
): Promise<ExitCode> {
  const entries = await readEntries(path);
  const keys = new Set(rows.map(({ key }) => key));
  const removed = [...entries].flatMap(([part, entry]) => (isSent(entry) ? [part.replace(PART_SUFFIX, '')] : []));
  const statuses = [...new Set([...keys, ...removed])].map((key) => {
    const [kind, part] = Object.entries(partsOf(key)).findLast(([, name]) => isSent(entries.get(name))) ?? [];
    const state = part === undefined ? 'not begun' : `${kind} ${stateOf(entries.get(part))}`;
    const ended = doneOf(key, entries, goal) ? 'done' : state;
    return { key, state: keys.has(key) ? ended : `${ended} (no row)`, ...idsOf(key, entries) };
  });
  await output.list(statuses, ['key', 'state', ...PARTS], { isDone: true });
  return EXIT.done;
}

/** Returns the ids of a row's cohort, audience and activation. */
const idsOf = (key: string, entries: { get(part: string): JournalEntry | undefined }): Record<string, unknown> =>
  Object.fromEntries(Object.entries(partsOf(key)).map(([kind, part]) => [kind, entries.get(part)?.id]));

/** Returns whether a create request was sent, regardless of its outcome. */
const isSent = ({ id, at }: Partial<JournalEntry> = {}): boolean => id !== undefined || at !== undefined;

/** Returns the state of a row's part whose create request was sent. */
function stateOf({ id, at }: Partial<JournalEntry> = {}): string {
  const sent = at ? timeText(at.getTime()) : '';
  if (id !== undefined) return `${id} created ${sent}`.trimEnd();
  const left = at ? timeToRepeat(at) : 0;
  return `in doubt ${left > 0 ? `until ${timeText(Date.now() + left)}` : `since ${sent}`}`;
}

/**
 * Prints what a run would do with each row. Sends nothing.
 *
 * @param refused Keys of the rows that the run would refuse.
 */
export async function printPlan(
  rows: readonly BatchRow[],
  refused: ReadonlySet<string>,
  journal: Journal | undefined,
  goal: RowGoal,
  output: Output,
): Promise<ExitCode> {
  const entries = journal ?? new Map<string, JournalEntry>();
  const plans = rows.map((row) => {
    const plan = refused.has(row.key) ? 'refused' : planOf(row, journal, goal);
    return { key: row.key, plan, ...idsOf(row.key, entries) };
  });
  await output.list(plans, ['key', 'plan', ...PARTS], { isDone: true });
  const isRefused = plans.some(({ plan }) => plan === 'changed' || plan === 'unknown' || plan === 'refused');
  return isRefused ? EXIT.refused : EXIT.done;
}

function planOf({ key, body, file }: BatchRow, journal: Journal | undefined, goal: RowGoal): string {
  if (!journal) return 'create';
  const parts = partsOf(key);
  const { cohort, audience } = idsOf(key, journal);
  const bodies: readonly (readonly [part: string, body: object | undefined])[] = [
    // Do not compare the content of the file: the run compares it.
    ...(file === undefined ? [] : [[parts.cohort, undefined] as const]),
    [parts.audience, file === undefined ? body : { ...body, cohort_id: cohort }],
    ...(goal.activate ? [[parts.activation, { ...goal.activate, audience_id: audience }] as const] : []),
  ];
  for (const [part, fields] of bodies) {
    const entry = journal.get(part);
    if (!isSent(entry)) return part === parts.activation ? 'activate' : 'create';
    try {
      if (fields) journal.find(part, fields);
    } catch {
      return 'changed';
    }
    if (entry?.id === undefined) return entry?.at && timeToRepeat(entry.at) > 0 ? 'send again' : 'unknown';
  }
  return doneOf(key, journal, goal) ? 'done' : 'wait';
}
