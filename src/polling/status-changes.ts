import type { Observed } from '../spec/job-status.ts';
import type { JobUpdate, Subscriber } from './job.ts';

/** The part of a subscriber that waits and watches differ in. */
export type Observer<T> = Pick<Subscriber<T>, 'onUpdate' | 'onFailure'>;

/** Iterates the changes of status of one job until it has ended; keeps those that were not consumed yet. */
export class StatusChanges<T extends Observed> implements AsyncIterableIterator<T>, Observer<T> {
  readonly #begin: (observer: Observer<T>) => () => void;
  readonly #changes: T[] = [];
  #status: number | undefined;
  #stop: (() => void) | undefined;
  #end: { readonly error?: unknown } | undefined;
  /** Resolves when there is something for the pending calls of `next`. */
  #next = Promise.withResolvers<void>();

  /** @param begin Subscribes the observer, and returns a function that ends it. The first call of `next` calls it. */
  constructor(begin: (observer: Observer<T>) => () => void) {
    this.#begin = begin;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<T, undefined>> {
    if (!this.#end) this.#stop ??= this.#begin(this);
    while (this.#changes.length === 0 && !this.#end) await this.#next.promise;
    const value = this.#changes.shift();
    if (value) return { done: false, value };
    const end = this.#end;
    this.#end = {};
    if (end && 'error' in end) throw end.error;
    return { done: true, value: undefined };
  }

  /** Ends the iteration, also while a call of `next` is pending: a generator could not. */
  async return(): Promise<IteratorResult<T, undefined>> {
    this.#end = {};
    this.#changes.length = 0;
    this.#stop?.();
    this.#wake();
    return { done: true, value: undefined };
  }

  onUpdate({ resource, progress }: JobUpdate<T>): void {
    if (this.#end) return;
    if (resource.status.id !== this.#status) this.#changes.push(resource);
    this.#status = resource.status.id;
    if (progress !== 'running') this.#end = {};
    this.#wake();
  }

  onFailure(error: unknown): void {
    this.#end ??= { error };
    this.#wake();
  }

  #wake(): void {
    this.#next.resolve();
    this.#next = Promise.withResolvers<void>();
  }
}
