import type { Observed } from '../spec/job-status.ts';
import type { Sighting, Subscriber } from './job.ts';

/** What a wait does with what is seen. */
export type Observer<T> = Pick<Subscriber<T>, 'see' | 'fail'>;

/** A walk over the changes of status of one job, until it has ended. What was not walked yet is kept in order. */
export class Changes<T extends Observed> implements AsyncIterableIterator<T>, Observer<T> {
  readonly #begin: (observer: Observer<T>) => () => void;
  readonly #changes: T[] = [];
  #status: number | undefined;
  #stop: (() => void) | undefined;
  #end: { readonly error?: unknown } | undefined;
  /** Steps under way. */
  readonly #steps: (() => void)[] = [];

  /** `begin` starts to tell what is seen, and returns what stops it. It is called by the first step. */
  constructor(begin: (observer: Observer<T>) => () => void) {
    this.#begin = begin;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<T, undefined>> {
    if (!this.#end) this.#stop ??= this.#begin(this);
    for (;;) {
      const value = this.#changes.shift();
      if (value) return { done: false, value };
      const end = this.#end;
      if (end) {
        this.#end = {};
        if ('error' in end) throw end.error;
        return { done: true, value: undefined };
      }
      await new Promise<void>((resolve) => this.#steps.push(resolve));
    }
  }

  /** Ends the walk, also while a step is under way. */
  async return(): Promise<IteratorResult<T, undefined>> {
    this.#end = {};
    this.#changes.length = 0;
    this.#stop?.();
    this.#wake();
    return { done: true, value: undefined };
  }

  see({ resource, progress }: Sighting<T>): void {
    if (this.#end) return;
    if (resource.status.id !== this.#status) this.#changes.push(resource);
    this.#status = resource.status.id;
    if (progress !== 'running') this.#end = {};
    this.#wake();
  }

  fail(error: unknown): void {
    this.#end ??= { error };
    this.#wake();
  }

  #wake(): void {
    for (const step of this.#steps.splice(0)) step();
  }
}
