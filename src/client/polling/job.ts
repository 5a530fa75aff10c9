import type { JobKind, JobResource, JobState, StatusFields } from '../../spec/job-status.ts';
import { abortable, startTimer } from '../../util/abort.ts';
import type { CallOptions } from '../http/request-options.ts';
import type { WaitSettings } from './wait-events.ts';

/** Minimum time from the start of a target's last poll to the start of a requested poll, in milliseconds. */
const MIN_GAP_MS = 2_000;

/** Where a state came from: a request for the resource, a page of a list, or a webhook event. */
export type UpdateSource = 'poll' | 'list' | 'webhook';

/** Source and time of a state. */
export interface UpdateOrigin {
  readonly source: UpdateSource;
  /** Time at which the poll began or the webhook event arrived. */
  readonly startedAt: number;
  /** Id of the call. Not set for a webhook event. */
  readonly callId?: string | undefined;
}

/** A state of a job's resource. */
export interface JobUpdate<T> extends UpdateOrigin {
  readonly resource: T;
  readonly state: JobState;
}

/** The parts of a resource that a list row or a webhook event contains. */
export interface JobRow<T> {
  readonly id: number;
  /** Id of the status, if the row or event contains a status. */
  readonly status?: number | undefined;
  /** The resource, if the row or event contains all documented fields. */
  readonly resource?: T | undefined;
}

/** A kind of job, with the functions that read its resource. */
export interface JobSource<T extends JobResource> {
  readonly kind: JobKind;
  read(id: number, options: CallOptions): PromiseLike<T>;
  /** Decodes the data of a webhook event. Returns `undefined` if the data do not contain the resource. */
  decode(data: unknown): JobRow<T> | undefined;
  /** Returns whether this client has created the resource so recently that a read might not find it yet. */
  mayBeInvisible(id: number): boolean;
  /** Returns the state of the job from the status of its resource. */
  readonly stateOf: (resource: StatusFields) => JobState;
  /** Creates the error for an invalid id, for which no request is sent. */
  invalidId(problem: string): Error;
  /** Settings of the namespace to which the waits belong. */
  readonly settings: WaitSettings;
}

/**
 * Kind of a poll. A `page` poll reads several jobs. A `refresh` poll reads one job urgently, because its state is
 * unknown or it may have ended. A `single` poll is any other read of one job. The kinds take turns.
 */
export type PollKind = 'page' | 'single' | 'refresh';

/** The target of polls: a page of a list or a single resource, with the poll times that its waits share. */
export class PollTarget<J extends Pick<Job<never>, 'wake'> = Pick<Job<never>, 'wake'>> {
  /** The jobs that a poll of this target shows. Their waits send the polls. */
  readonly jobs: Set<J>;
  /**
   * Reads the target and passes the states to its jobs; never rejects. `onPermit` is called when the rate limit permits
   * the request.
   */
  readonly read: (signal: AbortSignal, onPermit: () => void) => Promise<void>;
  kind: PollKind = 'single';
  /** True if the poll may precede other polls at the poll rate. */
  isUrgent = false;
  /** Time at which the next poll is due. */
  dueAt = Number.NEGATIVE_INFINITY;
  /** Time at which the last poll of this target began. */
  startedAt = Number.NEGATIVE_INFINITY;
  /**
   * Start of the current period: the time at which the last poll of this target began, or a later poll that also showed
   * its job.
   */
  periodFrom = Number.NEGATIVE_INFINITY;
  /** Earliest time of the next poll, if the service has asked for a pause or a search has just begun. */
  pausedUntil = Number.NEGATIVE_INFINITY;
  /** Time until which a poll counts as in flight: its end, or shortly after its last heartbeat. */
  inFlightUntil = Number.NEGATIVE_INFINITY;
  /** Latest time at which a wait checks this target again. After that, the target may have no wait that polls it. */
  expectedUntil = Number.NEGATIVE_INFINITY;
  #requested: { readonly at: number; readonly kind: PollKind } | undefined;

  constructor(jobs: Set<J>, read: PollTarget['read']) {
    this.jobs = jobs;
    this.read = read;
  }

  /** Requests a poll as soon as possible, in addition to a poll in flight. */
  request(kind: PollKind): void {
    this.#requested = { at: performance.now(), kind };
    this.wake();
  }

  get isRequested(): boolean {
    return this.#requested !== undefined;
  }

  /** Plans the next poll one period after the last poll, unless a wait has requested an earlier poll. */
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

  /** Records that a poll that began at `startedAt` shows the job of this target. */
  shownBy(startedAt: number): void {
    this.periodFrom = startedAt;
    if (this.#requested && this.#requested.at <= startedAt) this.#requested = undefined;
  }

  /** Returns whether a wait could poll the target now. */
  isReady(now: number): boolean {
    return this.dueAt <= now && this.inFlightUntil <= now && this.expectedUntil >= now;
  }

  wake(): void {
    for (const job of this.jobs) job.wake();
  }
}

/** The data that all waits for a job share: its last state, its page in the list, and the sleeping waits. */
export class Job<T extends JobResource> {
  readonly createdAt = performance.now();
  readonly id: number;
  readonly source: JobSource<T>;
  readonly own: PollTarget<Job<T>>;
  /** The page of the list that shows the job, if the page shows enough jobs. */
  page: PollTarget<Job<T>> | undefined;
  /** Earliest time of a search for the job, if no page shows the job. */
  searchFrom = Number.NEGATIVE_INFINITY;
  /** Number of waits and watches of this job. */
  waits = 0;
  /** Last known state. */
  last: JobUpdate<T> | undefined;
  /** Error of the last poll, if the poll failed and the waits continue. */
  pollError: unknown;
  /** Error with which the waits for the job failed. */
  failure: { readonly error: unknown } | undefined;
  readonly #sleepers = new Set<() => void>();

  constructor(id: number, source: JobSource<T>, read: PollTarget['read']) {
    this.id = id;
    this.source = source;
    this.own = new PollTarget<Job<T>>(new Set([this]), read);
    this.own.request('refresh');
  }

  /** Records a state, unless a newer state is known. Returns whether the state is the end of the job. */
  update(resource: T, origin: UpdateOrigin): boolean {
    const { startedAt } = origin;
    const { last } = this;
    const state = this.source.stateOf(resource);
    // Ignore a running state if a newer state arrived during its poll. Never ignore the end of a job.
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

  /**
   * Sleeps until `wake` is called, at most `ms` milliseconds. Rejects with the reason of the signal. Each sleeping wait
   * has its own timer.
   */
  async sleep(ms: number, signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#sleepers.add(resolve);
    const stopTimer = startTimer(Math.ceil(ms), resolve);
    try {
      await abortable(promise, signal);
    } finally {
      stopTimer();
      this.#sleepers.delete(resolve);
    }
  }

  /** Wakes the sleeping waits. A wait that is not woken checks for changes when its timer fires. */
  wake(): void {
    for (const resolve of this.#sleepers) resolve();
    this.#sleepers.clear();
  }
}
