import type { JobKind, JobResource, Progress } from '../../spec/job-status.ts';
import type { RateLimit } from '../../spec/limits.ts';
import { onAbort, startTimer } from '../../util/abort.ts';
import type { Subscriber, UpdateSource } from './job.ts';
import { type PollPlan, PollRate, type Urgency } from './poll-rate.ts';

/** How jobs are polled: via pages of a list, one by one, or (`undefined`) in the way that takes fewer requests. */
export type WaitsVia = 'list' | 'get' | undefined;

/** A poll that is to be sent at `due`, a time of `performance.now()`, or later. */
export interface PollRequest {
  /** Name of its queue. Queues take turns; within a queue, the poll with the earliest `due` is sent first. */
  readonly queue: string;
  /** Polls with the same `limit` share a maximum of polls in flight. */
  readonly limit: string;
  readonly due: number;
  readonly urgency: Urgency;
  /** Sends the request; never rejects. `onPermit` is called when the rate limit permits it. */
  run(onPermit: () => void): Promise<void>;
}

/** Jobs that are polled together. */
export interface PollGroup {
  /** Number of waits and watches under way. */
  readonly size: number;
  /** False if its polls are those of one wait, with request options. */
  readonly isShared: boolean;
  /** Number of polls that read every job once; 0 while webhooks are healthy. */
  readonly pollsPerRound: number;
  /** Number of pages and separately polled jobs that are followed closely, because they are new. */
  readonly recentTargets: number;
  /** When its newest wait began. */
  readonly newestAt: number;
  /** Yields the polls that may be sent next: the first of each queue. */
  polls(plan: PollPlan): Iterable<PollRequest>;
  /** Passes the data of an event to the waits for its job; returns whether they took the resource from it. */
  notify(kinds: readonly JobKind[], id: number, data: unknown): boolean;
  /** Delivers a state of a job that was learned elsewhere. */
  deliver(kind: string, id: number, resource: JobResource, source: UpdateSource): void;
  /** Ends the waits for a job with an error that was met elsewhere. */
  failJob(kind: string, id: number, error: unknown): void;
  /** Ends every wait with an error. */
  fail(error: unknown): void;
}

/** How the jobs of one kind are polled. */
export interface JobTarget {
  /** Schedules polls of a job until the subscriber is unsubscribed. */
  subscribe(id: number, subscriber: Subscriber<JobResource>): JobSubscription;
  /** Returns the resource in the data of an event, if they are complete. */
  decode(data: unknown): JobResource | undefined;
  /** Returns the progress that a state of a resource shows. */
  readonly progressOf: (resource: JobResource) => Progress;
}

/** A subscription to the states of one job. */
export interface JobSubscription {
  /** Schedules a poll of the job as soon as possible. */
  refresh(): void;
  unsubscribe(): void;
}

/** Observes the waits and polls of a scheduler; while `polls` is false, its jobs are polled elsewhere. */
export interface WaitObserver {
  readonly polls: boolean;
  /** Called when a wait or watch for a job starts, and when it ends. */
  onStart(kind: JobKind, id: number): void;
  onEnd(kind: JobKind, id: number): void;
  /** Called when a wait needs the state of a job as soon as possible. */
  onRefresh(kind: JobKind, id: number): void;
  /** Called with the data of each event. */
  onEvent(kinds: readonly JobKind[], id: number, data: unknown): void;
  /** Called when a poll is sent, and when it has ended, with an error if it has failed. */
  onPoll(): void;
  onPollEnd(error?: unknown): void;
  /** Called when the scheduler is closed. */
  close(): Promise<void>;
}

/** Maximum polls in flight: `all` in total, `each` for polls with the same `limit`. */
const MAX_IN_FLIGHT = { all: 12, each: 6 } as const;

/** A poll, and when the rate allows it. */
interface PlannedPoll {
  readonly poll: PollRequest;
  readonly readyAt: number;
}

/** Returns whether to send `a` before `b`: if both may be sent, by the queue served longer ago, otherwise by the time. */
function precedes(a: PlannedPoll, b: PlannedPoll, now: number, served: ReadonlyMap<string, number>): boolean {
  if (a.readyAt > now || b.readyAt > now || a.poll.queue === b.poll.queue) {
    return a.readyAt < b.readyAt || (a.readyAt === b.readyAt && a.poll.due < b.poll.due);
  }
  return (served.get(a.poll.queue) ?? 0) < (served.get(b.poll.queue) ?? 0);
}

/** Options of a {@link Scheduler}. */
export interface SchedulerOptions {
  readonly rate: RateLimit;
  readonly via: WaitsVia;
  /** Ends every wait when it aborts. */
  readonly closing: AbortSignal;
}

/** Starts the polls of all waits of a client, each when it is due and the shared poll rate allows it. */
export class Scheduler {
  readonly rate: PollRate;
  readonly via: WaitsVia;
  /** Set by what attaches to the waits, before the first one. */
  observer: WaitObserver | undefined;
  /** After the end of the client: resolves when the observer has ended, too. */
  closed: Promise<void> | undefined;
  readonly #targets = new Map<string, JobTarget>();
  readonly #groups = new Set<PollGroup>();
  /** Polls in flight, and when each was sent; `Infinity` while it waits for its permit. */
  readonly #inFlight = new Map<PollRequest, number>();
  /** Sequence number of the last poll of each queue. */
  readonly #served = new Map<string, number>();
  #started = 0;
  /** Set while a started poll waits for its permit. */
  #isQueued = false;
  #isPlanned = false;
  #stopTimer: (() => void) | undefined;

  constructor({ rate, via, closing }: SchedulerOptions) {
    this.rate = new PollRate(rate);
    this.via = via;
    onAbort(closing, () => {
      this.closed = this.observer?.close();
      for (const group of [...this.#groups]) group.fail(closing.reason);
    });
  }

  /** Number of waits and watches under way. */
  get size(): number {
    return [...this.#groups].reduce((sum, group) => sum + group.size, 0);
  }

  /** Milliseconds since the oldest of the polls in flight was sent; negative without one. */
  get oldestPollAge(): number {
    return performance.now() - Math.min(...this.#inFlight.values());
  }

  /** Registers how the jobs of a kind are polled. The first registration counts. */
  register(kind: JobKind, target: JobTarget): void {
    if (!this.#targets.has(kind)) this.#targets.set(kind, target);
  }

  /** Returns how the jobs of a kind are polled. */
  target(kind: string): JobTarget | undefined {
    return this.#targets.get(kind);
  }

  /** Delivers a state of a job that was learned elsewhere. */
  deliver(kind: string, id: number, resource: JobResource, source: UpdateSource): void {
    for (const group of [...this.#groups]) group.deliver(kind, id, resource, source);
  }

  /** Ends the waits for a job with an error that was met elsewhere. */
  failJob(kind: string, id: number, error: unknown): void {
    // Waits with request options may use another token.
    for (const group of [...this.#groups]) if (group.isShared) group.failJob(kind, id, error);
  }

  /** Polls the jobs of a group. For a group that is already polled, plans again, because its jobs have changed. */
  add(group: PollGroup): void {
    this.#groups.add(group);
    this.wake();
  }

  remove(group: PollGroup): void {
    this.#groups.delete(group);
    if (this.#groups.size === 0) this.#stopTimer?.();
  }

  /** Plans the next poll in a microtask, so that several changes in a row are planned together. */
  wake(): void {
    if (this.#isPlanned || this.#isQueued) return;
    this.#isPlanned = true;
    queueMicrotask(() => {
      this.#isPlanned = false;
      this.#plan();
    });
  }

  /** Passes the data of an event to all groups; returns whether a wait took the resource from it. */
  notify(kinds: readonly JobKind[], id: number, data: unknown): boolean {
    this.observer?.onEvent(kinds, id, data);
    // Notify every group: several may poll the same job, such as those of clients made by `withOptions`.
    return [...this.#groups].map((group) => group.notify(kinds, id, data)).includes(true);
  }

  #plan(): void {
    this.#stopTimer?.();
    while (!this.#isQueued && this.#inFlight.size < MAX_IN_FLIGHT.all) {
      const next = this.#next();
      if (!next) return;
      const wait = next.readyAt - performance.now();
      if (wait > 0) {
        this.#stopTimer = startTimer(wait, () => this.#plan());
        return;
      }
      void this.#start(next.poll);
    }
  }

  #next(): PlannedPoll | undefined {
    const now = performance.now();
    const load = { pollsPerRound: 0, recentTargets: 0, newestAge: Number.POSITIVE_INFINITY };
    const areSharedPolled = this.observer?.polls !== false;
    const groups = [...this.#groups].filter(({ isShared }) => areSharedPolled || !isShared);
    for (const { pollsPerRound, recentTargets, newestAt } of groups) {
      load.pollsPerRound += pollsPerRound;
      load.recentTargets += recentTargets;
      load.newestAge = Math.min(load.newestAge, now - newestAt);
    }
    const plan = this.rate.plan(load);
    let next: PlannedPoll | undefined;
    for (const group of groups) {
      for (const poll of group.polls(plan)) {
        const planned = { poll, readyAt: Math.max(poll.due, now + plan.wait[poll.urgency]) };
        const isFirst = !next || precedes(planned, next, now, this.#served);
        if (isFirst && (this.#inFlight.size < MAX_IN_FLIGHT.each || this.#isOpen(poll.limit))) next = planned;
      }
    }
    return next;
  }

  #isOpen(limit: string): boolean {
    return [...this.#inFlight.keys()].filter((poll) => poll.limit === limit).length < MAX_IN_FLIGHT.each;
  }

  /**
   * Starts a poll. Only one poll at a time waits for its permit, and it counts towards the rate when permitted: several
   * polls queued behind the user's calls would be sent together and could exceed half of the bucket.
   */
  async #start(poll: PollRequest): Promise<void> {
    this.#served.set(poll.queue, ++this.#started);
    this.#inFlight.set(poll, Number.POSITIVE_INFINITY);
    this.#isQueued = true;
    let isPermitted = false;
    const onPermit = (): void => {
      this.rate.consume();
      this.observer?.onPoll();
      if (isPermitted) return;
      isPermitted = true;
      this.#inFlight.set(poll, performance.now());
      this.#isQueued = false;
      this.wake();
    };
    try {
      await poll.run(onPermit);
    } finally {
      // A poll that failed before its permit counts, too.
      if (!isPermitted) onPermit();
      this.#inFlight.delete(poll);
      this.wake();
    }
  }
}
