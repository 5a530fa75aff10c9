import type { WaitTimeoutError } from '../errors/job-errors.ts';
import type { ClientState, RequestOptions } from '../http/index.ts';
import type { Observed } from '../spec/job-status.ts';
import { type IdLike, idOf } from '../spec/job-status.ts';
import { onAbort, startTimer } from '../util/abort.ts';
import { atCallSite, captureCallSite, isReason } from '../util/call-site.ts';
import { safely } from '../util/callbacks.ts';
import { checkHeaders, checkSendable, shown } from '../util/input-checks.ts';
import { functionOption, nestedOptions, nonNegative, optionChecker, optionOf, signalOption } from '../util/options.ts';
import type { JobSource, Subscriber, UpdateSource } from './job.ts';
import type { JobGroup, Subscription } from './job-group.ts';
import { type Observer, StatusChanges } from './status-changes.ts';
import { jobError, MAX_SLEEP_MS, timeoutError } from './wait-errors.ts';

/** How and when an update arrived. */
export interface UpdateInfo {
  /** Milliseconds since the wait began. */
  readonly elapsed: number;
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
   * Called with each state received from a poll, a list or a webhook event, changed or not. If it throws, the error is
   * logged and the wait continues.
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

const check = optionChecker<WaitOptions<never>>('a wait', {
  timeout: nonNegative,
  signal: signalOption,
  onUpdate: functionOption,
  request: nestedOptions<Omit<RequestOptions, 'signal'>>({
    timeout: nonNegative,
    maxRetries: nonNegative,
    maxRetryWait: nonNegative,
    deadline: nonNegative,
    headers: optionOf(
      isSendable,
      'must be headers that a request can carry, without those that the client sets itself (such as Authorization)',
    ),
  }),
});

/** Checks the options of a wait or a watch, if any: a typo in `timeout` would go unnoticed for an hour. */
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

const DEFAULT_TIMEOUT_MS = 3_600_000;
/** A job is polled once more this long before a wait for it times out. */
const LAST_POLL_MS = 2_000;

/** Waits for jobs of one kind, or watches them. */
export class Poller<T extends Observed> {
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
    const { kind, warn } = this.#source;
    const { redactor } = this.#state;
    const startedAt = performance.now();
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    this.#observe(target, options, {
      onUpdate({ resource, progress, source }) {
        const info = { elapsed: performance.now() - startedAt, source };
        if (onUpdate)
          safely(
            () => onUpdate(resource, info),
            (message) => warn(`\`onUpdate\` threw: ${message}`),
          );
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
    const begin = (changes: Observer<T>): (() => void) => {
      checkWaitOptions(options);
      return this.#observe(target, options, {
        onUpdate: (update) => changes.onUpdate(update),
        onFailure: (error) => changes.onFailure(isReason(error, [options.signal]) ? error : atCallSite(error, site)),
      });
    };
    return { [Symbol.asyncIterator]: () => new StatusChanges<T>(begin) };
  }

  /** Delivers states until the job ends, the wait fails, or the returned function is called. */
  #observe(target: IdLike, options: WatchOptions<T>, observer: Observer<T>): () => void {
    const id = idOf(target);
    if (!Number.isSafeInteger(id) || id <= 0) {
      throw this.#source.invalidId(`must be a positive integer, not ${shown(id)}.`);
    }
    const { signal: parent, timeout = DEFAULT_TIMEOUT_MS, request = {} } = options;
    parent?.throwIfAborted();
    let last: T | undefined;
    let cause: unknown;
    const { kind } = this.#source;
    const { redactor } = this.#state;
    const reason = (): WaitTimeoutError => timeoutError({ kind, id, timeout }, last, cause, redactor);
    let subscription: Subscription | undefined;
    let stopTimer = (): void => {};
    const unsubscribes: (() => void)[] = [];
    const stop = (): void => {
      subscription?.end();
      stopTimer();
      for (const unsubscribe of unsubscribes.splice(0)) unsubscribe();
    };
    const subscriber: Subscriber<T> = {
      onUpdate(update) {
        last = update.resource;
        cause = undefined;
        if (update.progress !== 'running') stop();
        observer.onUpdate(update);
      },
      onPollError(error) {
        cause = error;
      },
      onFailure(error) {
        stop();
        observer.onFailure(error);
      },
    };
    const timeOut = (): void => subscriber.onFailure(reason());
    const { signal: closing } = this.#state.closing;
    if (closing.aborted) subscriber.onFailure(closing.reason);
    else if (timeout <= 0) timeOut();
    else {
      for (const signal of [parent, closing]) {
        if (signal) unsubscribes.push(onAbort(signal, () => subscriber.onFailure(signal.reason)));
      }
      // The job may have ended since its last poll: poll once more just before the timeout.
      const lead = Math.min(LAST_POLL_MS, timeout / 2);
      const pollOnceMore = (): void => {
        subscription?.refresh();
        stopTimer = startTimer(lead, timeOut, MAX_SLEEP_MS);
      };
      stopTimer = startTimer(timeout - lead, pollOnceMore, MAX_SLEEP_MS);
      // Polls with request options cannot serve the waits without them.
      const group = Object.keys(request).length === 0 ? this.#group : this.#group.withRequest(request);
      subscription = group.subscribe(this.#source, id, subscriber);
    }
    return stop;
  }
}
