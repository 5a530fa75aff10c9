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
import { type Observable, type Observation, observe } from './observe.ts';
import type { Observed } from './outcome.ts';

/** How an update was learnt of. */
export type UpdateSource = 'poll' | 'list' | 'webhook';

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
  /** Options of the requests made while waiting. */
  readonly request?: Omit<RequestOptions, 'signal'> | undefined;
}

/** Options of a watch. */
export type WatchOptions<T> = Omit<WaitOptions<T>, 'onUpdate'>;

/** An id, or something that has one. */
export type IdLike = number | { readonly id: number };

/** The id of something. */
export const idOf = (target: IdLike): number => (typeof target === 'object' && target !== null ? target.id : target);

const HOUR = 3_600_000;

/** What waiting needs of a client. */
export interface WaitContext {
  readonly core: Core;
  /** Reports a callback that threw. */
  warn(message: string): void;
}

/** Waits for jobs of one kind. */
export class Waiter<T extends Observed> {
  readonly #context: WaitContext;
  readonly #source: Observable<T>;

  constructor(context: WaitContext, source: Observable<T>) {
    this.#context = context;
    this.#source = source;
  }

  async wait(target: IdLike, options: WaitOptions<T> = {}): Promise<T> {
    const started = performance.now();
    for await (const { resource, progress } of this.#observations(target, options)) {
      const info: UpdateInfo = { elapsed: performance.now() - started, source: 'poll' };
      guard(
        () => options.onUpdate?.(resource, info),
        (message) => this.#context.warn(`\`onUpdate\` threw: ${message}`),
      );
      if (progress === 'completed') return resource;
      if (progress !== 'running') throw jobError(this.#source.kind, resource, progress);
    }
    throw new Error('unreachable: an observation ends with a job');
  }

  /** Each walk looks anew. */
  watch(target: IdLike, options: WatchOptions<T> = {}): AsyncIterable<T> {
    return { [Symbol.asyncIterator]: () => this.#changes(target, options) };
  }

  async *#changes(target: IdLike, options: WatchOptions<T>): AsyncGenerator<T, void> {
    let status: number | undefined;
    for await (const { resource } of this.#observations(target, options)) {
      if (resource.status.id === status) continue;
      status = resource.status.id;
      yield resource;
    }
  }

  async *#observations(target: IdLike, options: WatchOptions<T>): AsyncGenerator<Observation<T>, void> {
    const { kind } = this.#source;
    const id = idOf(target);
    const timeout = options.timeout ?? HOUR;
    checkNumbers({ timeout }, ['timeout']);
    let last: T | undefined;
    options.signal?.throwIfAborted();
    const scope = this.#context.core.open(options.signal, timeout, () => timeoutError(kind, id, timeout, last));
    try {
      for await (const seen of observe(this.#source, id, scope.signal, options.request)) {
        last = seen.resource;
        yield seen;
      }
    } finally {
      scope.dispose();
    }
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
