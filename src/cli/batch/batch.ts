import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type Activation,
  type ActivationCreate,
  type Audience,
  type AudienceClient,
  type AudienceCreate,
  AuthenticationError,
  explainActivation,
  type JsonObject,
  RateLimitError,
  type WaitOptions,
} from '../../index.ts';
import { downloadTo, type Journal, type JournalNamespace } from '../../node/index.ts';
import { sleep } from '../../util/abort.ts';
import { createMutex } from '../../util/concurrency.ts';
import type { BatchRow } from './batch-rows.ts';

/** How far a row is: on its way, or how it has ended. */
export type RowState =
  | 'waiting'
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
  audience?: number;
  activation?: number;
  /** Paths of the saved files. */
  files?: readonly string[];
  /** Why it is blocked, or unknown without an error. */
  reason?: string;
  error?: unknown;
}

/** The journal's record of a row whose files are saved. */
type Done = Pick<RowView, 'audience' | 'activation' | 'files'>;

/** Options of {@link runBatch}. Durations are milliseconds. */
export interface BatchOptions {
  readonly client: AudienceClient;
  readonly journal: Journal;
  readonly signal: AbortSignal;
  /** Fields of the activation of each audience. @default audiences are only built */
  readonly activate?: JsonObject | undefined;
  /** Returns the folder for the files of a row. @default files are not downloaded */
  readonly folderOf?: ((key: string) => string) | undefined;
  /** Creates once more what has failed in an earlier run. */
  readonly retryFailed?: boolean | undefined;
  /** Time for each job. */
  readonly timeout: number;
  /** Time to wait before each create until the service accepts it. */
  readonly budgetWait: number;
  readonly maxRetries: number;
  readonly onChange: (view: RowView) => void;
  /** Called when creates have to wait. */
  readonly onLimit: (error: RateLimitError, until: number, left: number) => void;
}

/** Downloads at the same time. */
const DOWNLOADS = 4;

/** Time to wait after a 429 that names none. */
const DEFAULT_LIMIT_MS = 60_000;

/** Errors of a create that concern only its row. After others, such as an outage, no more creates begin. */
const ROW_ERRORS: ReadonlySet<unknown> = new Set([
  'validation-failed',
  'not-found',
  'conflict',
  'api-error',
  'body-changed',
  'outcome-expired',
]);

/** Reason of a row whose create was in flight when the run ended. */
const IN_DOUBT = 'Its create was in flight. Run this again within 23 hours, and it happens once.';

/** Reason with which rows end that need a create when no more creates are begun. */
const NOT_BEGUN = new Error('No more creates are begun.');

/** Jobs of one kind. */
interface Jobs<T, Body> extends JournalNamespace<Body> {
  wait(id: number, options: WaitOptions<T>): Promise<T>;
}

/** Builds an audience for each row, and activates it and saves its files if the options say so. Never rejects. */
export async function runBatch(rows: readonly BatchRow[], options: BatchOptions): Promise<readonly RowView[]> {
  const { client, journal, activate, folderOf, onChange } = options;
  const views = rows.map((row): RowView => ({ key: row.key, state: 'waiting' }));
  const mutex = createMutex();
  const stop = new AbortController();
  const signal = AbortSignal.any([options.signal, stop.signal]);
  let hasEnded = false;

  function change(view: RowView, fields: Partial<RowView>): void {
    Object.assign(view, fields);
    onChange(view);
  }

  /**
   * Creates one after another: a process that is killed leaves at most one create in doubt. An audience waits until the
   * one before has an id, so that activations of finished ones come between.
   */
  const create = <Body>(jobs: JournalNamespace<Body>, key: string, body: NoInfer<Body>): Promise<number> =>
    mutex(jobs === client.audiences ? 'audience' : 'activation', () =>
      mutex('create', () => createWithin(jobs, key, body)),
    );

  /** Creates within the limits of the service, for which it waits as long as the options allow. */
  async function createWithin<Body>(jobs: JournalNamespace<Body>, key: string, body: NoInfer<Body>): Promise<number> {
    const since = Date.now();
    for (;;) {
      if (hasEnded) throw NOT_BEGUN;
      signal.throwIfAborted();
      try {
        return await journal.create(jobs, key, body, { signal, maxRetries: options.maxRetries });
      } catch (error) {
        const until = limitOf(error);
        const isAwaited = until !== undefined && until - since <= options.budgetWait;
        hasEnded ||= !isAwaited && !ROW_ERRORS.has(Object(error).code);
        if (!isAwaited) throw error;
        const left = views.filter(({ state }) => state === 'waiting').length;
        options.onLimit(error as RateLimitError, until, left);
        await sleep(Math.max(0, until - Date.now()), signal);
      }
    }
  }

  /** Returns a job that has completed. Creates it unless the journal has it. */
  async function complete<T, Body>(
    jobs: Jobs<T, Body>,
    key: string,
    body: NoInfer<Body>,
    onCreated: (id: number) => void,
  ): Promise<T> {
    const wait = (id: number): Promise<T> => {
      onCreated(id);
      return jobs.wait(id, { timeout: options.timeout, signal });
    };
    const existing = journal.get(key)?.id;
    if (existing !== undefined) {
      if (!options.retryFailed) journal.find(key, body);
      try {
        const job = await wait(existing);
        journal.find(key, body);
        return job;
      } catch (error) {
        if (!options.retryFailed || stateOf(error) !== 'failed') throw error;
        // The activation first: if the process ends in between, the next run finds the failed audience again.
        await journal.forget(activationKey(key));
        await journal.forget(key);
      }
    }
    return wait(await create(jobs, key, body));
  }

  async function runRow({ key, body }: BatchRow, view: RowView): Promise<void> {
    const activationBody = (id: number): ActivationCreate => ({ ...activate, audience_id: id });
    const done: Done | undefined = journal.get(key)?.done;
    if (done) {
      const id = journal.find(key, body);
      if (activate && id !== undefined) journal.find(activationKey(key), activationBody(id));
      return change(view, { ...done, state: 'done' });
    }
    const audiences: Jobs<Audience, AudienceCreate> = client.audiences;
    // The service checks the body, which a user wrote.
    const audience = await complete(audiences, key, body as never, (id) =>
      change(view, { state: 'building', audience: id }),
    );
    if (!activate) return change(view, { state: 'done' });
    const { allowed, blockers } = explainActivation(audience, { identifier: activationBody(0).identifier });
    const { id, at } = journal.get(activationKey(key)) ?? {};
    const hasActivation = id !== undefined || at !== undefined;
    if (!allowed && !hasActivation)
      return change(view, { state: 'blocked', reason: blockers.map(({ message }) => message).join(' ') });
    const activations: Jobs<Activation, ActivationCreate> = client.activations;
    const activation = await complete(activations, activationKey(key), activationBody(audience.id), (id) =>
      change(view, { state: 'activating', activation: id }),
    );
    if (!folderOf) return change(view, { state: 'done' });
    change(view, { state: 'downloading' });
    const folder = folderOf(key);
    const saved = await mutex(`download ${activation.id % DOWNLOADS}`, async () => {
      await removeParts(folder);
      return downloadTo(client, activation, folder, { signal });
    });
    const files = saved.map(({ path }) => path);
    await journal.finish(key, { audience: audience.id, activation: activation.id, files });
    change(view, { state: 'done', files });
  }

  async function settle(row: BatchRow, view: RowView): Promise<void> {
    try {
      await runRow(row, view);
    } catch (error) {
      const isStopped = error === NOT_BEGUN || (options.signal.aborted && error === options.signal.reason);
      const isRefused = AuthenticationError.isInstance(error);
      const isRepeated = isRefused && stop.signal.aborted;
      if (isRefused) stop.abort(NOT_BEGUN);
      if (isInDoubt(row) && (isStopped || isRepeated)) change(view, { state: 'unknown', reason: IN_DOUBT });
      else if (isStopped || isRepeated) change(view, { state: 'unfinished' });
      else change(view, { state: stateOf(error), error });
    }
  }

  /** Returns whether the response to a create of a row is missing. */
  const isInDoubt = ({ key }: BatchRow): boolean =>
    [key, activationKey(key)].map((name) => journal.get(name)).some((entry) => entry?.at && entry.id === undefined);

  // Keys expire: what is in doubt is sent first.
  const pairs = rows
    .map((row, at) => [row, views[at]] as const)
    .toSorted(([a], [b]) => Number(isInDoubt(b)) - Number(isInDoubt(a)));
  await Promise.all(pairs.map(([row, view]) => view && settle(row, view)));
  return views;
}

/** Removes the parts of a row's files that a killed process has left, as far as the folder can be read and written. */
async function removeParts(folder: string): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  const parts = names.filter((name) => /^\..+\.[\da-f-]{36}\.part$/.test(name));
  await Promise.all(parts.map((name) => rm(join(folder, name), { force: true }).catch(() => {})));
}

const activationKey = (key: string): string => `${key} activation`;

/** Returns when a create that a limit has refused may be tried again; `undefined` for other errors. */
const limitOf = (error: unknown): number | undefined =>
  RateLimitError.isInstance(error) ? (error.retryAt?.getTime() ?? Date.now() + DEFAULT_LIMIT_MS) : undefined;

/** Returns the state of a row that an error has ended. */
function stateOf(error: unknown): RowState {
  const { code, outcome, operation }: Readonly<Record<string, unknown>> = Object(error);
  if (outcome === 'unknown' || outcome === 'done') return 'unknown';
  // A file that storage does not have is no failed job.
  const isDeleted = code === 'not-found' && outcome === undefined && operation !== 'activations.download';
  if (isDeleted || String(code).startsWith('job-')) return 'failed';
  return code === 'body-changed' || (outcome !== undefined && ROW_ERRORS.has(code)) ? 'refused' : 'unfinished';
}
