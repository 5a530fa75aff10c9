import type { JobKind, JobResource, Progress } from '../../spec/job-status.ts';
import type { CallOptions } from '../http/request-options.ts';
import type { WaitSettings } from './wait-events.ts';

/** Where a state came from: a request for the resource, a page of a list, or a webhook event. */
export type UpdateSource = 'poll' | 'list' | 'webhook';

/** How a state was learned, and when. */
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
  readonly progress: Progress;
}

/** Receives the states of a job, for one wait or watch for instance. It unsubscribes when it receives the final state. */
export interface Subscriber<T> {
  onUpdate(update: JobUpdate<T>): void;
  onFailure(error: unknown): void;
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
  /** Returns the progress that a state shows. */
  readonly progressOf: (resource: JobResource) => Progress;
  /** Creates the error for an invalid id; nothing is sent. */
  invalidId(problem: string): Error;
  /** Settings of the namespace whose waits await the job. */
  readonly settings: WaitSettings;
}

/** Minimum time from the start of a job's last read to a requested refresh. */
const MIN_READ_GAP_MS = 2_000;

/** A job that is waited for, by one wait or several. */
export class Job<T extends JobResource> {
  readonly id: number;
  readonly source: JobSource<T>;
  readonly subscribers = new Set<Subscriber<T>>();
  readonly timer = new PollTimer();
  /** The page of the list that has shown it last together with other jobs, if one has. */
  page: number | undefined;
  /** Reason of the requested refresh, if any: a list row shows the end of the job, or its state may have changed. */
  refreshReason: 'ended' | 'changed' | undefined;
  /** When the requested refresh is due. */
  refreshAt = Number.NEGATIVE_INFINITY;
  #refreshRequestedAt = Number.NEGATIVE_INFINITY;
  /** Last known state. */
  last: JobUpdate<T> | undefined;
  /** When the poll that returned the last known state began, or its event arrived. */
  lastUpdateAt = Number.NEGATIVE_INFINITY;
  /** Error of the last poll, if it failed; another one will follow. */
  pollError: unknown;

  constructor(id: number, source: JobSource<T>) {
    this.id = id;
    this.source = source;
  }

  /**
   * Requests that the resource is read, at least `gap` milliseconds after its last read; cleared by the state of a poll
   * or event that begins later.
   */
  requestRefresh(reason: 'ended' | 'changed', gap = MIN_READ_GAP_MS): void {
    if (this.refreshReason !== 'ended') this.refreshReason = reason;
    this.refreshAt = this.timer.startedAt + gap;
    this.#refreshRequestedAt = performance.now();
  }

  /**
   * Delivers a state to all subscribers, unless a newer one is known; returns whether the job has ended.
   */
  update(resource: T, origin: UpdateOrigin): boolean {
    const { startedAt } = origin;
    const progress = this.source.progressOf(resource);
    // Ignore a running state if a newer state arrived during its poll. The end of a job counts in any order.
    if (startedAt < this.lastUpdateAt && progress === 'running') return false;
    if (startedAt >= this.#refreshRequestedAt) this.refreshReason = undefined;
    const update = { resource, progress, ...origin };
    this.last = update;
    this.lastUpdateAt = startedAt;
    this.pollError = undefined;
    for (const subscriber of [...this.subscribers]) this.#deliver(update, subscriber);
    return progress !== 'running';
  }

  /** Delivers the last known state to a new subscriber in a microtask, unless a newer state is delivered first. */
  deliverLast(last: JobUpdate<T>, subscriber: Subscriber<T>): void {
    queueMicrotask(() => this.#deliver(last, subscriber));
  }

  /** Delivers a state if it is still the latest and the subscriber has not unsubscribed. */
  #deliver(update: JobUpdate<T>, subscriber: Subscriber<T>): void {
    if (update === this.last && this.subscribers.has(subscriber)) subscriber.onUpdate(update);
  }

  /** Ends every wait for this job with an error. */
  fail(error: unknown): void {
    for (const subscriber of [...this.subscribers]) if (this.subscribers.has(subscriber)) subscriber.onFailure(error);
  }
}

/** Periods vary by up to a tenth, so that clients do not poll in step. */
const JITTER = 0.1;

/** The outcome of a poll that began at `startedAt`. */
export type PollOutcome<R> = { readonly startedAt: number; readonly callId: string | undefined } & (
  | { readonly result: R }
  | { readonly error: unknown }
);

/** Schedules the polls of one target: a job, or a list. Times are those of `performance.now()`. */
export class PollTimer {
  readonly createdAt = performance.now();
  /** When the target's last poll began. */
  startedAt = Number.NEGATIVE_INFINITY;
  /** Start of the current period: when the target's last poll, last sweep, or the last page that showed it began. */
  polledAt: number | undefined;
  #jitter = 1;
  pausedUntil = Number.NEGATIVE_INFINITY;
  /** Created with the first poll: many targets are never polled separately. */
  #inFlight: Set<AbortController> | undefined;

  get isInFlight(): boolean {
    return this.#inFlight !== undefined && this.#inFlight.size > 0;
  }

  /** Returns when the next poll is due: `period` (with jitter) after the last one began, or after a pause if later. */
  due(period: number): number {
    const next = this.polledAt === undefined ? this.createdAt : this.polledAt + period * this.#jitter;
    return Math.max(this.pausedUntil, next);
  }

  /** Delays the next regular poll by at least `ms`, as the service asked (`Retry-After`). */
  pause(ms: number): void {
    this.pausedUntil = performance.now() + ms;
  }

  /** Begins a period: the next poll is due after it. */
  begin(): void {
    this.startedAt = performance.now();
    this.polledAt = this.startedAt;
    this.#jitter = 1 - JITTER + 2 * JITTER * Math.random();
  }

  /**
   * Sends a poll; resolves with its outcome, or `undefined` if it was aborted. `poll` must pass the id of its call on.
   */
  async send<R>(
    poll: (signal: AbortSignal, onCall: (id: string) => void) => PromiseLike<R>,
  ): Promise<PollOutcome<R> | undefined> {
    const controller = new AbortController();
    const { signal } = controller;
    const startedAt = performance.now();
    let callId: string | undefined;
    this.#inFlight ??= new Set();
    this.#inFlight.add(controller);
    try {
      const result = await poll(signal, (id) => {
        callId = id;
      });
      return signal.aborted ? undefined : { startedAt, callId, result };
    } catch (error) {
      return signal.aborted ? undefined : { startedAt, callId, error };
    } finally {
      this.#inFlight.delete(controller);
    }
  }

  /** Aborts the polls in flight. */
  abort(): void {
    for (const controller of this.#inFlight ?? []) controller.abort();
    this.#inFlight?.clear();
  }
}
