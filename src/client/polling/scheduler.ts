import type { JobKind } from '../../spec/job-status.ts';
import type { RateLimit } from '../../spec/limits.ts';
import { onAbort, startTimer } from '../../util/abort.ts';
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
  /** Ends every wait with an error. */
  fail(error: unknown): void;
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
  readonly #groups = new Set<PollGroup>();
  readonly #inFlight = new Set<PollRequest>();
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
      for (const group of [...this.#groups]) group.fail(closing.reason);
    });
  }

  /** Number of waits and watches under way. */
  get size(): number {
    return [...this.#groups].reduce((sum, group) => sum + group.size, 0);
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
    for (const { pollsPerRound, recentTargets, newestAt } of this.#groups) {
      load.pollsPerRound += pollsPerRound;
      load.recentTargets += recentTargets;
      load.newestAge = Math.min(load.newestAge, now - newestAt);
    }
    const plan = this.rate.plan(load);
    let next: PlannedPoll | undefined;
    for (const group of this.#groups) {
      for (const poll of group.polls(plan)) {
        const planned = { poll, readyAt: Math.max(poll.due, now + plan.wait[poll.urgency]) };
        const isFirst = !next || precedes(planned, next, now, this.#served);
        if (isFirst && (this.#inFlight.size < MAX_IN_FLIGHT.each || this.#isOpen(poll.limit))) next = planned;
      }
    }
    return next;
  }

  #isOpen(limit: string): boolean {
    return [...this.#inFlight].filter((poll) => poll.limit === limit).length < MAX_IN_FLIGHT.each;
  }

  /**
   * Starts a poll. Only one poll at a time waits for its permit, and it counts towards the rate when permitted: several
   * polls queued behind the user's calls would be sent together and could exceed half of the bucket.
   */
  async #start(poll: PollRequest): Promise<void> {
    this.#served.set(poll.queue, ++this.#started);
    this.#inFlight.add(poll);
    this.#isQueued = true;
    let isPermitted = false;
    const onPermit = (): void => {
      this.rate.consume();
      if (isPermitted) return;
      isPermitted = true;
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
