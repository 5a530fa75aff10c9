import type { JobKind } from '../spec/job-status.ts';
import { type Observed, type Progress, progressOf } from '../spec/job-status.ts';
import type { Source } from './job-source.ts';
import { Turn } from './poll-timer.ts';

/** How an update was learnt of: a read of its own, a page of a list, or an event. */
export type UpdateSource = 'poll' | 'list' | 'webhook';

/** What came of one look at a resource. */
export interface Sighting<T> {
  readonly resource: T;
  readonly progress: Progress;
  readonly source: UpdateSource;
}

/** One wait, as far as its job is concerned. It leaves by itself when it has seen the job end. */
export interface Subscriber<T> {
  see(sighting: Sighting<T>): void;
  /** A look has failed, and will be repeated. */
  miss(error: unknown): void;
  fail(error: unknown): void;
}

/** A job that is waited for, by one or by several. */
export class Job<T extends Observed> {
  readonly id: number;
  readonly source: Source<T>;
  readonly subscribers = new Set<Subscriber<T>>();
  /** Reads of its own. */
  readonly turn = new Turn();
  /** When it was last read by itself. */
  readAt = Number.NEGATIVE_INFINITY;
  /** The page it was last found on. */
  page: number | undefined;
  /** When it was first asked for, or last not found where it had been. */
  since = performance.now();
  #urgent: 'ended' | 'changed' | undefined;
  #urgedAt = Number.NEGATIVE_INFINITY;
  /** The resource as last seen, how, and when the look began that showed it. */
  resource: T | undefined;
  #source: UpdateSource = 'poll';
  #seen = Number.NEGATIVE_INFINITY;

  constructor(id: number, source: Source<T>) {
    this.id = id;
    this.source = source;
  }

  /** Why it is to be read by itself, and soon: it has ended, or something else has happened to it. */
  get urgent(): 'ended' | 'changed' | undefined {
    return this.#urgent;
  }

  /** Has it read soon, until a look that begins after this has shown it. */
  urge(why: 'ended' | 'changed'): void {
    this.#urgent = this.#urgent === 'ended' ? 'ended' : why;
    this.#urgedAt = performance.now();
  }

  get kind(): JobKind {
    return this.source.kind;
  }

  /** Tells every wait what was seen by a look that began at `began`; returns whether the job has ended. */
  see(resource: T, source: UpdateSource, began: number): boolean {
    const progress = progressOf(this.kind, resource);
    // An answer that was on its way while something newer was seen; an end is an end all the same.
    if (began < this.#seen && progress === 'running') return false;
    if (began >= this.#urgedAt) this.#urgent = undefined;
    this.resource = resource;
    this.#source = source;
    this.#seen = began;
    for (const subscriber of [...this.subscribers]) {
      // One may have left while another was told, or have told of something newer.
      if (this.resource === resource && this.subscribers.has(subscriber))
        subscriber.see({ resource, progress, source });
    }
    return progress !== 'running';
  }

  /** Tells one that has joined what was seen last, unless it is told of something newer first. */
  catchUp(subscriber: Subscriber<T>): void {
    const { resource } = this;
    queueMicrotask(() => {
      if (!resource || resource !== this.resource || !this.subscribers.has(subscriber)) return;
      subscriber.see({ resource, progress: progressOf(this.kind, resource), source: this.#source });
    });
  }

  /** Tells every wait of a failed look that they ride out. */
  miss(error: unknown): void {
    for (const subscriber of this.subscribers) subscriber.miss(error);
  }

  /** Ends every wait. */
  fail(error: unknown): void {
    for (const subscriber of [...this.subscribers]) if (this.subscribers.has(subscriber)) subscriber.fail(error);
  }
}
