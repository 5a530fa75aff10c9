import { readdir, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { type AudienceClient, explainActivation, type JsonObject, type WaitOptions } from '../../index.ts';
import { downloadTo, type Journal, type JournalEntry } from '../../node/index.ts';
import type { JobResource } from '../../spec/job-status.ts';
import type { Mutex } from '../../util/concurrency.ts';
import type { BatchRow } from './batch-rows.ts';

/** State of a row: its current step, or its result. */
export type RowState =
  | 'waiting'
  | 'importing'
  | 'building'
  | 'activating'
  | 'downloading'
  | 'done'
  | 'blocked'
  | 'failed'
  | 'refused'
  | 'unfinished'
  | 'unknown';

/** A row, as last seen. */
export interface RowView {
  readonly key: string;
  state: RowState;
  cohort?: number;
  audience?: number;
  activation?: number;
  /** Paths of the saved files. */
  files?: readonly string[];
  /** Reason why the row is blocked, or why its state is unknown without an error. */
  reason?: string;
  error?: unknown;
}

/** The journal's record of a row that is done. */
type Done = Pick<RowView, 'audience' | 'activation' | 'files'>;

/** Jobs of one kind. */
export interface Jobs<T> {
  wait(id: number, options: WaitOptions<T>): Promise<T>;
}

/** What a run does with each audience. */
export interface RowGoal {
  /** Fields of the activation of each audience. @default audiences are only built */
  readonly activate?: JsonObject | undefined;
  /** Returns the folder for the files of a row. @default files are not downloaded */
  readonly folderOf?: ((key: string) => string) | undefined;
}

/** The parts of a batch that a row uses. Durations are milliseconds. */
export interface RowOptions extends RowGoal {
  readonly client: AudienceClient;
  readonly journal: Journal;
  readonly signal: AbortSignal;
  /** Time for each job. */
  readonly timeout: number;
}

/** The parts of a batch that all rows share. */
export interface RowTurns {
  /** Sends a create request when its turn comes. */
  readonly enqueue: (journalKey: string, send: () => Promise<number>) => Promise<number>;
  /** Returns a job of an earlier run that is known to have completed. */
  readonly completed: (journalKey: string) => JobResource | undefined;
  readonly downloads: Mutex;
  readonly change: (fields: Partial<RowView>) => void;
}

/** Downloads at the same time. */
const DOWNLOADS = 4;

/** Reason of a row whose activation has completed without results. */
const NO_FILES = 'Its activation has no files yet.';

/** Returns the keys of a row in the journal, in the order in which the row needs them. */
export const partsOf = (key: string) => ({
  cohort: `${key} cohort`,
  audience: key,
  activation: `${key} activation`,
});

/** Returns the journal's record of a row that is done, if an earlier run has reached the goal of this one. */
export function doneOf(
  key: string,
  entries: { get(key: string): JournalEntry | undefined },
  { activate, folderOf }: RowGoal,
): Done | undefined {
  const done: Done | undefined = entries.get(key)?.done;
  // Its activation may have been forgotten.
  const activation = entries.get(partsOf(key).activation)?.id;
  if (activate && (activation === undefined || done?.activation !== activation)) return undefined;
  return folderOf && done?.files === undefined ? undefined : done;
}

/** Forgets a part of a row, and the parts that were created from it. */
export async function forgetPart(journal: Journal, row: string, part: string): Promise<void> {
  const parts = Object.values(partsOf(row));
  // Forget the last part first: if the process ends in between, the next run still finds the earlier parts.
  for (const later of parts.slice(parts.indexOf(part)).reverse()) await journal.forget(later);
}

/** Processes a row: imports its file, builds the audience, activates it and saves the results. */
export async function runRow({ key, body, file }: BatchRow, options: RowOptions, turns: RowTurns): Promise<void> {
  const { client, journal, signal, activate, folderOf, timeout } = options;
  const { change } = turns;
  const parts = partsOf(key);
  // If the journal contains the request, these calls only compare the row with the journal, and send nothing.
  const importCohort = (path: string): Promise<number> => {
    const { name = basename(path), project_id } = body;
    const fields = { name, ...(project_id !== undefined && { project_id }) };
    return journal.import(client.cohorts, parts.cohort, path, fields, { signal });
  };
  const createAudience = (cohort?: number): Promise<number> => {
    const fields = cohort === undefined ? body : { ...body, cohort_id: cohort };
    return journal.create(client.audiences, parts.audience, fields, { signal });
  };
  const createActivation = (audience: number): Promise<number> =>
    journal.create(client.activations, parts.activation, { ...activate, audience_id: audience }, { signal });
  const isCreated = (part: string): boolean => journal.get(part)?.id !== undefined;

  /** Returns a job that has completed. Creates the job unless the journal contains it. */
  async function complete<T extends JobResource>(
    jobs: Jobs<T>,
    part: string,
    create: () => Promise<number>,
    onCreated: (id: number) => void,
  ): Promise<T> {
    const id = isCreated(part) ? await create() : await turns.enqueue(part, create);
    onCreated(id);
    return (turns.completed(part) as T | undefined) ?? jobs.wait(id, { timeout, signal });
  }

  async function cohortOf(path: string): Promise<number> {
    if (isCreated(parts.audience)) return importCohort(path);
    const onCreated = (id: number): void => change({ state: 'importing', cohort: id });
    return (await complete(client.cohorts, parts.cohort, () => importCohort(path), onCreated)).id;
  }

  const cohort = file === undefined ? undefined : await cohortOf(file);
  const done = doneOf(key, journal, options);
  if (done) {
    const id = await createAudience(cohort);
    if (activate) await createActivation(id);
    return change({ ...done, state: 'done' });
  }
  const finish = async (record: Done): Promise<void> => {
    await journal.finish(key, { ...record });
    change({ ...record, state: 'done' });
  };
  const audience = await complete(
    client.audiences,
    parts.audience,
    () => createAudience(cohort),
    (id) => change({ state: 'building', audience: id }),
  );
  if (!activate) return finish({ audience: audience.id });
  const { allowed, blockers } = explainActivation(audience, { identifier: activate.identifier as string | undefined });
  if (!allowed && !journal.get(parts.activation)?.sent)
    return change({ state: 'blocked', reason: blockers.map(({ message }) => message).join(' ') });
  const activation = await complete(
    client.activations,
    parts.activation,
    () => createActivation(audience.id),
    (id) => change({ state: 'activating', activation: id }),
  );
  if (!folderOf) return finish({ audience: audience.id, activation: activation.id });
  change({ state: 'downloading' });
  const folder = folderOf(key);
  const saved = await turns.downloads(`${activation.id % DOWNLOADS}`, async () => {
    await removeParts(folder);
    // Read the activation again: its links may have expired while the row waited for its turn.
    return downloadTo(client, activation.id, folder, { signal });
  });
  if (saved.length === 0) return change({ state: 'unfinished', reason: NO_FILES });
  await finish({ audience: audience.id, activation: activation.id, files: saved.map(({ path }) => path) });
}

/**
 * Removes partial files that a killed process has left in the folder of a row, if the folder can be read and written.
 */
async function removeParts(folder: string): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  const parts = names.filter((name) => /^\..+\.[\da-f-]{36}\.part$/.test(name));
  await Promise.all(parts.map((name) => rm(join(folder, name), { force: true }).catch(() => {})));
}
