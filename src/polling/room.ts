import type { ClientState } from '../http/client-state.ts';
import type { JobKind, Observed } from '../spec/job-status.ts';
import type { RateLimit } from '../spec/limits.ts';
import { atCallSite, type CallSite, captureCallSite, isReason } from '../util/call-site.ts';
import type { IdLike } from '../util/id.ts';
import { part } from '../util/part.ts';
import type { JobGroup } from './job-group.ts';
import type { Waiter } from './poller.ts';
import type { Scheduler, WaitsVia } from './scheduler.ts';
import { checkOptions, type WaitOptions, type WatchOptions } from './wait-options.ts';

const engine = part('waits', () => import('./engine.ts'));

/** What runs waits, and the scheduler of those of one client. */
export interface Engine extends Awaited<ReturnType<typeof engine.load>> {
  readonly scheduler: Scheduler;
}

/** Jobs that several waiters look at together. */
export interface SharedJobs<T extends Observed> {
  group(engine: Engine): JobGroup<T>;
}

/** All waits of a client, and of those derived from it. What runs them is loaded with the first. */
export class WaitRoom {
  readonly #state: Pick<ClientState, 'load'>;
  readonly #rate: RateLimit;
  readonly #via: WaitsVia;
  #starting = 0;
  #running: Engine | undefined;

  constructor(state: Pick<ClientState, 'load'>, rate: RateLimit, via: WaitsVia) {
    this.#state = state;
    this.#rate = rate;
    this.#via = via;
  }

  /** Waits under way. */
  get size(): number {
    return this.#starting + (this.#running?.scheduler.size ?? 0);
  }

  /** Hands an event's data to the waits. Returns whether it told one something new. */
  hear(kinds: readonly JobKind[], id: number, data: unknown): boolean {
    return this.#running?.scheduler.hear(kinds, id, data) ?? false;
  }

  /** Resolves when there is what runs waits. */
  async ready(signal: AbortSignal | undefined): Promise<void> {
    await this.#state.load(engine, signal);
  }

  /** Begins a wait as soon as there is what runs it. */
  async enter<R>(signal: AbortSignal | undefined, begin: (engine: Engine) => R | Promise<R>): Promise<R> {
    this.#starting++;
    try {
      const loaded = await this.#state.load(engine, signal);
      this.#running ??= { ...loaded, scheduler: new loaded.Scheduler(this.#rate, this.#via) };
      return begin(this.#running);
    } finally {
      this.#starting--;
    }
  }
}

/** Waits for jobs of one kind, with a waiter that `create` makes for the first of them. */
export class WaitDesk<T extends Observed> {
  readonly #room: WaitRoom;
  readonly #create: (engine: Engine) => Waiter<T>;
  #waiter: Waiter<T> | undefined;

  constructor(room: WaitRoom, create: (engine: Engine) => Waiter<T>) {
    this.#room = room;
    this.#create = create;
  }

  async wait(target: IdLike, options: WaitOptions<T> = {}): Promise<T> {
    const { signal } = checkOptions(options);
    return this.#room.enter(signal, (running) => this.#waiterIn(running).wait(target, options));
  }

  /** Each walk looks anew. */
  watch(target: IdLike, options: WatchOptions<T> = {}): AsyncIterable<T> {
    const walk = async (): Promise<AsyncIterator<T>> => {
      const { signal } = checkOptions(options);
      return this.#room.enter(signal, (running) =>
        this.#waiterIn(running).watch(target, options)[Symbol.asyncIterator](),
      );
    };
    const site = captureCallSite();
    return { [Symbol.asyncIterator]: () => new Walk(walk, site, options.signal) };
  }

  #waiterIn(running: Engine): Waiter<T> {
    this.#waiter ??= this.#create(running);
    return this.#waiter;
  }
}

/** A walk that begins with its first step. A generator would not end while a step is under way. */
class Walk<T> implements AsyncIterableIterator<T> {
  readonly #begin: () => Promise<AsyncIterator<T>>;
  readonly #site: CallSite;
  readonly #signal: AbortSignal | undefined;
  #begun: Promise<AsyncIterator<T>> | undefined;

  constructor(begin: () => Promise<AsyncIterator<T>>, site: CallSite, signal: AbortSignal | undefined) {
    this.#begin = begin;
    this.#site = site;
    this.#signal = signal;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<T, undefined>> {
    this.#begun ??= this.#begin();
    try {
      return await (await this.#begun).next();
    } catch (error) {
      throw isReason(error, [this.#signal]) ? error : atCallSite(error, this.#site);
    }
  }

  async return(): Promise<IteratorResult<T, undefined>> {
    const begun = this.#begun;
    // At once: a step that is asked for meanwhile begins nothing any more.
    this.#begun = Promise.resolve({ next: () => Promise.resolve({ done: true, value: undefined }) });
    await (await begun?.catch(() => undefined))?.return?.();
    return { done: true, value: undefined };
  }
}
