import type { JobResource } from '../../spec/job-status.ts';
import { type IdLike, idOf } from '../../spec/job-status.ts';
import { atCallSite, captureCallSite, isReason } from '../../util/call-site.ts';
import { safely } from '../../util/callbacks.ts';
import { checkHeaders, checkSendable, idProblem } from '../../util/input-checks.ts';
import { isObject } from '../../util/json.ts';
import {
  functionOption,
  nestedOptions,
  nonNegative,
  optionChecker,
  optionOf,
  signalOption,
  stringOption,
} from '../../util/options.ts';
import { isOlder } from '../../util/timestamps.ts';
import type { ClientState } from '../http/client-state.ts';
import type { RequestOptions } from '../http/request-options.ts';
import type { JobSource, Subscriber, UpdateSource } from './job.ts';
import type { JobGroup } from './job-group.ts';
import { StatusChanges } from './status-changes.ts';
import { Subscription } from './subscription.ts';
import { jobError, timeoutError } from './wait-errors.ts';
import { WaitReport } from './wait-report.ts';

/** How and when an update arrived. */
export interface UpdateInfo {
  /** Milliseconds since the wait began. */
  readonly elapsed: number;
  /** Origin of the state: a request for the resource, a page of a list, or a webhook event. */
  readonly source: UpdateSource;
}

/** Options of a wait. */
export interface WaitOptions<T> {
  /**
   * Milliseconds until the wait fails; of a sleep of the machine, at most one minute counts. The job keeps running.
   * `Infinity` waits indefinitely.
   *
   * @default 3600000
   */
  readonly timeout?: number | undefined;
  /** Ends the wait immediately; it rejects with the signal's own reason. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Called with the first known state, and whenever the resource has changed: by its status, or by a later `updated_at`.
   * If it throws, the error is logged and the wait continues. The hook `onWait` observes each poll.
   */
  readonly onUpdate?: ((resource: T, info: UpdateInfo) => void) | undefined;
  /**
   * Options of the requests. A wait with any of them polls its job separately and shares no polls with other waits.
   * `maxRetries` has no effect, because the next poll is the retry; `deadline` is 2 minutes at most.
   */
  readonly request?: Omit<RequestOptions, 'signal'> | undefined;
}

/** Options of a watch. */
export type WatchOptions<T> = Omit<WaitOptions<T>, 'onUpdate'>;

const requestOption = nestedOptions<Omit<RequestOptions, 'signal'>>({
  timeout: nonNegative,
  maxRetries: nonNegative,
  maxRetryWait: nonNegative,
  deadline: nonNegative,
  token: stringOption,
  query: optionOf(isObject, 'must be an object'),
  fetchOptions: optionOf(isObject, 'must be an object'),
  headers: optionOf(
    isSendable,
    'must be headers that a request can carry, without those that the client sets itself (such as Authorization)',
  ),
});
const checkWatchOptions = optionChecker<WatchOptions<never>>('a watch', {
  timeout: nonNegative,
  signal: signalOption,
  request: requestOption,
});
const check = optionChecker<WaitOptions<never>>('a wait', {
  timeout: nonNegative,
  signal: signalOption,
  onUpdate: functionOption,
  request: requestOption,
});

/** Checks the options of a wait, if any: a typo in `timeout` would go unnoticed for an hour. */
export function checkWaitOptions<T>(options: WaitOptions<T> | undefined): void {
  if (options !== undefined) check(options);
}

function isSendable(headers: unknown): boolean {
  try {
    checkHeaders(Object(headers));
    checkSendable(Object(headers));
    return typeof headers === 'object';
  } catch {
    return false;
  }
}

/** Returns whether a later state differs from an earlier one by its status or `updated_at`. */
const hasChanged = (resource: JobResource, earlier: JobResource | undefined): boolean =>
  !earlier || resource.status.id !== earlier.status.id || isOlder(earlier, resource);

/** `timeout` of a wait that sets none. */
export const DEFAULT_WAIT_TIMEOUT_MS = 3_600_000;

/** Waits for jobs of one kind, or watches them. */
export class Poller<T extends JobResource> {
  readonly #state: ClientState;
  readonly #source: JobSource<T>;
  readonly #group: JobGroup<T>;

  /** @param group Polls this kind's jobs; kinds that are in the same list share it. */
  constructor(state: ClientState, source: JobSource<T>, group: JobGroup<T>) {
    this.#state = state;
    this.#source = source;
    this.#group = group;
  }

  /** Resolves with the completed resource. The caller must have checked the options. */
  wait(target: IdLike, { onUpdate, ...options }: WaitOptions<T> = {}): Promise<T> {
    const { kind, settings } = this.#source;
    const { redactor } = this.#state;
    const startedAt = performance.now();
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    let last: T | undefined;
    this.#subscribe(target, options, {
      onUpdate({ resource, progress, source }) {
        if (onUpdate && (progress !== 'running' || hasChanged(resource, last))) {
          last = resource;
          safely(
            () => onUpdate(resource, { elapsed: performance.now() - startedAt, source }),
            (message) => settings.logger.warn(`\`onUpdate\` threw: ${message}`),
          );
        }
        if (progress === 'completed') resolve(resource);
        else if (progress !== 'running') reject(jobError(kind, resource, progress, redactor));
      },
      onFailure: reject,
    });
    return promise;
  }

  /** Iterates a job's changes of status; each `for await` loop is a separate subscription. */
  watch(target: IdLike, options: WatchOptions<T> = {}): AsyncIterable<T> {
    const site = captureCallSite();
    const begin = (changes: Subscriber<T>): Subscription<T> | undefined => {
      checkWatchOptions(options);
      return this.#subscribe(target, options, {
        onUpdate: (update) => changes.onUpdate(update),
        onFailure: (error) => changes.onFailure(isReason(error, [options.signal]) ? error : atCallSite(error, site)),
      });
    };
    return { [Symbol.asyncIterator]: () => new StatusChanges<T>(begin) };
  }

  /** Delivers states until the job ends, the wait fails, or the returned subscription is stopped. */
  #subscribe(target: IdLike, options: WatchOptions<T>, subscriber: Subscriber<T>): Subscription<T> | undefined {
    const id = idOf(target);
    const problem = idProblem(id);
    if (problem !== undefined) throw this.#source.invalidId(problem);
    const { signal, timeout = DEFAULT_WAIT_TIMEOUT_MS, request = {} } = options;
    const { redactor, closing } = this.#state;
    const { kind, settings } = this.#source;
    signal?.throwIfAborted();
    const report = settings.hooks.some(({ onWait }) => onWait) ? new WaitReport(settings, kind, id) : undefined;
    const fail = (error: unknown): undefined => {
      report?.fail(error, signal);
      subscriber.onFailure(error);
    };
    // A hook may have aborted the wait.
    if (signal?.aborted) return fail(signal.reason);
    if (closing.signal.aborted) return fail(closing.signal.reason);
    if (timeout <= 0) return fail(timeoutError({ kind, id, timeout }, undefined, redactor));
    // Polls with request options cannot serve the waits without them.
    const group = Object.keys(request).length === 0 ? this.#group : this.#group.withRequest(request);
    const plan = { group, source: this.#source, id, timeout, signal, redactor, report };
    return new Subscription(plan, subscriber);
  }
}
