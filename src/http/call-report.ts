import { emit, runHook } from '../util/run-hooks.ts';
import type { ClientState } from './client-state.ts';
import type { EndEvent, RequestEvent, ResponseEvent, RetryEvent } from './hooks.ts';
import type { Settings } from './request-options.ts';

/** The properties of a call that stay the same, or that its report does not count. */
export type CallFacts = Omit<RequestEvent, 'callId' | 'attempt'>;

let calls = 0;

/** Counts the requests and the times of one call or transfer, and passes its events to the hooks and the log. */
export class CallReport {
  /** Requests sent. */
  attempts = 0;
  readonly startedAt = performance.now();
  readonly #callId = `call_${++calls}`;
  readonly #state: ClientState;
  readonly #settings: Settings;
  readonly #describe: () => CallFacts;
  /** Milliseconds waited for the token, the build budget and permits, and between attempts. */
  readonly #waited = { queued: 0, backoff: 0 };
  /** The kind of waiting under way, if any, and since when; otherwise when the last request was sent. */
  #waitingFor: 'queued' | 'backoff' | undefined;
  #since = 0;
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

  /** Counts the time from now on as waiting, or no longer. */
  waitFor(what: 'queued' | 'backoff' | undefined): void {
    const now = performance.now();
    if (this.#waitingFor) this.#waited[this.#waitingFor] += now - this.#since;
    this.#waitingFor = what;
    this.#since = now;
  }

  /** Reports that a request is sent. */
  request(): void {
    this.attempts++;
    this.#response = undefined;
    this.waitFor(undefined);
    emit(this.#settings, 'onRequest', () => this.event);
  }

  /** Reports the response of the request. */
  response(response: Pick<ResponseEvent, 'status' | 'requestId'>): void {
    this.#response = response;
    const duration = performance.now() - this.#since;
    const { logger, isDebugged } = this.#settings;
    if (isDebugged) {
      const { rateLimit, ...fields } = this.event;
      logger.debug(`${fields.method} ${fields.path} → ${response.status}`, { ...fields, ...response, duration });
    }
    emit(this.#settings, 'onResponse', () => ({ ...this.event, ...response, duration }));
  }

  /** Returns whether no hook refuses a retry. */
  allowsRetry(retry: Pick<RetryEvent, 'reason' | 'error' | 'wait'>): boolean {
    return this.#settings.hooks.every(({ shouldRetry }) => {
      let answer: unknown;
      if (shouldRetry) {
        runHook(this.#settings, 'shouldRetry', () => {
          answer = shouldRetry({ ...this.event, ...retry });
        });
      }
      return answer !== false;
    });
  }

  /** Reports that another attempt follows after `wait` milliseconds. */
  retry(retry: Pick<RetryEvent, 'reason' | 'error' | 'wait'>): void {
    this.waitFor('backoff');
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
    this.waitFor(undefined);
    const times = { duration, ...this.#waited };
    emit(this.#settings, 'onEnd', () => ({ ...this.event, ...this.#response, ...times, outcome, error }));
  }
}
