import type { JobResource } from '../../spec/job-status.ts';

/** Follows a job: calls `onState` with each state until the job ends. Rejects when `left` aborts or the wait fails. */
export type Follow<T> = (onState: (resource: T) => void, left: AbortSignal) => Promise<unknown>;

/** Iterates over the status changes of a job until the job has ended. Buffers changes until the caller reads them. */
export class StatusChanges<T extends JobResource> implements AsyncIterableIterator<T> {
  readonly #follow: Follow<T>;
  readonly #changes: T[] = [];
  #status: number | undefined;
  #left: AbortController | undefined;
  #following: Promise<void> | undefined;
  #end: { readonly error?: unknown } | undefined;
  /** Resolves the pending calls of `next` when a change or the end has arrived. */
  #next = Promise.withResolvers<void>();

  /** @param follow Called by the first `next`. */
  constructor(follow: Follow<T>) {
    this.#follow = follow;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<T, undefined>> {
    if (!this.#end) this.#following ??= this.#run();
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
    this.#left?.abort();
    this.#wake();
    await this.#following;
    return { done: true, value: undefined };
  }

  async #run(): Promise<void> {
    this.#left = new AbortController();
    try {
      await this.#follow((resource) => this.#onState(resource), this.#left.signal);
      this.#end ??= {};
    } catch (error) {
      this.#end ??= { error };
    }
    this.#wake();
  }

  #onState(resource: T): void {
    if (resource.status.id !== this.#status) this.#changes.push(resource);
    this.#status = resource.status.id;
    this.#wake();
  }

  #wake(): void {
    this.#next.resolve();
    this.#next = Promise.withResolvers<void>();
  }
}
