import type { JobKind } from '../../spec/job-status.ts';
import type { RateLimit } from '../../spec/limits.ts';
import type { PollKind, PollTarget } from './job.ts';
import { PollRate } from './poll-rate.ts';

/** How jobs are polled: via pages of a list, one by one, or (`undefined`) in the way that takes fewer requests. */
export type WaitsVia = 'list' | 'get' | undefined;

/** Maximum duration of a poll, including its waits for a token and a permit. */
export const POLL_DEADLINE_MS = 120_000;
/**
 * Time for which a poll counts as in flight after its last heartbeat, because a Worker drops the polls of ended
 * requests.
 */
const POLL_LEASE_MS = 3_000;
/** Delay of a wait's check after which other targets go first. */
const ATTENTION_GRACE_MS = 1_000;
/**
 * Number of polls after which a kind without a poll goes first. Otherwise, the target that is overdue for the longest
 * time goes first.
 */
const MAX_POLLS_OF_OTHERS = 2;
/** Maximum targets to count for an estimate of the time until a turn. */
const MAX_COUNTED = 60;

/** Receives the events of webhooks for the jobs of a table. */
interface EventReceiver {
  notify(kinds: readonly JobKind[], id: number, data: unknown): boolean;
}

/**
 * The data that all waits of a client share about their polls: the rate, and the order. It sends nothing: each wait
 * asks whether it may poll its target, polls it or sleeps with its own timer, and asks again.
 */
export class SharedPolls {
  readonly rate: PollRate;
  readonly via: WaitsVia;
  readonly tables = new Set<EventReceiver>();
  /** Number of waits and watches under way. */
  size = 0;
  /** Targets by kind; the one whose last poll began first comes first. */
  readonly #targets: Readonly<Record<PollKind, Set<PollTarget>>> = {
    page: new Set(),
    single: new Set(),
    refresh: new Set(),
  };
  /** Number of polls, and the number of the last one of each kind. */
  #polls = 0;
  readonly #lastPoll: Record<PollKind, number> = { page: 0, single: 0, refresh: 0 };
  /** Until when a poll that waits for its permit keeps others from being sent. */
  #queuedUntil = Number.NEGATIVE_INFINITY;

  constructor(rate: RateLimit, via: WaitsVia) {
    this.rate = new PollRate(rate);
    this.via = via;
  }

  /** Period between two polls of one target, if the rate permits it. Milliseconds. */
  get period(): number {
    return this.rate.period(this.#count);
  }

  /** Time in which every target is polled once. Milliseconds. */
  get round(): number {
    return Math.max(this.period, this.#count * this.rate.evenSpacing);
  }

  /** Passes the data of an event to all tables; returns whether a wait took the resource from it. */
  notify(kinds: readonly JobKind[], id: number, data: unknown): boolean {
    // Notify every table: several may contain the same job, for example the tables of clients made by `withOptions`.
    return [...this.tables].map((table) => table.notify(kinds, id, data)).includes(true);
  }

  /** Returns the milliseconds after which a wait looks at its target again; 0 if it polls the target now. */
  wait(target: PollTarget): number {
    const now = performance.now();
    this.attend(target, 0);
    const busy = Math.max(target.inFlightUntil, target.dueAt) - now;
    if (busy > 0) return busy;
    const { evenSpacing } = this.rate;
    const isQueued = this.#queuedUntil > now;
    const free = isQueued ? evenSpacing : this.rate.wait(target.isUrgent);
    if (free > 0) return free + this.#readyBefore(target, now) * evenSpacing;
    const next = this.#next(now);
    if (next === undefined || next === target) return 0;
    // If no wait of the job is active now, its poll is skipped.
    next.attendedUntil = Number.NEGATIVE_INFINITY;
    next.wake();
    return (1 + this.#readyBefore(target, now)) * evenSpacing;
  }

  /** Records that a wait will look at the target within `ms`. */
  attend(target: PollTarget, ms: number): void {
    target.attendedUntil = Math.max(target.attendedUntil, performance.now() + ms + ATTENTION_GRACE_MS);
    if (this.#targets[target.kind].has(target)) return;
    this.remove(target);
    this.#targets[target.kind].add(target);
  }

  /** Forgets a target, because no job needs it any longer. */
  remove(target: PollTarget): void {
    for (const targets of Object.values(this.#targets)) targets.delete(target);
  }

  /**
   * Polls a target. Only one poll at a time waits for its permit, and it counts towards the rate when permitted: several
   * polls queued behind the user's calls would be sent together and could exceed half of the bucket.
   */
  async poll(target: PollTarget, signal: AbortSignal): Promise<void> {
    target.begin();
    this.remove(target);
    this.#targets[target.kind].add(target);
    this.#lastPoll[target.kind] = ++this.#polls;
    let isPermitted = false;
    const renew = (): void => {
      target.inFlightUntil = performance.now() + POLL_LEASE_MS;
      if (!isPermitted) this.#queuedUntil = target.inFlightUntil;
    };
    renew();
    const timer = setInterval(renew, POLL_LEASE_MS / 3);
    const onPermit = (): void => {
      this.rate.consume();
      if (isPermitted) return;
      isPermitted = true;
      this.#queuedUntil = Number.NEGATIVE_INFINITY;
      this.#wakeNext();
    };
    try {
      await target.read(signal, onPermit);
    } finally {
      clearInterval(timer);
      // A poll that failed before its permit counts, too.
      if (!isPermitted) onPermit();
      target.inFlightUntil = Number.NEGATIVE_INFINITY;
      target.attendedUntil = performance.now() + ATTENTION_GRACE_MS;
      target.wake();
    }
  }

  get #count(): number {
    const { page, single, refresh } = this.#targets;
    return page.size + single.size + refresh.size;
  }

  #wakeNext(): void {
    const now = performance.now();
    if (this.rate.wait(true) === 0) this.#next(now)?.wake();
  }

  /** Returns the next target that the rate permits to poll now. */
  #next(now: number): PollTarget | undefined {
    const isFree = this.rate.wait(false) === 0;
    let next: PollTarget | undefined;
    for (const targets of Object.values(this.#targets)) {
      for (const target of targets) {
        if (!target.isReady(now) || !(isFree || target.isUrgent)) continue;
        if (!next || this.#precedes(target, next)) next = target;
        break;
      }
    }
    return next;
  }

  #precedes(a: PollTarget, b: PollTarget): boolean {
    const [pollsSinceA, pollsSinceB] = [this.#polls - this.#lastPoll[a.kind], this.#polls - this.#lastPoll[b.kind]];
    if (Math.max(pollsSinceA, pollsSinceB) >= MAX_POLLS_OF_OTHERS) return pollsSinceA > pollsSinceB;
    return a.dueAt < b.dueAt;
  }

  /** Returns the number of targets of the same kind that are polled before this one, up to a maximum. */
  #readyBefore(target: PollTarget, now: number): number {
    let count = 0;
    for (const other of this.#targets[target.kind]) {
      if (other === target || count >= MAX_COUNTED) break;
      if (other.isReady(now)) count++;
    }
    return count;
  }
}
