import type { JobResource } from '../../spec/job-status.ts';
import type { JobUpdate, Subscriber } from './job.ts';
import type { Subscription } from './subscription.ts';

type Stoppable = Pick<Subscription<JobResource>, 'stop'>;

/** Iterates the changes of status of one job until the job has ended; buffers changes that are not consumed yet. */
export class StatusChanges<T extends JobResource> implements AsyncIterableIterator<T>, Subscriber<T> {
  readonly #begin: (subscriber: Subscriber<T>) => Stoppable | undefined;
  readonly #changes: T[] = [];
  #status: number | undefined;
  #subscription: Stoppable | undefined;
  #end: { readonly error?: unknown } | undefined;
  /** Resolves when a change or the end has arrived for the pending calls of `next`. */
  #next = Promise.withResolvers<void>();

  /** @param begin Starts a subscription; returns `undefined` if that fails. Called by the first `next`. */
  constructor(begin: (subscriber: Subscriber<T>) => Stoppable | undefined) {
    this.#begin = begin;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<T, undefined>> {
    if (!this.#end) this.#subscription ??= this.#begin(this);
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
    this.#subscription?.stop();
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
