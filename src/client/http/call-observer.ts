import { abortable } from '../../util/abort.ts';
import type { Logger } from '../../util/log.ts';
import { emit, runAround, runHook } from '../../util/run-hooks.ts';
import type { CallAdditions, CallHooks, EndEvent, RequestEvent, ResponseEvent, RetryEvent } from './hooks.ts';
import type { Settings } from './request-options.ts';
import { type Fetch, wrappedFetch } from './send.ts';

/** Passes the events of one call or transfer to the user's hooks. Without hooks, a call has no observer. */
export class CallObserver {
  readonly #settings: Settings;
  readonly #describe: () => RequestEvent;
  readonly #startedAt = performance.now();
  /** Milliseconds spent waiting: `queued` for the token, the build budget and permits, `backoff` between attempts. */
  readonly #waited = { queued: 0, backoff: 0 };
  /** The current kind of waiting. */
  #waitingFor: 'queued' | 'backoff' | undefined;
  #since = 0;
  /** Headers and `fetch` wrappers from the `around` hooks, outermost first. */
  readonly #additions: CallAdditions[] = [];
  #response: Pick<ResponseEvent, 'status' | 'requestId'> | undefined;
  #hasEnded = false;

  constructor(settings: Settings, describe: () => RequestEvent) {
    this.#settings = settings;
    this.#describe = describe;
  }

  get event(): RequestEvent {
    return this.#describe();
  }

  /** The client's `fetch`, wrapped by the `around` hooks. Omits a wrapper that throws. */
  get fetch(): Fetch {
    const { fetch } = this.#settings;
    const wraps = this.#additions.flatMap(({ wrapFetch }) => (wrapFetch ? [wrapFetch] : []));
    if (wraps.length === 0) return fetch;
    return wrappedFetch(fetch, (unwrapped) =>
      wraps.reduce((inner, wrapFetch) => {
        let wrapped: unknown;
        runHook(this.#settings, 'wrapFetch', () => {
          wrapped = wrapFetch(inner);
          return wrapped; // If the hook is `async` by mistake, the rejection of its promise is logged.
        });
        return typeof wrapped === 'function' ? (wrapped as Fetch) : inner;
      }, unwrapped),
    );
  }

  /** Headers that `around` adds. */
  get headers(): Readonly<Record<string, string>> {
    return Object.assign({}, ...this.#additions.map(({ headers }) => headers));
  }

  /** Runs `work` within the `around` hooks, unless the signal aborts before `work` begins. */
  around<R>(signal: AbortSignal, work: () => Promise<R>, ended?: Promise<unknown>): Promise<R> {
    return runAround(this.#settings, 'around', {
      work,
      ended,
      event: () => this.event,
      start: (begin, additions?: CallAdditions) => {
        if (signal.aborted) return Promise.reject(signal.reason);
        if (additions) this.#additions.push(additions);
        return begin();
      },
      untilBegun: (begun) => abortable(begun, signal),
    });
  }

  /** Starts counting time as `queued` or `backoff`, or stops counting. */
  waitFor(what: 'queued' | 'backoff' | undefined): void {
    const now = performance.now();
    if (this.#waitingFor) this.#waited[this.#waitingFor] += now - this.#since;
    this.#waitingFor = what;
    this.#since = now;
  }

  /** Reports that the call sends a request. */
  request(): void {
    this.#response = undefined;
    this.waitFor(undefined);
    emit(this.#settings, 'onRequest', () => this.event);
  }

  response(response: Pick<ResponseEvent, 'status' | 'requestId'>): void {
    this.#response = response;
    const duration = performance.now() - this.#since;
    emit(this.#settings, 'onResponse', () => ({ ...this.event, ...response, duration }));
  }

  /** Resolves with `false` if a hook refuses the retry. Rejects with the signal's reason if the signal aborts first. */
  async allowsRetry(retry: Pick<RetryEvent, 'reason' | 'error' | 'wait'>, signal: AbortSignal): Promise<boolean> {
    for (const { shouldRetry } of this.#settings.hooks) {
      let answer: unknown;
      const ask = async (): Promise<void> => {
        answer = await shouldRetry?.({ ...this.event, ...retry });
      };
      await abortable(runHook(this.#settings, 'shouldRetry', ask), signal);
      if (answer === false) return false;
    }
    return true;
  }

  /** Reports that the call retries after `wait` milliseconds. */
  retry(retry: Pick<RetryEvent, 'reason' | 'error' | 'wait'>): void {
    this.waitFor('backoff');
    emit(this.#settings, 'onRetry', () => ({ ...this.event, ...retry }));
  }

  /** Reports the end of the call. Only the first report has an effect. */
  end(outcome: EndEvent['outcome'], error?: unknown): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    const duration = performance.now() - this.#startedAt;
    this.waitFor(undefined);
    const times = { duration, ...this.#waited };
    emit(this.#settings, 'onEnd', () => ({ ...this.event, ...this.#response, ...times, outcome, error }));
  }
}

export function debugLog(logger: Logger): CallHooks {
  return {
    onResponse: ({ rateLimit, ...fields }) =>
      logger.debug(`${fields.method} ${fields.path} → ${fields.status}`, fields),
  };
}

/** Logs that an operation is retried. */
export function logRetry(
  logger: Logger,
  { operation, attempt }: Pick<RequestEvent, 'operation' | 'attempt'>,
  wait: number,
  error: Error,
): void {
  const ms = Math.round(wait);
  logger.info(`The client retries ${operation} in ${ms} ms: ${error.message}`, { operation, attempt, wait: ms });
}
