import { existsSync } from 'node:fs';
import { type Journal, type JournalEntry, openJournal, readJournal } from '../../node/index.ts';
import { timeToRepeat } from '../../spec/limits.ts';
import type { Context } from '../terminal/context.ts';
import { EXIT, type ExitCode, usageError, worstOf } from '../terminal/exit-codes.ts';
import type { Output } from '../terminal/output.ts';
import { timeText } from '../terminal/wait-notices.ts';
import { doneOf, forgetPart, partsOf, type RowGoal } from './batch-row.ts';
import type { BatchRow } from './batch-rows.ts';

/** Records in a journal what a person has found out, so that nobody edits the file. Sends nothing. */
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
  if (!existsSync(path)) throw usageError(`There is no journal ${path}: name it with --journal <file>.`);
  const journal = await openJournal(path, await connect(), { signal, isOffline: true });
  try {
    for (const key of [...ids.map(([name]) => name), ...forget])
      if (!journal.get(key)) throw usageError(`${path} has no key "${key}". --status prints its keys.`);
    for (const [key, id] of ids) {
      await journal.resolve(key, id);
      output.log('info', `"${key}" is ${id}. To continue, run the command without --resolve.`);
    }
    for (const key of forget) {
      await forgetPart(journal, key.replace(/ (?:cohort|activation)$/, ''), key);
      output.log('info', `"${key}" is forgotten: the next run creates it.`);
    }
    return EXIT.done;
  } finally {
    await journal.close();
  }
}

/** Prints the state of each row in a journal. It takes no lock, so that it works while a run uses the journal. */
export async function printStatus(
  rows: readonly BatchRow[],
  path: string,
  goal: RowGoal,
  output: Output,
): Promise<ExitCode> {
  const entries = existsSync(path) ? await readJournal(path) : new Map<string, JournalEntry>();
  const statuses = rows.map(({ key }) => {
    const parts = Object.entries(partsOf(key));
    const ids = Object.fromEntries(parts.map(([kind, part]) => [kind, entries.get(part)?.id]));
    const [kind = '', part = ''] = parts.findLast(([, name]) => isSent(entries.get(name))) ?? [];
    return { key, state: doneOf(key, entries, goal) ? 'done' : stateOf(kind, entries.get(part)), ...ids };
  });
  await output.list(statuses, COLUMNS.with(1, 'state'), { isDone: true });
  return EXIT.done;
}

/** Columns of --dry-run. */
const COLUMNS = ['key', 'plan', 'audience', 'activation'];

/** Returns whether a create request was sent, whatever its outcome is. */
const isSent = ({ id, at }: Partial<JournalEntry> = {}): boolean => id !== undefined || at !== undefined;

/** Returns the state of the latest part of a row that was sent. */
function stateOf(kind: string, { id, at }: Partial<JournalEntry> = {}): string {
  const sent = at ? timeText(at.getTime()) : '';
  if (id !== undefined) return `${kind} ${id} created ${sent}`.trimEnd();
  if (!at) return 'not begun';
  const left = timeToRepeat(at);
  return `${kind} in doubt ${left > 0 ? `until ${timeText(Date.now() + left)}` : `since ${sent}`}`;
}

/** Prints what would happen to each row, and sends nothing. */
export async function printPlan(
  rows: readonly BatchRow[],
  journal: Journal | undefined,
  goal: RowGoal,
  output: Output,
): Promise<ExitCode> {
  const plans = rows.map(({ key, body, file }) => {
    const parts = partsOf(key);
    const [cohort, audience, activation] = Object.values(parts).map((part) => journal?.get(part)?.id);
    const bodies = {
      ...(file !== undefined && { cohort: undefined }),
      audience: file === undefined ? body : { ...body, cohort_id: cohort },
      ...(goal.activate && { activation: { ...goal.activate, audience_id: audience } }),
    };
    const plan = (): string => {
      for (const [kind, fields] of Object.entries(bodies)) {
        const part = parts[kind as keyof typeof bodies];
        const entry = journal?.get(part);
        if (!isSent(entry)) return kind === 'activation' ? 'activate' : 'create';
        try {
          // The content of a file is compared by the run.
          if (fields) journal?.find(part, fields);
        } catch {
          return 'changed';
        }
        if (entry?.id === undefined) return entry?.at && timeToRepeat(entry.at) > 0 ? 'send again' : 'unknown';
      }
      return journal && doneOf(key, journal, goal) ? 'done' : 'wait';
    };
    return { key, plan: plan(), audience, activation };
  });
  await output.list(plans, COLUMNS, { isDone: true });
  const ends: Readonly<Record<string, ExitCode>> = { changed: EXIT.refused, unknown: EXIT.outcomeUnknown };
  return worstOf(plans.map(({ plan }) => ends[plan] ?? EXIT.done));
}
