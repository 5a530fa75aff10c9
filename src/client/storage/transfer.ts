import { AbortScope, startTimer } from '../../util/abort.ts';
import { checkNumbers, checkOptionNames } from '../../util/input-checks.ts';
import type { Redactor } from '../../util/redact.ts';
import { withRetries } from '../../util/retry.ts';
import { CallObserver, logRetry } from '../http/call-observer.ts';
import { nextCallId } from '../http/call-record.ts';
import type { EndEvent, RequestEvent } from '../http/hooks.ts';
import { FIELD_OPTIONS, KEY_OPTIONS, type Settings } from '../http/request-options.ts';
import { AttemptFailure } from '../http/response-errors.ts';
import { retryDelay } from '../http/retry-policy.ts';
import { NODE_LIMIT_MS, warnOfNodeLimit } from '../http/runtime-limits.ts';
import type { Fetch } from '../http/send.ts';
import type { Transport } from '../http/transport.ts';
import { type Waiting, waitToRetry } from '../http/waiting.ts';
import { idleFailure, lostFailure, queryRedactor, responseFailure } from './storage-errors.ts';

/** Options of every transfer. */
export interface TransferOptions {
  /** Signal that aborts the transfer immediately. The transfer rejects with the reason of the signal. */
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds without a transferred byte after which an attempt fails. @default 30000 ms */
  readonly idleTimeout?: number | undefined;
  /**
   * Maximum number of retries. A download resets the count whenever data arrive.
   * @default the client's `maxRetries`
   */
  readonly maxRetries?: number | undefined;
  /**
   * The longest `Retry-After` to honor, in milliseconds. If storage asks for more, the transfer fails.
   * @default the client's `maxRetryWait`
   */
  readonly maxRetryWait?: number | undefined;
}

const TRANSFER_OPTIONS = ['signal', 'idleTimeout', 'maxRetries', 'maxRetryWait', 'onProgress'];
const UPLOAD_OPTIONS = [...TRANSFER_OPTIONS, 'size', 'headers'];

/** Names of the options of each method that transfers a file. */
const OPTION_NAMES = {
  'uploads.send': UPLOAD_OPTIONS,
  'uploads.upload': [...UPLOAD_OPTIONS, 'token', 'request'],
  'cohorts.import': [
    ...UPLOAD_OPTIONS,
    ...KEY_OPTIONS,
    ...FIELD_OPTIONS,
    'token',
    'onUploaded',
    'onCreated',
    'wait',
    'request',
  ],
  'activations.download': [...TRANSFER_OPTIONS, 'token'],
} as const;

export type TransferMethod = keyof typeof OPTION_NAMES;

/** Refuses unknown options of a transfer, and invalid numbers. */
export function checkTransferOptions(method: TransferMethod, options: TransferOptions): void {
  checkOptionNames(options, method, OPTION_NAMES[method]);
  checkNumbers(options, ['idleTimeout', 'maxRetries', 'maxRetryWait']);
}

const IDLE_TIMEOUT_MS = 30_000;

/**
 * Minimum time between two calls of `onProgress`, in milliseconds. Without a minimum, some runtimes would call it
 * thousands of times per second.
 */
const PROGRESS_INTERVAL_MS = 50;

/** A file to upload or download. */
interface TransferPlan {
  readonly operation: 'uploads.send' | 'activations.download';
  readonly method: 'PUT' | 'GET';
  readonly url: URL;
  readonly transport: Transport;
  readonly options: TransferOptions;
  /** Time on the monotonic clock after which the client does not retry. @default never */
  readonly expiresAt?: number;
  /** Returns whether another attempt is possible after a failed attempt. */
  canRetry(): boolean;
  /** Returns advice for the error of a response, by its status. */
  advice?(status: number): string | undefined;
  /** Returns the progress for errors, such as ` after 5 of 10 bytes`. */
  progress?(): string;
}

/** The requests for one file: retries, hooks, idle timeouts and errors. */
export class Transfer {
  readonly settings: Settings;
  /** Aborts when the caller's signal aborts or the client is closed. */
  readonly scope: AbortScope;
  /** Scope of the latest attempt. Also aborts after `idleTimeout` without a transferred byte. */
  attempt: AbortScope | undefined;
  /** Number of retries. A download resets the number whenever data arrive. */
  retries = 0;
  /** Address of the next request. */
  url: URL;
  /** Token of the next request. */
  bearer: string | undefined;
  readonly #plan: TransferPlan;
  readonly #idleTimeout: number;
  readonly #callId = nextCallId();
  readonly #observer: CallObserver | undefined;
  #attempts = 0;
  /** True once the latest request has a response. */
  #hasResponse = false;
  #nextProgressAt = 0;
  readonly #ended = Promise.withResolvers<void>();
  #stopIdleTimer: (() => void) | undefined;
  #retryWait: Waiting | undefined;
  /** The error of the last failed attempt, if there was one. */
  lastError: Error | undefined;

  constructor(plan: TransferPlan) {
    const { transport, options } = plan;
    this.settings = transport.settings;
    this.scope = new AbortScope({ owner: transport.state, parents: [options.signal] });
    this.#plan = plan;
    this.url = plan.url;
    this.#idleTimeout = options.idleTimeout ?? IDLE_TIMEOUT_MS;
    const { settings, state } = transport;
    if (this.#idleTimeout > NODE_LIMIT_MS)
      warnOfNodeLimit('idleTimeout', this.#idleTimeout, { settings, state, fetchOptions: settings.fetchOptions });
    this.#observer = this.settings.hooks.length > 0 ? new CallObserver(this.settings, () => this.event) : undefined;
    this.#ended.promise.catch(() => {});
  }

  /** The latest request, in the form that hooks and errors show, without its query. */
  get event(): RequestEvent {
    const { operation, method } = this.#plan;
    const { origin: baseUrl, pathname: path } = this.url;
    return { callId: this.#callId, operation, method, baseUrl, path, isPoll: false, attempt: this.#attempts };
  }

  /** The `fetch` of the client, wrapped by the `around` hooks. */
  get fetch(): Fetch {
    return this.#observer?.fetch ?? this.settings.fetch;
  }

  /** Runs `work` within the user's `around` hooks, which last until {@link end}. */
  begin<R>(work: () => Promise<R>): Promise<R> {
    return this.#observer ? this.#observer.around(this.scope.signal, work, this.#ended.promise) : work();
  }

  /** Runs `attempt` until it succeeds. Rejects with an {@link AttemptFailure}, or the reason of an abort. */
  run<T>(attempt: () => Promise<T>): Promise<T> {
    const rethrow = (error: unknown): never => {
      this.#endAttempt();
      throw this.#failureOf(error);
    };
    return withRetries(() => attempt().catch(rethrow), {
      delayAfter: (error) => (error instanceof AttemptFailure ? this.#delayAfter(error) : undefined),
      signal: this.scope.signal,
    });
  }

  /**
   * Sends one request and calls the hooks. Rejects for a status other than 2xx, unless `accepts` returns true. The idle
   * timeout keeps running until {@link rest}, so that it also covers reading the body of the response.
   */
  async exchange(
    send: (signal: AbortSignal) => Promise<Response>,
    accepts?: (response: Response) => boolean,
  ): Promise<Response> {
    const attempt = new AbortScope({ parents: [this.scope.signal] });
    this.attempt = attempt;
    this.#retryWait?.end();
    this.touch();
    this.#attempts++;
    this.#hasResponse = false;
    this.#observer?.request();
    const response = await send(attempt.signal);
    this.#hasResponse = true;
    this.#observer?.response({ status: response.status });
    if (response.ok || accepts?.(response)) return response;
    const advice = this.#plan.advice?.(response.status);
    throw await responseFailure(response, this.event, this.#redactor(), attempt.signal, advice);
  }

  /** Restarts the idle timeout, for example because bytes were transferred. */
  touch(): void {
    this.#stopIdleTimer?.();
    this.#stopIdleTimer = startTimer(this.#idleTimeout, () => this.attempt?.abort(new Error('idle')));
  }

  /** Stops the idle timeout until the next {@link touch}, while no data are expected. */
  rest(): void {
    this.#stopIdleTimer?.();
  }

  /** Returns whether to call `onProgress`: immediately the first time, then at most every 50 ms. */
  isProgressDue(): boolean {
    const now = performance.now();
    if (now < this.#nextProgressAt) return false;
    this.#nextProgressAt = now + PROGRESS_INTERVAL_MS;
    return true;
  }

  /** Passes the end of the transfer to the user's hook. Only the first call has an effect. */
  end(outcome: EndEvent['outcome'], error?: unknown): void {
    this.#observer?.end(outcome, error);
    if (error === undefined) this.#ended.resolve();
    else this.#ended.reject(error);
  }

  fail(error: unknown): void {
    this.end(this.#plan.options.signal?.aborted ? 'aborted' : 'failure', error);
  }

  /** Removes all timers and listeners. Reports a transfer that has not ended as aborted. */
  close(): void {
    const { signal } = this.scope;
    if (signal.aborted) this.fail(signal.reason);
    this.end('aborted');
    this.#retryWait?.end();
    this.#endAttempt();
    this.scope.dispose();
  }

  #endAttempt(): void {
    this.rest();
    this.attempt?.dispose();
  }

  #failureOf(error: unknown): AttemptFailure {
    if (error instanceof AttemptFailure) return error;
    const progress = this.#plan.progress?.() ?? '';
    if (this.attempt?.signal.aborted) return idleFailure(this.#idleTimeout, this.event, progress);
    return lostFailure(error, this.event, this.#redactor(), { progress, hasResponse: this.#hasResponse });
  }

  #redactor(): Redactor {
    const { redactor } = this.settings;
    return queryRedactor(this.bearer === undefined ? redactor : redactor.with([this.bearer]), this.url);
  }

  /** Returns the delay before the next attempt, or `undefined` to give up. */
  async #delayAfter({ failure, error }: AttemptFailure): Promise<number | undefined> {
    const { settings } = this;
    const { options, canRetry, expiresAt = Number.POSITIVE_INFINITY } = this.#plan;
    if (!canRetry()) return undefined;
    const wait = retryDelay(failure, this.retries++, {
      retry: 'always',
      maxRetries: options.maxRetries ?? settings.maxRetries,
      maxRetryWait: options.maxRetryWait ?? settings.maxRetryWait,
      backoff: settings.backoff,
      timeLeft: expiresAt - performance.now(),
    });
    if (wait === undefined) return undefined;
    const retry = { reason: 'transient', error, wait } as const;
    if ((await this.#observer?.allowsRetry(retry, this.scope.signal)) === false) return undefined;
    logRetry(settings.logger, this.event, wait, error);
    this.#observer?.retry(retry);
    this.lastError = error;
    this.#retryWait = waitToRetry(this, failure, wait);
    return wait;
  }
}
