import type { Sighting, Subscriber } from './job.ts';
import type { Observed } from './outcome.ts';

/** The changes of status of one job, until it has ended; what was not walked yet is kept in order. */
export class ChangeQueue<T extends Observed> implements Subscriber<T>, AsyncIterable<T> {
  readonly #changes: T[] = [];
  #status: number | undefined;
  #end: { readonly error?: unknown } | undefined;
  #wake = (): void => {};

  see({ resource, progress }: Sighting<T>): void {
    if (resource.status.id !== this.#status) this.#changes.push(resource);
    this.#status = resource.status.id;
    if (progress !== 'running') this.#end = {};
    this.#wake();
  }

  fail(error: unknown): void {
    this.#end ??= { error };
    this.#wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void> {
    for (;;) {
      for (let change = this.#changes.shift(); change; change = this.#changes.shift()) yield change;
      if (this.#end && 'error' in this.#end) throw this.#end.error;
      if (this.#end) return;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}
