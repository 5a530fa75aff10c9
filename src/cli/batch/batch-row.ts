import { readdir, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { type AudienceClient, explainActivation, type JsonObject, type WaitOptions } from '../../index.ts';
import { downloadTo, type Journal, type JournalEntry } from '../../node/index.ts';
import type { Mutex } from '../../util/concurrency.ts';
import type { BatchRow } from './batch-rows.ts';
import { isRefused } from './create-queue.ts';

/** States of a row that has not ended. */
export const ON_ITS_WAY = ['waiting', 'importing', 'building', 'activating', 'downloading'] as const;

/** States in which a row ends, in the order of the summary. */
export const ENDS = ['done', 'blocked', 'failed', 'refused', 'unfinished', 'unknown'] as const;

export type RowState = (typeof ON_ITS_WAY | typeof ENDS)[number];

/** The current state and results of a row. */
export interface RowView {
  readonly key: string;
  state: RowState;
  cohort?: number;
  audience?: number;
  activation?: number;
  /** Paths of the saved files. */
  files?: readonly string[];
  /** Reason for the state, if there is no error. */
  reason?: string;
  error?: unknown;
}

/** The journal's record of a completed row. */
type Done = Pick<RowView, 'audience' | 'activation' | 'files'>;

/** Jobs of one kind. */
interface Jobs<T> {
  wait(id: number, options: WaitOptions<T>): Promise<T>;
}

/** What a run does with each audience after building it. */
export interface RowGoal {
  /** Fields of the activation of each audience. @default the run activates nothing */
  readonly activate?: JsonObject | undefined;
  /** Folder for the result files, in which each row has a subfolder. @default the run downloads nothing */
  readonly download?: string | undefined;
}

/** Options of a batch that apply to each row. Durations are in milliseconds. */
export interface RowOptions extends RowGoal {
  readonly client: AudienceClient;
  readonly journal: Journal;
  readonly signal: AbortSignal;
  /** Maximum wait for each job. */
  readonly timeout: number;
  /** Creates a resource again if its job failed in an earlier run. */
  readonly retryFailed?: boolean | undefined;
}

/** What a batch provides to each row. */
interface RowTurns {
  /** Sends a create request when its turn comes. */
  readonly enqueue: (part: string, send: () => Promise<number>) => Promise<number>;
  readonly downloads: Mutex;
  readonly change: (fields: Partial<RowView>) => void;
  /** Called after each read of a job's state. */
  readonly onRead: () => void;
}

/** Maximum number of simultaneous downloads. */
const DOWNLOADS = 4;

/** Reason for a row whose activation has completed without result files. */
const NO_FILES = 'The completed activation has no files yet.';

/** States of a row while it waits for each of its parts. */
const STEPS = { cohort: 'importing', audience: 'building', activation: 'activating' } as const;

/** Returns the keys of a row in the journal, in the order in which the row needs them. */
export const partsOf = (key: string) => ({ cohort: `${key} cohort`, audience: key, activation: `${key} activation` });

/** Returns the journal's record of a row, if an earlier run has reached the goal of this run. */
export function doneOf(
  key: string,
  entries: { get(key: string): JournalEntry | undefined },
  { activate, download }: RowGoal,
): Done | undefined {
  const done: Done | undefined = entries.get(key)?.done;
  // `--forget` may have removed the row's activation from the journal.
  const activation = entries.get(partsOf(key).activation)?.id;
  if (activate && (activation === undefined || done?.activation !== activation)) return undefined;
  return download !== undefined && done?.files === undefined ? undefined : done;
}

/** Forgets a part of a row, and the parts that were created from it. */
export async function forgetPart(journal: Journal, row: string, part: string): Promise<void> {
  const parts = Object.values(partsOf(row));
  // Forget the last part first: if the process is killed meanwhile, the journal still has the earlier parts.
  for (const later of parts.slice(parts.indexOf(part)).reverse()) await journal.forget(later);
}

export function stateOf(error: unknown): RowState {
  const { code, outcome, operation }: Readonly<Record<string, unknown>> = Object(error);
  if (outcome === 'unknown' || outcome === 'done') return 'unknown';
  // A file that is missing in storage is not a failed job.
  const isDeleted = code === 'not-found' && outcome === undefined && operation !== 'activations.download';
  if (isDeleted || String(code).startsWith('job-')) return 'failed';
  const isOfRow = code === 'body-changed' || code === 'file-unreadable' || code === 'configuration-invalid';
  return isOfRow || (outcome !== undefined && isRefused(error)) ? 'refused' : 'unfinished';
}

/** Processes a row: imports its file, builds the audience, activates it and saves the results. */
export async function runRow({ key, body, file }: BatchRow, options: RowOptions, turns: RowTurns): Promise<void> {
  const { client, journal, signal, activate, download, timeout, retryFailed } = options;
  const { change } = turns;
  const parts = partsOf(key);
  const isCreated = (part: string): boolean => journal.get(part)?.id !== undefined;
  // If the journal contains the created resource, these functions only compare the row with its create request.
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

  /** Creates a resource, unless the journal contains it, and waits for its job. Returns the completed resource. */
  async function complete<T extends { readonly id: number }>(
    kind: keyof typeof STEPS,
    jobs: Jobs<T>,
    create: () => Promise<number>,
  ): Promise<T> {
    const part = parts[kind];
    const wait = (id: number): Promise<T> => {
      change({ state: STEPS[kind], [kind]: id });
      return jobs.wait(id, { timeout, signal, onUpdate: turns.onRead });
    };
    const earlier = journal.get(part)?.id;
    if (earlier !== undefined && retryFailed)
      await wait(earlier).catch((error) => {
        if (stateOf(error) !== 'failed') throw error;
        return forgetPart(journal, key, part);
      });
    return wait(isCreated(part) ? await create() : await turns.enqueue(part, create));
  }

  const done = doneOf(key, journal, options);
  async function cohortOf(path: string): Promise<number> {
    if (done || (isCreated(parts.audience) && !retryFailed)) return importCohort(path);
    return (await complete('cohort', client.cohorts, () => importCohort(path))).id;
  }
  const cohort = file === undefined ? undefined : await cohortOf(file);
  if (done) {
    const id = await createAudience(cohort);
    if (activate) await createActivation(id);
    return change({ ...done, state: 'done' });
  }
  const finish = async (record: Done): Promise<void> => {
    await journal.finish(key, { ...record });
    change({ ...record, state: 'done' });
  };
  const audience = await complete('audience', client.audiences, () => createAudience(cohort));
  if (!activate) return finish({ audience: audience.id });
  const { allowed, blockers } = explainActivation(audience, { identifier: activate.identifier as string | undefined });
  if (!allowed && !journal.get(parts.activation)?.sent)
    return change({ state: 'blocked', reason: blockers.map(({ message }) => message).join(' ') });
  const activation = await complete('activation', client.activations, () => createActivation(audience.id));
  if (download === undefined) return finish({ audience: audience.id, activation: activation.id });
  change({ state: 'downloading' });
  const folder = join(download, key);
  const saved = await turns.downloads(`${activation.id % DOWNLOADS}`, async () => {
    await removeParts(folder);
    // Read the activation again: its links may have expired while the row waited for its turn.
    return downloadTo(client, activation.id, folder, { signal });
  });
  if (saved.length === 0) return change({ state: 'unfinished', reason: NO_FILES });
  await finish({ audience: audience.id, activation: activation.id, files: saved.map(({ path }) => path) });
}

/**
 * Removes partial files that a killed process has left in the folder of a row. Ignores a missing or protected folder.
 */
async function removeParts(folder: string): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  const parts = names.filter((name) => /^\..+\.[\da-f-]{36}\.part$/.test(name));
  await Promise.all(parts.map((name) => rm(join(folder, name), { force: true }).catch(() => {})));
}
