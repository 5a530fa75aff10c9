import type { JobKind, JobResource, JobState, StatusFields } from '../../spec/job-status.ts';
import { sleep } from '../../util/abort.ts';
import type { CallOptions } from '../http/request-options.ts';
import type { WaitSettings } from './wait-events.ts';

/** Minimum time between the starts of a target's last poll and of one that was requested. */
const MIN_GAP_MS = 2_000;

/** Where a state came from: a request for the resource, a page of a list, or a webhook event. */
export type UpdateSource = 'poll' | 'list' | 'webhook';

/** Source of a state, and its time. */
export interface UpdateOrigin {
  readonly source: UpdateSource;
  /** When the poll began, or the event arrived. */
  readonly startedAt: number;
  /** Id of the call; not set for an event. */
  readonly callId?: string | undefined;
}

/** A state of a job's resource. */
export interface JobUpdate<T> extends UpdateOrigin {
  readonly resource: T;
  readonly state: JobState;
}

/** The parts of a resource that a list row or an event contains. */
export interface JobRow<T> {
  readonly id: number;
  /** Id of the status, if the row or event contains one. */
  readonly status?: number | undefined;
  /** The resource, if the row or event contains all documented fields. */
  readonly resource?: T | undefined;
}

/** A kind of job, and how its resource is read. */
export interface JobSource<T extends JobResource> {
  readonly kind: JobKind;
  read(id: number, options: CallOptions): PromiseLike<T>;
  /** Decodes the data of an event; returns `undefined` if the data contains no resource. */
  decode(data: unknown): JobRow<T> | undefined;
  /** Returns whether this client has created the resource so recently that a read might not find it yet. */
  mayBeInvisible(id: number): boolean;
  /** Returns the state of the job by the status of its resource. */
  readonly stateOf: (resource: StatusFields) => JobState;
  /** Creates the error for an invalid id; nothing is sent. */
  invalidId(problem: string): Error;
  /** Settings of the namespace whose waits await the job. */
  readonly settings: WaitSettings;
}

/**
 * Why a target is polled: a `page` shows several jobs; a `refresh` is urgent, because it shows the first state of a job or
 * one that may be its end; a `single` shows any other state of one job. The kinds take turns.
 */
export type PollKind = 'page' | 'single' | 'refresh';

/** The target of a poll: a page of a list or a single resource, with the poll times that its waits share. */
export class PollTarget<J extends Pick<Job<never>, 'wake'> = Pick<Job<never>, 'wake'>> {
  /** The jobs that it shows. Their waits poll it. */
  readonly jobs: Set<J>;
  /**
   * Reads the target and passes the states to its jobs; never rejects. `onPermit` is called when the rate limit permits
   * the request.
   */
  readonly read: (signal: AbortSignal, onPermit: () => void) => Promise<void>;
  kind: PollKind = 'single';
  /** True if the poll may be sent ahead of its turn in the rate. */
  isUrgent = false;
  /** When the next poll is due. */
  dueAt = Number.NEGATIVE_INFINITY;
  /** When its own last poll began. */
  startedAt = Number.NEGATIVE_INFINITY;
  /** Start of the current period: when its own last poll began, or a later poll that showed it, too. */
  periodFrom = Number.NEGATIVE_INFINITY;
  /** Earliest time of the next poll, because the service asked for a pause, or a search has just begun. */
  pausedUntil = Number.NEGATIVE_INFINITY;
  /** A poll counts as in flight until it ends, and no longer than shortly after its last sign of life. */
  inFlightUntil = Number.NEGATIVE_INFINITY;
  /** Latest time at which one of its waits looks at it again. After that, nobody may be left to poll it. */
  expectedUntil = Number.NEGATIVE_INFINITY;
  #requested: { readonly at: number; readonly kind: PollKind } | undefined;

  constructor(jobs: Set<J>, read: PollTarget['read']) {
    this.jobs = jobs;
    this.read = read;
  }

  /** Requests a poll as soon as possible; a poll that is in flight does not count. */
  request(kind: PollKind): void {
    this.#requested = { at: performance.now(), kind };
    this.wake();
  }

  get isRequested(): boolean {
    return this.#requested !== undefined;
  }

  /** Plans the next poll: a period after the last one, unless it was requested earlier. */
  plan(kind: PollKind, period: number): this {
    const requested = this.#requested;
    this.kind = requested?.kind ?? kind;
    this.isUrgent = this.kind === 'refresh';
    const next = requested ? Math.max(requested.at, this.startedAt + MIN_GAP_MS) : this.periodFrom + period;
    this.dueAt = Math.max(next, this.pausedUntil);
    return this;
  }

  /** Records that a poll begins. */
  begin(): void {
    this.startedAt = performance.now();
    this.shownBy(this.startedAt);
  }

  /** Records that a poll which began at `startedAt` shows the target. */
  shownBy(startedAt: number): void {
    this.periodFrom = startedAt;
    if (this.#requested && this.#requested.at <= startedAt) this.#requested = undefined;
  }

  /** Returns whether one of its waits could poll it now. */
  isReady(now: number): boolean {
    return this.dueAt <= now && this.inFlightUntil <= now && this.expectedUntil >= now;
  }

  wake(): void {
    for (const job of this.jobs) job.wake();
  }
}

/** The data that all waits for one job share: its states, its page in the list, and the sleeping waits. */
export class Job<T extends JobResource> {
  readonly createdAt = performance.now();
  readonly id: number;
  readonly source: JobSource<T>;
  /** Polls its resource. */
  readonly own: PollTarget<Job<T>>;
  /** The page of the list that shows it, if one shows enough jobs. */
  page: PollTarget<Job<T>> | undefined;
  /** Time from which the list is searched for the job, if no page shows it. */
  searchFrom = Number.NEGATIVE_INFINITY;
  /** Number of waits and watches. */
  waits = 0;
  /** Last known state. */
  last: JobUpdate<T> | undefined;
  /** Error of the last poll, if it failed; another one will follow. */
  pollError: unknown;
  /** Why the waits for it have failed, if they have. */
  failure: { readonly error: unknown } | undefined;
  readonly #sleepers = new Set<() => void>();

  constructor(id: number, source: JobSource<T>, read: PollTarget['read']) {
    this.id = id;
    this.source = source;
    this.own = new PollTarget<Job<T>>(new Set([this]), read);
    this.own.request('refresh');
  }

  /** Records a state, unless a newer one is known; returns whether it shows the end of the job. */
  update(resource: T, origin: UpdateOrigin): boolean {
    const { startedAt } = origin;
    const { last } = this;
    const state = this.source.stateOf(resource);
    // Ignore a running state if a newer state arrived during its poll. The end of a job counts in any order.
    if (last && state === 'running' && (startedAt < last.startedAt || last.state !== 'running')) return false;
    this.last = { resource, state, ...origin };
    this.pollError = undefined;
    this.own.shownBy(startedAt);
    this.wake();
    return state !== 'running';
  }

  /** Ends the waits for this job with an error. */
  fail(error: unknown): void {
    this.failure = { error };
    this.wake();
  }

  /** Sleeps until something is new, for at most `ms`; rejects with the reason of the signal. The timer is the sleeper's own. */
  async sleep(ms: number, signal: AbortSignal): Promise<void> {
    let wake: (() => void) | undefined;
    await sleep(Math.ceil(ms), signal, (resolve) => {
      wake = resolve;
      this.#sleepers.add(resolve);
    }).finally(() => wake && this.#sleepers.delete(wake));
  }

  /** Wakes the waits that sleep. No wait depends on this: a wait that is not woken checks when its timer fires. */
  wake(): void {
    for (const resolve of this.#sleepers) resolve();
    this.#sleepers.clear();
  }
}
