import type { WaitTimeoutError } from '../errors/job-errors.ts';
import type { ClientState } from '../http/client-state.ts';
import type { Observed } from '../spec/job-status.ts';
import { onAbort } from '../util/abort.ts';
import { safely } from '../util/callbacks.ts';
import { type IdLike, idOf } from '../util/id.ts';
import type { Sighting } from './job.ts';
import type { JobGroup } from './job-group.ts';
import type { Source } from './job-source.ts';
import type { WaitRoom } from './room.ts';
import { Changes, type Observer } from './status-changes.ts';
import { jobError, timeoutError } from './wait-errors.ts';
import {
  ASLEEP_AT_MOST,
  checkOptions,
  idProblem,
  type UpdateInfo,
  type WaitOptions,
  type WatchOptions,
} from './wait-options.ts';

const HOUR = 3_600_000;

/** What waiting needs of a client. */
export interface WaitContext {
  readonly state: ClientState;
  readonly room: WaitRoom;
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
          safely(
            () => options.onUpdate?.(resource, info),
            (message) => this.#context.warn(`\`onUpdate\` threw: ${message}`),
          );
          if (progress === 'completed') resolve(resource);
          else if (progress !== 'running')
            reject(jobError(this.#source.kind, resource, progress, this.#context.state.redactor));
        },
        fail: reject,
      });
    });
  }

  /** Each walk looks anew. */
  watch(target: IdLike, options: WatchOptions<T> = {}): AsyncIterable<T> {
    return {
      [Symbol.asyncIterator]: () => new Changes<T>((observer) => this.#observe(target, options, observer)),
    };
  }

  /** Tells `subscriber` what is seen, until the job ends, the wait fails, or the function returned is called. */
  #observe(target: IdLike, options: WatchOptions<T>, subscriber: Observer<T>): () => void {
    const { kind } = this.#source;
    const id = idOf(target);
    const problem = idProblem(id);
    if (problem !== undefined) throw this.#source.refuse(problem);
    const timeout = checkOptions(options).timeout ?? HOUR;
    options.signal?.throwIfAborted();
    const { redactor } = this.#context.state;
    let last: T | undefined;
    let cause: unknown;
    const expired = (): WaitTimeoutError => timeoutError({ kind, id, timeout, resource: last, cause, redactor });
    const group = this.#groupFor(options);
    const scope = this.#context.state.open({
      parent: options.signal,
      ms: timeout,
      reason: expired,
      longestStep: ASLEEP_AT_MOST,
    });
    let leave = (): void => {};
    const stop = (): void => {
      leave();
      scope.dispose();
    };
    const fail = (error: unknown): void => {
      stop();
      subscriber.fail(error);
    };
    const miss = (error: unknown): void => {
      cause = error;
    };
    const see = (sighting: Sighting<T>): void => {
      last = sighting.resource;
      cause = undefined;
      if (sighting.progress !== 'running') stop();
      subscriber.see(sighting);
    };
    if (scope.signal.aborted) {
      fail(scope.signal.reason);
      return stop;
    }
    onAbort(scope.signal, () => fail(scope.signal.reason));
    leave = group.subscribe(this.#source, id, { see, miss, fail });
    return stop;
  }

  /** Requests of its own make a wait share none with others. */
  #groupFor({ request = {} }: WatchOptions<T>): JobGroup<T> {
    return Object.keys(request).length === 0 ? this.#group : this.#group.apart(request);
  }
}
