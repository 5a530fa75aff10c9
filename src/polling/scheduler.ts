import type { JobKind } from '../spec/job-status.ts';
import type { RateLimit } from '../spec/limits.ts';
import { startTimer } from '../util/abort.ts';
import { Pace } from './poll-rate.ts';

/** How jobs are looked at: by pages of a list, by reads of their own, or as it is cheaper. */
export type WaitsVia = 'list' | 'get' | undefined;

/** Looks of one sort, which take turns with those of other sorts. */
export interface LookQueue {
  /** When it was last served, as a number that grows. */
  served: number;
  /** Looks that have been taken and not been answered, in all queues of pages, or of single reads. */
  readonly unanswered: { count: number };
}

/** The queues of a list, or of a kind without one, whatever options its reads have. */
export type LookQueues = Readonly<Record<'pages' | 'search' | 'ended' | 'changed' | 'fresh' | 'others', LookQueue>>;

/** A read that is due at a time of `performance.now()`. */
export interface Look {
  readonly queue: LookQueue;
  readonly due: number;
  /** Never rejects. `onPermit` is called whenever a request is about to be sent. */
  take(onPermit: () => void): Promise<void>;
}

/** Jobs that have to be looked at. */
export interface Schedulable {
  /** Waits under way. */
  readonly size: number;
  /** Looks of one round over all of them; 0 while events make looking a fallback. */
  readonly round: number;
  /** All looks that are not under way. */
  looks(period: number): Iterable<Look>;
  /** An event's data for one of the kinds. Returns whether it told a wait something new. */
  hear(kinds: readonly JobKind[], id: number, data: unknown): boolean;
}

/** A service that does not answer holds up no more looks than this, and of pages or single reads of one kind no more than that. */
const MOST_UNANSWERED = { all: 12, each: 6 } as const;

/** Which of two looks comes first: of those that are due, the one whose queue has waited longer. */
function precedes(one: Look, other: Look, now: number): boolean {
  const turns = one.due <= now && other.due <= now && one.queue !== other.queue;
  return turns ? one.queue.served < other.queue.served : one.due < other.due;
}

/** Takes the looks of all waits of a client, one by one as they are due, at the pace of all. */
export class Scheduler {
  readonly pace: Pace;
  readonly via: WaitsVia;
  readonly #groups = new Set<Schedulable>();
  readonly #queues = new Map<string, LookQueues>();
  #unanswered = 0;
  /** A look has been taken and not been sent yet. */
  #queued = false;
  #served = 0;
  #planned = false;
  /** Whether the next plan waits for the pace: nothing can start before, whatever changes. */
  #paced = false;
  #stopTimer = (): void => {};

  constructor(rate: RateLimit, via: WaitsVia) {
    this.pace = new Pace(rate);
    this.via = via;
  }

  /** Waits under way. */
  get size(): number {
    return [...this.#groups].reduce((sum, group) => sum + group.size, 0);
  }

  /** Jobs to look at; those added already stay. */
  add(group: Schedulable): void {
    this.#groups.add(group);
  }

  remove(group: Schedulable): void {
    this.#groups.delete(group);
    if (this.#groups.size > 0) return;
    this.#stopTimer();
    this.#paced = false;
  }

  /** The queues of a list or a kind, by its name. */
  queues(name: string): LookQueues {
    const [pages, reads] = [{ count: 0 }, { count: 0 }];
    const create = (unanswered: { count: number }): LookQueue => ({ served: 0, unanswered });
    const known = this.#queues.get(name) ?? {
      pages: create(pages),
      search: create(pages),
      ended: create(reads),
      changed: create(reads),
      fresh: create(reads),
      others: create(reads),
    };
    this.#queues.set(name, known);
    return known;
  }

  /** Something has changed: plan anew, once everything that changes together has. */
  wake(): void {
    if (this.#planned || this.#queued || this.#paced) return;
    this.#planned = true;
    queueMicrotask(() => {
      this.#planned = false;
      this.#plan();
    });
  }

  /** Hands an event's data to the groups. Returns whether it told a wait something new. */
  hear(kinds: readonly JobKind[], id: number, data: unknown): boolean {
    // All hear it: clients derived from one another may wait for the same job.
    return [...this.#groups].map((group) => group.hear(kinds, id, data)).includes(true);
  }

  #plan(): void {
    this.#stopTimer();
    this.#paced = false;
    while (!this.#queued && this.#unanswered < MOST_UNANSWERED.all) {
      const look = this.#first();
      if (!look) return;
      const due = look.due - performance.now();
      const pace = this.pace.wait();
      if (Math.max(due, pace) > 0) {
        this.#paced = pace >= due;
        this.#stopTimer = startTimer(Math.max(due, pace), () => this.#plan());
        return;
      }
      void this.#take(look);
    }
  }

  #first(): Look | undefined {
    const now = performance.now();
    const period = this.pace.period([...this.#groups].reduce((sum, group) => sum + group.round, 0));
    let first: Look | undefined;
    for (const group of this.#groups) {
      for (const look of group.looks(period)) {
        const free = look.queue.unanswered.count < MOST_UNANSWERED.each;
        if (free && (!first || precedes(look, first, now))) first = look;
      }
    }
    return first;
  }

  /** One look at a time stands in the queue of the bucket, and counts when it leaves it. */
  async #take(look: Look): Promise<void> {
    const { queue } = look;
    queue.served = ++this.#served;
    queue.unanswered.count++;
    this.#unanswered++;
    this.#queued = true;
    let sent = false;
    const onPermit = (): void => {
      this.pace.spend();
      if (sent) return;
      sent = true;
      this.#queued = false;
      this.wake();
    };
    try {
      await look.take(onPermit);
    } finally {
      // One that failed before it could be sent counts, too.
      if (!sent) onPermit();
      queue.unanswered.count--;
      this.#unanswered--;
      this.wake();
    }
  }
}
