import type { JobKind } from '../../spec/job-status.ts';
import type { RateLimit } from '../../spec/limits.ts';
import type { PollKind, PollTarget } from './job.ts';
import { PollRate } from './poll-rate.ts';

/** How waits poll jobs: by reading pages of a list, by reading each job, or (`undefined`) with the fewest requests. */
export type WaitsVia = 'list' | 'get' | undefined;

/** Maximum duration of a poll in milliseconds, including the time to get a token and a permit. */
export const POLL_DEADLINE_MS = 120_000;
/**
 * Milliseconds for which a poll counts as in flight after its last heartbeat. When a Worker request ends, the runtime
 * drops its polls.
 */
const POLL_LEASE_MS = 3_000;
/** Milliseconds by which a wait may be late to check its target. After that, the target counts as having no wait. */
const GRACE_MS = 1_000;
/** Milliseconds after which a target is removed if no wait has checked it: a Worker has probably dropped its waits. */
const ABANDONED_MS = 60_000;
/** Maximum number of targets to count when estimating the time until a target's turn. */
const MAX_COUNTED = 60;

/**
 * Rate and order of the polls of all waits of a client. This class only decides: each wait asks for the turn of its
 * target, polls the target or sleeps, and asks again.
 *
 * When a Worker request ends, its waits disappear without notice. So after a target has had its turn, it is skipped
 * until one of its waits checks it again.
 */
export class SharedPolls {
  readonly rate: PollRate;
  readonly via: WaitsVia;
  readonly tables = new Set<Pick<SharedPolls, 'notify'>>();
  /** Number of waits and watches in progress. */
  size = 0;
  /** Targets by kind. The kinds, and the targets of each kind, are ordered by the start of their last poll. */
  readonly #queues = new Map<PollKind, Set<PollTarget>>([
    ['page', new Set()],
    ['single', new Set()],
    ['refresh', new Set()],
  ]);
  /** Time until which a poll that waits for its permit holds back other polls. */
  #queuedUntil = Number.NEGATIVE_INFINITY;

  constructor(rate: RateLimit, via: WaitsVia) {
    this.rate = new PollRate(rate);
    this.via = via;
  }

  /** Milliseconds between two polls of a target, if the rate permits it. */
  get period(): number {
    let targets = 0;
    for (const queue of this.#queues.values()) targets += queue.size;
    return this.rate.period(targets);
  }

  /** Passes the data of a webhook event to all tables. Returns whether a wait used the resource in the data. */
  notify(kinds: readonly JobKind[], id: number, data: unknown): boolean {
    // Notify every table: several may contain the same job, for example the tables of clients from `withOptions`.
    return [...this.tables].map((table) => table.notify(kinds, id, data)).includes(true);
  }

  /**
   * Returns 0 if a wait must poll its target now; otherwise the milliseconds until the wait should ask again. If it is
   * the turn of another target, wakes the waits of the other target.
   */
  takeTurn(target: PollTarget): number {
    const now = performance.now();
    this.expect(target, 0);
    const busy = Math.max(target.inFlightUntil, target.dueAt) - now;
    if (busy > 0) return busy;
    const { spacing } = this.rate;
    const isQueued = this.#queuedUntil > now;
    const free = isQueued ? spacing : this.rate.wait(target.isUrgent);
    if (free > 0) return free + this.#readyBefore(target, now) * spacing;
    const next = this.#next(now);
    if (next === undefined || next === target) return 0;
    next.expectedUntil = now - 1;
    next.wake();
    return (1 + this.#readyBefore(target, now)) * spacing;
  }

  /** Records that a wait will check the target within `ms` milliseconds. */
  expect(target: PollTarget, ms: number): void {
    target.expectedUntil = Math.max(target.expectedUntil, performance.now() + ms + GRACE_MS);
    if (this.#queues.get(target.kind)?.has(target)) return;
    this.remove(target);
    this.#queues.get(target.kind)?.add(target);
  }

  /** Removes a target that no job needs. */
  remove(target: PollTarget): void {
    for (const queue of this.#queues.values()) queue.delete(target);
  }

  /**
   * Polls a target. Only one poll at a time waits for its first permit, and a poll counts when it receives a permit.
   * Otherwise, polls that queue behind the user's calls would be sent together, and could exceed half of the bucket.
   */
  async poll(target: PollTarget, signal: AbortSignal): Promise<void> {
    target.begin();
    this.#moveToEnd(target);
    let isPermitted = false;
    const renew = (): void => {
      target.inFlightUntil = performance.now() + POLL_LEASE_MS;
      if (!isPermitted) this.#queuedUntil = target.inFlightUntil;
    };
    renew();
    const timer = setInterval(renew, POLL_LEASE_MS / 3);
    const onPermit = (): void => {
      // `onPermit` is called again if the client repeats the poll with a new token.
      this.rate.consume();
      if (isPermitted) return;
      isPermitted = true;
      this.#queuedUntil = Number.NEGATIVE_INFINITY;
      if (this.rate.wait(true) === 0) this.#next(performance.now())?.wake();
    };
    try {
      await target.read(signal, onPermit);
    } finally {
      clearInterval(timer);
      // Also count a poll that failed before it got its permit.
      if (!isPermitted) onPermit();
      target.inFlightUntil = Number.NEGATIVE_INFINITY;
      target.expectedUntil = performance.now() + GRACE_MS;
      // The end of the wait aborted the poll: another wait has to poll the target.
      if (signal.aborted) target.request(target.kind);
      else target.wake();
    }
  }

  /** Moves a target to the end of the queue of its kind, and this queue to the end of the queues. */
  #moveToEnd(target: PollTarget): void {
    this.remove(target);
    const queue = this.#queues.get(target.kind) ?? new Set();
    this.#queues.delete(target.kind);
    this.#queues.set(target.kind, queue.add(target));
  }

  /** Returns the target whose turn it is, among the targets that the rate permits to poll now. */
  #next(now: number): PollTarget | undefined {
    const [isFree, isFreeAhead] = [this.rate.wait(false) === 0, this.rate.wait(true) === 0];
    for (const queue of this.#queues.values()) {
      for (const target of queue) {
        if (target.isReady(now) && (isFree || (isFreeAhead && target.isUrgent))) return target;
        if (target.expectedUntil < now - ABANDONED_MS) queue.delete(target);
      }
    }
    return undefined;
  }

  /** Returns the number of targets of the same kind that precede this target, up to `MAX_COUNTED`. */
  #readyBefore(target: PollTarget, now: number): number {
    let count = 0;
    for (const other of this.#queues.get(target.kind) ?? []) {
      if (other === target || count >= MAX_COUNTED) break;
      if (other.isReady(now)) count++;
    }
    return count;
  }
}
