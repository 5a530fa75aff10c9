import type { JobKind } from '../errors/job.ts';
import type { RateLimit } from '../limits.ts';
import { startTimer } from '../transport/signal.ts';
import { Pace } from './pace.ts';

/** How jobs are looked at: by pages of a list, by reads of their own, or as it is cheaper. */
export type WaitsVia = 'list' | 'get' | undefined;

/** A read that is due at a time of `performance.now()`. Taking it never rejects. */
export interface Look {
  readonly due: number;
  take(): Promise<void>;
}

/** Jobs that have to be looked at. */
export interface Schedulable {
  /** Waits under way. */
  readonly size: number;
  /** Looks of one round over all of them; 0 while events make looking a fallback. */
  readonly round: number;
  /** The look that is due first; none while all of them are under way. */
  next(period: number): Look | undefined;
  /** An event's data for one of the kinds. Returns whether it told a wait something new. */
  hear(kinds: readonly JobKind[], id: number, data: unknown): boolean;
}

/** A service that does not answer holds up no more looks than this. */
const MOST_UNDER_WAY = 8;

/** Takes the looks of all waits of a client, one by one as they are due, at the pace of all. */
export class Scheduler {
  readonly pace: Pace;
  readonly via: WaitsVia;
  readonly #groups = new Set<Schedulable>();
  #underWay = 0;
  #planned = false;
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
  }

  /** Something has changed: plan anew, once everything that changes together has. */
  wake(): void {
    if (this.#planned) return;
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
    while (this.#underWay < MOST_UNDER_WAY) {
      const look = this.#first();
      if (!look) return;
      const wait = Math.max(look.due - performance.now(), this.pace.wait());
      if (wait > 0) {
        this.#stopTimer = startTimer(wait, () => this.#plan());
        return;
      }
      void this.#take(look);
    }
  }

  #first(): Look | undefined {
    const period = this.pace.period([...this.#groups].reduce((sum, group) => sum + group.round, 0));
    let first: Look | undefined;
    for (const group of this.#groups) {
      const look = group.next(period);
      if (look && (!first || look.due < first.due)) first = look;
    }
    return first;
  }

  async #take(look: Look): Promise<void> {
    this.pace.spend();
    this.#underWay++;
    await look.take();
    this.#underWay--;
    this.wake();
  }
}
