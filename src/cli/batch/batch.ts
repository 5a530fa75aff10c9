import { readdir, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import {
  type Activation,
  type ActivationCreate,
  type Audience,
  type AudienceClient,
  type AudienceCreate,
  AuthenticationError,
  type Cohort,
  explainActivation,
  type JsonObject,
  type RateLimitError,
  type WaitOptions,
} from '../../index.ts';
import { downloadTo, type Journal, type JournalNamespace } from '../../node/index.ts';
import type { JobResource } from '../../spec/job-status.ts';
import { sleep } from '../../util/abort.ts';
import { createMutex } from '../../util/concurrency.ts';
import type { BatchRow } from './batch-rows.ts';
import { createQueue, isRowRefused, NOT_BEGUN, type QueueOptions } from './create-queue.ts';

/** How far a row is: on its way, or how it has ended. */
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
  /** Why it is blocked, or unknown without an error. */
  reason?: string;
  error?: unknown;
}

/** The journal's record of a row whose files are saved. */
type Done = Pick<RowView, 'cohort' | 'audience' | 'activation' | 'files'>;

/** Options of {@link runBatch}. Durations are milliseconds. */
export interface BatchOptions extends Pick<QueueOptions, 'budgetWait' | 'outageWait' | 'onOutage'> {
  readonly client: AudienceClient;
  readonly journal: Journal;
  readonly signal: AbortSignal;
  /** Fields of the activation of each audience. @default audiences are only built */
  readonly activate?: JsonObject | undefined;
  /** Returns the folder for the files of a row. @default files are not downloaded */
  readonly folderOf?: ((key: string) => string) | undefined;
  /** Creates the rows again whose jobs failed in an earlier run. */
  readonly retryFailed?: boolean | undefined;
  /** Time for each job. */
  readonly timeout: number;
  readonly onChange: (view: RowView) => void;
  /** Called when creates have to wait, with the number of creates that are left. */
  readonly onLimit: (error: RateLimitError, until: number, left: number) => void;
}

/** States of rows that have not ended. */
const ON_ITS_WAY: readonly RowState[] = ['waiting', 'importing', 'building', 'activating', 'downloading'];

/** Downloads at the same time. */
const DOWNLOADS = 4;

/** Time to wait for the first reads of existing audiences, whose activations go before new audiences. */
const FIRST_READS_MS = 60_000;

/** Reason of a row whose create was in flight when the run ended. */
const IN_DOUBT =
  'Its create request was in flight. Run this again within 23 hours, and the service creates it only once.';

/** Reason of a row whose activation has completed without results. */
const NO_FILES = 'Its activation has no files yet.';

/** A create of a row. */
interface Create {
  /** Key in the journal. */
  readonly key: string;
  /** Index of the row. */
  readonly at: number;
  readonly isActivation?: boolean;
  /** Checks that the journal has the same body under the key. */
  readonly check: () => unknown;
  readonly send: () => Promise<number>;
}

/** Jobs of one kind. */
interface Jobs<T> {
  wait(id: number, options: WaitOptions<T>): Promise<T>;
}

/** Builds an audience for each row, and activates it and saves its files if the options say so. Never rejects. */
export async function runBatch(rows: readonly BatchRow[], options: BatchOptions): Promise<readonly RowView[]> {
  const { client, journal, activate, folderOf, onChange } = options;
  const pairs = rows.map((row, at) => ({ row, at, view: { key: row.key, state: 'waiting' } as RowView }));
  const views = pairs.map(({ view }) => view);
  const mutex = createMutex();
  const stop = new AbortController();
  const signal = AbortSignal.any([options.signal, stop.signal]);
  const add = createQueue({
    ...options,
    signal,
    probe: () => client.audiences.list({ per_page: 1 }, { signal, maxRetries: 0 }),
    onLimit: (error, until) =>
      options.onLimit(
        error,
        until,
        pairs.reduce((sum, pair) => sum + createsLeft(pair), 0),
      ),
  });
  // Activations of audiences of an earlier run go before new audiences: wait until it is known which have completed.
  const reads = rows.map(({ key }) => {
    const isRead = activate && journal.get(key)?.id !== undefined && journal.get(activationKey(key))?.id === undefined;
    return isRead && !journal.get(key)?.done ? Promise.withResolvers<void>() : undefined;
  });
  const areRead = Promise.race([Promise.all(reads.map((read) => read?.promise)), sleep(FIRST_READS_MS, signal)]);
  areRead.catch(() => {});

  function change(view: RowView, fields: Partial<RowView>): void {
    Object.assign(view, fields);
    onChange(view);
  }

  /** Returns how many creates a row still needs. */
  function createsLeft({ row, view: { state, cohort, audience, activation } }: (typeof pairs)[number]): number {
    const ids = [row.file === undefined ? 0 : cohort, audience, activate ? activation : 0];
    return ON_ITS_WAY.includes(state) ? ids.filter((id) => id === undefined).length : 0;
  }

  /** What is in doubt goes first, because keys expire; then activations; in each group, the first row first. */
  async function create({ key, at, isActivation = false, send }: Create): Promise<number> {
    const isInDoubt = journal.get(key)?.at !== undefined;
    if (!isActivation && !isInDoubt) await areRead;
    const created = add([isInDoubt ? 0 : 1, isActivation ? 0 : 1, at], send);
    reads[at]?.resolve();
    return created;
  }

  /** Returns a job that has completed. Creates it unless the journal has it. */
  async function complete<T extends JobResource>(
    jobs: Jobs<T>,
    step: Create,
    onCreated: (id: number) => void,
  ): Promise<T> {
    const { key, at, check } = step;
    const onUpdate = (job: T): void => {
      if (client.jobState('audience', job) === 'running') reads[at]?.resolve();
    };
    const wait = (id: number): Promise<T> => {
      onCreated(id);
      return jobs.wait(id, { timeout: options.timeout, signal, onUpdate });
    };
    const existing = journal.get(key)?.id;
    if (existing !== undefined) {
      if (!options.retryFailed) await check();
      try {
        const job = await wait(existing);
        await check();
        return job;
      } catch (error) {
        if (!options.retryFailed || stateOf(error) !== 'failed') throw error;
        // The activation first: if the process ends in between, the next run finds the failed audience again.
        await journal.forget(activationKey(key));
        await journal.forget(key);
      }
    }
    return wait(await create(step));
  }

  /** Returns the create of a body. */
  const createOf = <Body>(jobs: JournalNamespace<Body>, key: string, body: NoInfer<Body>, at: number): Create => ({
    key,
    at,
    check: () => journal.find(key, body),
    send: () => journal.create(jobs, key, body, { signal }),
  });

  /** Returns the body of an audience, with the cohort of its file. */
  async function bodyOf({ key, body, file }: BatchRow, view: RowView, at: number): Promise<AudienceCreate> {
    if (file === undefined) return body;
    const { name, project_id } = body;
    const fields = { name: name ?? basename(file), ...(project_id !== undefined && { project_id }) };
    const send = () => journal.import(client.cohorts, cohortKey(key), file, fields, { signal });
    // With an id in the journal, it compares the content of the file, and sends nothing.
    const step = { key: cohortKey(key), at, send, check: send };
    if (journal.get(key)?.done) return { ...body, cohort_id: await send() };
    const onCreated = (id: number): void => change(view, { state: 'importing', cohort: id });
    const { id } = await complete<Cohort>(client.cohorts, step, onCreated);
    return { ...body, cohort_id: id };
  }

  async function runRow(row: BatchRow, view: RowView, at: number): Promise<void> {
    const { key } = row;
    const body = await bodyOf(row, view, at);
    const activationBody = (id: number): ActivationCreate => ({ ...activate, audience_id: id });
    const done: Done | undefined = journal.get(key)?.done;
    if (done) {
      const id = journal.find(key, body);
      if (activate && id !== undefined) journal.find(activationKey(key), activationBody(id));
      return change(view, { ...done, state: 'done' });
    }
    const audience = await complete<Audience>(client.audiences, createOf(client.audiences, key, body, at), (id) =>
      change(view, { state: 'building', audience: id }),
    );
    if (!activate) return change(view, { state: 'done' });
    const { allowed, blockers } = explainActivation(audience, { identifier: activationBody(0).identifier });
    const entry = journal.get(activationKey(key));
    const hasActivation = entry?.id !== undefined || entry?.at !== undefined;
    if (!allowed && !hasActivation)
      return change(view, { state: 'blocked', reason: blockers.map(({ message }) => message).join(' ') });
    const step = createOf(client.activations, activationKey(key), activationBody(audience.id), at);
    const activation = await complete<Activation>(client.activations, { ...step, isActivation: true }, (id) =>
      change(view, { state: 'activating', activation: id }),
    );
    if (!folderOf) return change(view, { state: 'done' });
    change(view, { state: 'downloading' });
    const folder = folderOf(key);
    const saved = await mutex(`download ${activation.id % DOWNLOADS}`, async () => {
      await removeParts(folder);
      return downloadTo(client, activation, folder, { signal });
    });
    if (saved.length === 0) return change(view, { state: 'unfinished', reason: NO_FILES });
    const files = saved.map(({ path }) => path);
    await journal.finish(key, { audience: audience.id, activation: activation.id, files });
    change(view, { state: 'done', files });
  }

  async function settle({ row, view, at }: (typeof pairs)[number]): Promise<void> {
    try {
      await runRow(row, view, at);
    } catch (error) {
      const isStopped = error === NOT_BEGUN || (options.signal.aborted && error === options.signal.reason);
      const isRefused = AuthenticationError.isInstance(error);
      const isRepeated = isRefused && stop.signal.aborted;
      if (isRefused) stop.abort(NOT_BEGUN);
      if (isInDoubt(row) && (isStopped || isRepeated)) change(view, { state: 'unknown', reason: IN_DOUBT });
      else if (isStopped || isRepeated) change(view, { state: 'unfinished' });
      else change(view, { state: stateOf(error), error });
    } finally {
      reads[at]?.resolve();
    }
  }

  /** Returns whether the response to a create of a row is missing. */
  const isInDoubt = ({ key }: BatchRow): boolean =>
    [key, activationKey(key), cohortKey(key)]
      .map((name) => journal.get(name))
      .some((entry) => entry?.at && entry.id === undefined);

  await Promise.all(pairs.map(settle));
  stop.abort(NOT_BEGUN);
  return views;
}

/** Removes the parts of a row's files that a killed process has left, as far as the folder can be read and written. */
async function removeParts(folder: string): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  const parts = names.filter((name) => /^\..+\.[\da-f-]{36}\.part$/.test(name));
  await Promise.all(parts.map((name) => rm(join(folder, name), { force: true }).catch(() => {})));
}

/** Returns the key of the cohort of a row in the journal. */
export const cohortKey = (key: string): string => `${key} cohort`;

/** Returns the key of the activation of a row in the journal. */
export const activationKey = (key: string): string => `${key} activation`;

/** Returns the state of a row that an error has ended. */
function stateOf(error: unknown): RowState {
  const { code, outcome, operation }: Readonly<Record<string, unknown>> = Object(error);
  if (outcome === 'unknown' || outcome === 'done') return 'unknown';
  // If storage does not have the file, that is not a failed job.
  const isDeleted = code === 'not-found' && outcome === undefined && operation !== 'activations.download';
  if (isDeleted || String(code).startsWith('job-')) return 'failed';
  const isRefused = code === 'body-changed' || (outcome !== undefined && isRowRefused(error));
  return isRefused ? 'refused' : 'unfinished';
}
