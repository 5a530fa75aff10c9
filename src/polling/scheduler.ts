import type { JobKind } from '../spec/job-status.ts';
import type { RateLimit } from '../spec/limits.ts';
import { startTimer } from '../util/abort.ts';
import { PollRate } from './poll-rate.ts';

/** How jobs are polled: by pages of a list, each on its own, or as it is cheaper. */
export type WaitsVia = 'list' | 'get' | undefined;

/** A request that is due at a time of `performance.now()`. */
export interface PollRequest {
  /** Queues take turns; the polls of one queue come in the order of `due`. */
  readonly queue: string;
  /** Name of the maximum that it counts against while it is in flight. */
  readonly limit: string;
  readonly due: number;
  /** Sends the request; never rejects. `onPermit` is called when the rate limit permits it. */
  run(onPermit: () => void): Promise<void>;
}

/** Jobs that are polled together. */
export interface PollGroup {
  /** Waits and watches under way. */
  readonly size: number;
  /** Polls that one round over all jobs takes; 0 while webhooks make polling a fallback. */
  readonly round: number;
  /** All polls that are not in flight, with `period` between two polls of one target. */
  polls(period: number): Iterable<PollRequest>;
  /** Takes the data of an event about one of the kinds; returns whether it brought a wait something new. */
  notify(kinds: readonly JobKind[], id: number, data: unknown): boolean;
}

/** Maximum polls in flight: `all` in total, `each` of one `limit`. */
const MAX_IN_FLIGHT = { all: 12, each: 6 } as const;

/** Returns whether `a` comes before `b`: of polls that are due, the one whose queue was served longer ago. */
function precedes(a: PollRequest, b: PollRequest, now: number, served: ReadonlyMap<string, number>): boolean {
  if (a.due > now || b.due > now || a.queue === b.queue) return a.due < b.due;
  return (served.get(a.queue) ?? 0) < (served.get(b.queue) ?? 0);
}

/** Starts the polls of all waits of a client, one by one as they are due, at one rate. */
export class Scheduler {
  readonly rate: PollRate;
  readonly via: WaitsVia;
  readonly #groups = new Set<PollGroup>();
  readonly #inFlight = new Set<PollRequest>();
  /** When queues were last served, as numbers that grow. */
  readonly #served = new Map<string, number>();
  #started = 0;
  /** A poll has started and waits for its permit. */
  #isQueued = false;
  #isPlanned = false;
  #stopTimer: (() => void) | undefined;

  constructor(rate: RateLimit, via: WaitsVia) {
    this.rate = new PollRate(rate);
    this.via = via;
  }

  /** Waits and watches under way. */
  get size(): number {
    return [...this.#groups].reduce((sum, group) => sum + group.size, 0);
  }

  /** Polls the jobs of a group; one that is polled already has changed. */
  add(group: PollGroup): void {
    this.#groups.add(group);
    this.wake();
  }

  remove(group: PollGroup): void {
    this.#groups.delete(group);
    if (this.#groups.size === 0) this.#stopTimer?.();
  }

  /** Plans the next poll again, once everything that changes together has changed. */
  wake(): void {
    if (this.#isPlanned || this.#isQueued) return;
    this.#isPlanned = true;
    queueMicrotask(() => {
      this.#isPlanned = false;
      this.#plan();
    });
  }

  /** Passes the data of an event to all groups; returns whether it brought a wait something new. */
  notify(kinds: readonly JobKind[], id: number, data: unknown): boolean {
    // Clients derived from one another may wait for the same job.
    return [...this.#groups].map((group) => group.notify(kinds, id, data)).includes(true);
  }

  #plan(): void {
    this.#stopTimer?.();
    while (!this.#isQueued && this.#inFlight.size < MAX_IN_FLIGHT.all) {
      const poll = this.#next();
      if (!poll) return;
      const wait = Math.max(poll.due - performance.now(), this.rate.wait());
      if (wait > 0) {
        this.#stopTimer = startTimer(wait, () => this.#plan());
        return;
      }
      void this.#start(poll);
    }
  }

  #next(): PollRequest | undefined {
    const now = performance.now();
    let round = 0;
    for (const group of this.#groups) round += group.round;
    const period = this.rate.period(round);
    let next: PollRequest | undefined;
    for (const group of this.#groups) {
      for (const poll of group.polls(period)) {
        const isFirst = !next || precedes(poll, next, now, this.#served);
        if (isFirst && (this.#inFlight.size < MAX_IN_FLIGHT.each || this.#isOpen(poll.limit))) next = poll;
      }
    }
    return next;
  }

  #isOpen(limit: string): boolean {
    return [...this.#inFlight].filter((poll) => poll.limit === limit).length < MAX_IN_FLIGHT.each;
  }

  /**
   * Only one poll at a time waits for its permit, and it counts when it receives it: polls that queue behind the
   * user's calls would otherwise leave together, above half of the bucket.
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
