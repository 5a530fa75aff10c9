import { emit, runHook } from '../util/run-hooks.ts';
import type { ClientState } from './client-state.ts';
import type { CallAdditions, EndEvent, RequestEvent, ResponseEvent, RetryEvent } from './hooks.ts';
import type { Settings } from './request-options.ts';
import type { Fetch } from './send.ts';

/** Returns the client's `fetch` as the additions wrap it; a function that throws does not wrap it. */
export const wrapFetch = (settings: Settings, additions: readonly CallAdditions[]): Fetch =>
  additions.reduce((inner, addition) => {
    let wrapped: unknown;
    runHook(settings, 'wrapFetch', () => {
      wrapped = addition.wrapFetch?.(inner);
    });
    return typeof wrapped === 'function' ? (wrapped as Fetch) : inner;
  }, settings.fetch);

/** The properties of a call that stay the same, or that its report does not count. */
export type CallFacts = Omit<RequestEvent, 'callId' | 'attempt'>;

let calls = 0;

/** Counts the requests and the times of one call or transfer, and passes its events to the hooks and the log. */
export class CallReport {
  /** Requests sent. */
  attempts = 0;
  /** Milliseconds spent waiting for the token, the build budget and permits. */
  queued = 0;
  readonly startedAt = performance.now();
  readonly #callId = `call_${++calls}`;
  readonly #state: ClientState;
  readonly #settings: Settings;
  readonly #describe: () => CallFacts;
  #sentAt = 0;
  #backoff = 0;
  #response: Pick<ResponseEvent, 'status' | 'requestId'> | undefined;
  #hasEnded = false;

  constructor(state: ClientState, settings: Settings, describe: () => CallFacts) {
    this.#state = state;
    this.#settings = settings;
    this.#describe = describe;
    state.begin();
  }

  /** The call and its current attempt. */
  get event(): RequestEvent {
    return { callId: this.#callId, ...this.#describe(), attempt: this.attempts };
  }

  /** Reports that a request is sent. */
  request(): void {
    this.attempts++;
    this.#response = undefined;
    this.#sentAt = performance.now();
    emit(this.#settings, 'onRequest', () => this.event);
  }

  /** Reports the response of the request. */
  response(response: Pick<ResponseEvent, 'status' | 'requestId'>): void {
    this.#response = response;
    const { logger, isObserved } = this.#settings;
    if (!isObserved) return;
    const duration = performance.now() - this.#sentAt;
    const { rateLimit, ...event } = { ...this.event, ...response, duration };
    logger.debug(`${event.method} ${event.path} → ${event.status}`, event);
    emit(this.#settings, 'onResponse', () => ({ ...event, ...(rateLimit && { rateLimit }) }));
  }

  /** Reports that another attempt follows after `wait` milliseconds. */
  retry(retry: Pick<RetryEvent, 'reason' | 'error' | 'wait'>): void {
    this.#backoff += retry.wait;
    const { operation, attempt } = this.event;
    const wait = Math.round(retry.wait);
    const message = `${operation} is retried in ${wait} ms: ${retry.error.message}`;
    this.#settings.logger.info(message, { operation, attempt, wait });
    emit(this.#settings, 'onRetry', () => ({ ...this.event, ...retry }));
  }

  /** Reports the end; only the first call has an effect. */
  end(outcome: EndEvent['outcome'], error?: unknown): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#state.end();
    const duration = performance.now() - this.startedAt;
    const times = { duration, queued: this.queued, backoff: this.#backoff };
    emit(this.#settings, 'onEnd', () => ({ ...this.event, ...this.#response, ...times, outcome, error }));
  }
}
