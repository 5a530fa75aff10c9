import type { CallOptions } from '../http/index.ts';
import { type JobKind, type Observed, type Progress, progressOf } from '../spec/job-status.ts';

/** How a state was learned: by a request for the resource, from a page of a list, or from a webhook event. */
export type UpdateSource = 'poll' | 'list' | 'webhook';

/** A state of a job's resource. */
export interface JobUpdate<T> {
  readonly resource: T;
  readonly progress: Progress;
  readonly source: UpdateSource;
}

/** One wait or watch. It unsubscribes when it receives the end of its job. */
export interface Subscriber<T> {
  onUpdate(update: JobUpdate<T>): void;
  /** A poll failed; the next one follows. */
  onPollError(error: unknown): void;
  onFailure(error: unknown): void;
}

/** A resource as far as a list row or an event shows it. */
export interface JobRow<T> {
  readonly id: number;
  /** Id of the status, if shown. */
  readonly status?: number | undefined;
  /** The resource, if no documented field is left out. */
  readonly resource?: T | undefined;
}

/** A kind of job, and how its resource is read. */
export interface JobSource<T extends Observed> {
  readonly kind: JobKind;
  read(id: number, options: CallOptions): PromiseLike<T>;
  /** Decodes the data of an event; `undefined` if it shows no resource. */
  decode(data: unknown): JobRow<T> | undefined;
  /** Creates the error for an invalid id; nothing is sent. */
  invalidId(problem: string): Error;
  /** Logs that a callback threw. */
  warn(message: string): void;
}

/** A job that is waited for, by one wait or several. */
export class Job<T extends Observed> {
  readonly id: number;
  readonly source: JobSource<T>;
  readonly subscribers = new Set<Subscriber<T>>();
  readonly timer = new PollTimer();
  /** When the list is searched for it again; `undefined` unless the list has not shown it. */
  searchAgainAt: number | undefined;
  /** Why it has to be read soon, if a refresh was requested. */
  refreshReason: 'ended' | 'changed' | undefined;
  #refreshRequestedAt = Number.NEGATIVE_INFINITY;
  /** Last known state, and when the poll that showed it began. */
  last: JobUpdate<T> | undefined;
  shownAt = Number.NEGATIVE_INFINITY;

  constructor(id: number, source: JobSource<T>) {
    this.id = id;
    this.source = source;
  }

  /** Has the resource read soon, until a poll that begins after this has shown it. */
  requestRefresh(reason: 'ended' | 'changed'): void {
    if (this.refreshReason !== 'ended') this.refreshReason = reason;
    this.#refreshRequestedAt = performance.now();
  }

  /** Delivers a state shown by a poll that began at `startedAt`; returns whether the job has ended. */
  update(resource: T, source: UpdateSource, startedAt: number): boolean {
    const progress = progressOf(this.source.kind, resource);
    // The response was under way while something newer arrived; an end is final in any order.
    if (startedAt < this.shownAt && progress === 'running') return false;
    if (startedAt >= this.#refreshRequestedAt) this.refreshReason = undefined;
    const update = { resource, progress, source };
    this.last = update;
    this.shownAt = startedAt;
    for (const subscriber of [...this.subscribers]) this.#deliver(update, subscriber);
    return progress !== 'running';
  }

  /** Delivers the last known state to a subscriber that has joined, unless a newer one comes first. */
  deliverLast(last: JobUpdate<T>, subscriber: Subscriber<T>): void {
    queueMicrotask(() => this.#deliver(last, subscriber));
  }

  /** Delivers a state to a subscriber that has not left, unless a newer one has come. */
  #deliver(update: JobUpdate<T>, subscriber: Subscriber<T>): void {
    if (update === this.last && this.subscribers.has(subscriber)) subscriber.onUpdate(update);
  }

  /** Reports a failed poll that is repeated. */
  reportPollError(error: unknown): void {
    for (const subscriber of this.subscribers) subscriber.onPollError(error);
  }

  /** Ends every wait with an error. */
  fail(error: unknown): void {
    for (const subscriber of [...this.subscribers]) if (this.subscribers.has(subscriber)) subscriber.onFailure(error);
  }
}

/** Periods vary by up to a tenth, so that clients do not poll in step. */
const JITTER = 0.1;

/** The outcome of a poll that began at `startedAt`. */
export type PollOutcome<R> =
  | { readonly startedAt: number; readonly result: R }
  | { readonly startedAt: number; readonly error: unknown };

/** Polls of one target: when the next one is due, and the one in flight. Times are those of `performance.now()`. */
export class PollTimer {
  readonly createdAt = performance.now();
  /** When its last poll began. */
  startedAt = Number.NEGATIVE_INFINITY;
  /** When the last poll that could have shown the target began; another target's may have. */
  polledAt: number | undefined;
  #jitter = 1;
  #pausedUntil = Number.NEGATIVE_INFINITY;
  /** Aborts the poll in flight, if there is one. */
  inFlight: AbortController | undefined;

  /** When the next poll is due, with `period` between the beginnings of two polls. */
  due(period: number): number {
    const next = this.polledAt === undefined ? this.createdAt : this.polledAt + period * this.#jitter;
    return Math.max(this.#pausedUntil, next);
  }

  /** Lets no poll be due for `ms`: the service asked for the pause. */
  pause(ms: number): void {
    this.#pausedUntil = performance.now() + ms;
  }

  /** Sends a poll; resolves with its outcome, or `undefined` if it was aborted. The next one is due after a period in any case. */
  async run<R>(poll: (signal: AbortSignal) => PromiseLike<R>): Promise<PollOutcome<R> | undefined> {
    const controller = new AbortController();
    const { signal } = controller;
    const startedAt = performance.now();
    this.inFlight = controller;
    this.startedAt = startedAt;
    this.polledAt = startedAt;
    this.#jitter = 1 - JITTER + 2 * JITTER * Math.random();
    try {
      const result = await poll(signal);
      return signal.aborted ? undefined : { startedAt, result };
    } catch (error) {
      return signal.aborted ? undefined : { startedAt, error };
    } finally {
      if (this.inFlight === controller) this.inFlight = undefined;
    }
  }

  /** Aborts the poll in flight. */
  abort(): void {
    this.inFlight?.abort();
    this.inFlight = undefined;
  }
}
