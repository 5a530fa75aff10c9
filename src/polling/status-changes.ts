import type { Observed } from '../spec/job-status.ts';
import type { JobUpdate, Subscriber } from './job.ts';

/** The callbacks of a subscriber that waits and watches implement differently. */
export type Observer<T> = Pick<Subscriber<T>, 'onUpdate' | 'onFailure'>;

/** Iterates the changes of status of one job until the job has ended; buffers changes that are not consumed yet. */
export class StatusChanges<T extends Observed> implements AsyncIterableIterator<T>, Observer<T> {
  readonly #begin: (observer: Observer<T>) => () => void;
  readonly #changes: T[] = [];
  #status: number | undefined;
  #stop: (() => void) | undefined;
  #end: { readonly error?: unknown } | undefined;
  /** Resolves when a change or the end has arrived for the pending calls of `next`. */
  #next = Promise.withResolvers<void>();

  /** @param begin Subscribes the observer and returns a function that unsubscribes it. Called by the first `next`. */
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

  /** Ends the iteration immediately. A generator's `return` would wait for a pending call of `next`. */
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
