import { existsSync } from 'node:fs';
import { type JournalEntry, openJournal, readJournal } from '../../node/index.ts';
import { timeToRepeat } from '../../spec/limits.ts';
import type { Context } from '../terminal/context.ts';
import { EXIT, type ExitCode, usageError } from '../terminal/exit-codes.ts';
import type { Output } from '../terminal/output.ts';
import { timeText } from '../terminal/wait-notices.ts';
import { activationKey } from './batch.ts';
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
      // The activation first: if the process ends in between, the next run finds the audience again.
      await journal.forget(activationKey(key));
      await journal.forget(key);
      output.log('info', `"${key}" is forgotten: the next run creates it.`);
    }
    return EXIT.done;
  } finally {
    await journal.close();
  }
}

/** Prints the state of each row in a journal. It takes no lock, so that it works while a run uses the journal. */
export async function printStatus(rows: readonly BatchRow[], path: string, output: Output): Promise<ExitCode> {
  const entries = existsSync(path) ? await readJournal(path) : new Map<string, JournalEntry>();
  const statuses = rows.map(({ key }) => {
    const [audience, activation] = [entries.get(key), entries.get(activationKey(key))];
    const latest = activation?.sent || activation?.id !== undefined ? activation : audience;
    const isActivation = latest !== undefined && latest === activation;
    const ids = { audience: audience?.id, activation: activation?.id };
    if (audience?.done) return { key, state: 'done', ...ids };
    if (!latest?.at && latest?.id === undefined) return { key, state: 'not begun', ...ids };
    const since = latest.at ? ` since ${timeText(latest.at.getTime())}` : '';
    if (latest.id !== undefined)
      return { key, state: `waiting for ${isActivation ? 'activation' : 'audience'} ${latest.id}${since}`, ...ids };
    const left = latest.at ? timeToRepeat(latest.at) : 0;
    const state = left > 0 ? `in doubt until ${timeText(Date.now() + left)}` : `in doubt${since}`;
    return { key, state: isActivation ? `activation ${state}` : state, ...ids };
  });
  await output.list(statuses, ['key', 'state', 'audience', 'activation'], { isDone: true });
  return EXIT.done;
}
