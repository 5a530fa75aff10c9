import {
  JobCancelledError,
  type JobError,
  JobFailedError,
  type JobKind,
  JobNeedsInfoError,
  WaitTimeoutError,
} from '../errors/job.ts';
import type { Core } from '../transport/core.ts';
import { guard } from '../transport/guard.ts';
import { checkNumbers } from '../transport/input.ts';
import type { RequestOptions } from '../transport/settings.ts';
import { onAbort } from '../transport/signal.ts';
import { ChangeQueue } from './change-queue.ts';
import type { Sighting, Subscriber, UpdateSource } from './job.ts';
import { JobGroup } from './job-group.ts';
import type { Observed } from './outcome.ts';
import type { Scheduler } from './scheduler.ts';
import type { Source } from './source.ts';

/** What an update comes with. */
export interface UpdateInfo {
  /** Milliseconds since the wait began. */
  readonly elapsed: number;
  readonly source: UpdateSource;
}

/** Options of a wait. */
export interface WaitOptions<T> {
  /** Milliseconds; `Infinity` waits for ever. The job goes on when it passes. @default 3600000 */
  readonly timeout?: number | undefined;
  /** Ends the wait at once; it rejects with the signal's own reason. */
  readonly signal?: AbortSignal | undefined;
  /** Called for each look at the resource. One that throws is logged and harms no wait. */
  readonly onUpdate?: ((resource: T, info: UpdateInfo) => void) | undefined;
  /** Options of the requests made while waiting. A wait that has any is read by itself and shares no list with others. */
  readonly request?: Omit<RequestOptions, 'signal'> | undefined;
}

/** Options of a watch. */
export type WatchOptions<T> = Omit<WaitOptions<T>, 'onUpdate'>;

/** An id, or something that has one. */
export type IdLike = number | { readonly id: number };

/** The id of something. */
export const idOf = (target: IdLike): number => (typeof target === 'object' && target !== null ? target.id : target);

const HOUR = 3_600_000;

/** A timeout counts time awake: a machine that sleeps for an hour adds no more than this to it. Milliseconds. */
const ASLEEP_AT_MOST = 60_000;

/** What waiting needs of a client. */
export interface WaitContext {
  readonly core: Core;
  readonly scheduler: Scheduler;
  /** Reports a callback that threw. */
  warn(message: string): void;
}

/** Waits for jobs of one kind. */
export class Waiter<T extends Observed> {
  readonly #context: WaitContext;
  readonly #source: Source<T>;
  readonly #group: JobGroup<T>;

  constructor(context: WaitContext, source: Source<T>, group: JobGroup<T>) {
    this.#context = context;
    this.#source = source;
    this.#group = group;
  }

  wait(target: IdLike, options: WaitOptions<T> = {}): Promise<T> {
    const started = performance.now();
    return new Promise((resolve, reject) => {
      this.#observe(target, options, {
        see: ({ resource, progress, source }) => {
          const info: UpdateInfo = { elapsed: performance.now() - started, source };
          guard(
            () => options.onUpdate?.(resource, info),
            (message) => this.#context.warn(`\`onUpdate\` threw: ${message}`),
          );
          if (progress === 'completed') resolve(resource);
          else if (progress !== 'running') reject(jobError(this.#source.kind, resource, progress));
        },
        fail: reject,
      });
    });
  }

  /** Each walk looks anew. */
  watch(target: IdLike, options: WatchOptions<T> = {}): AsyncIterable<T> {
    return { [Symbol.asyncIterator]: () => this.#changes(target, options) };
  }

  async *#changes(target: IdLike, options: WatchOptions<T>): AsyncGenerator<T, void> {
    const changes = new ChangeQueue<T>();
    const stop = this.#observe(target, options, changes);
    try {
      yield* changes;
    } finally {
      stop();
    }
  }

  /** Tells `subscriber` what is seen, until the job ends, the wait fails, or the function returned is called. */
  #observe(target: IdLike, options: WatchOptions<T>, subscriber: Subscriber<T>): () => void {
    const { kind } = this.#source;
    const id = idOf(target);
    const timeout = options.timeout ?? HOUR;
    checkNumbers({ timeout }, ['timeout']);
    options.signal?.throwIfAborted();
    let last: T | undefined;
    const expired = (): WaitTimeoutError => timeoutError(kind, id, timeout, last);
    const scope = this.#context.core.open(options.signal, timeout, expired, ASLEEP_AT_MOST);
    let leave = (): void => {};
    const stop = (): void => {
      leave();
      scope.dispose();
    };
    const fail = (error: unknown): void => {
      stop();
      subscriber.fail(error);
    };
    const see = (sighting: Sighting<T>): void => {
      last = sighting.resource;
      if (sighting.progress !== 'running') stop();
      subscriber.see(sighting);
    };
    if (scope.signal.aborted) {
      fail(scope.signal.reason);
      return stop;
    }
    onAbort(scope.signal, () => fail(scope.signal.reason));
    leave = this.#groupFor(id, options).subscribe(this.#source, id, { see, fail });
    return stop;
  }

  /** Requests of its own make a wait share none with others; what is no id is refused by a read of its own. */
  #groupFor(id: number, { request = {} }: WatchOptions<T>): JobGroup<T> {
    if (Object.keys(request).length === 0 && Number.isSafeInteger(id)) return this.#group;
    return new JobGroup({ scheduler: this.#context.scheduler, kinds: [this.#source.kind], request });
  }
}

function timeoutError(kind: JobKind, id: number, timeout: number, resource: Observed | undefined): WaitTimeoutError {
  const seen = resource ? `last seen at ${resource.status.id} ${resource.status.name}` : 'never seen';
  const message = `Waited ${timeout} ms for ${kind} ${id} (${seen}). The job goes on: wait again by its id, or longer with \`timeout\`.`;
  return new WaitTimeoutError(message, { kind, id, ...(resource && { resource }) });
}

/** How a failed job can be tried again; an upload can be claimed once only. */
const AGAIN = {
  create: 'Creating it again (with a fresh key) is safe.',
  file: 'Upload the file again and create another: an upload can be claimed once.',
};

/** The error for a job that ended otherwise than completed. */
export function jobError(kind: JobKind, resource: Observed, progress: 'needs-info' | 'failed' | 'cancelled'): JobError {
  const details = { kind, id: resource.id, resource };
  const name = `${kind[0]?.toUpperCase()}${kind.slice(1)} ${resource.id} ended at ${resource.status.id} ${resource.status.name}`;
  switch (progress) {
    case 'needs-info':
      return new JobNeedsInfoError(
        `${name}: it cannot be done as defined. The console shows the reason; change the definition and create anew.`,
        details,
      );
    case 'cancelled':
      return new JobCancelledError(`${name}: it was cancelled.`, details);
    default:
      return new JobFailedError(`${name}: the job failed. ${AGAIN[kind === 'cohort' ? 'file' : 'create']}`, details);
  }
}
