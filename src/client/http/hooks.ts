import type { Bucket, RateLimit } from '../../spec/limits.ts';
import type { BuildBudget } from '../../spec/usage-report.ts';
import type { Fetch } from './send.ts';

/** What an `around` hook adds to the requests of a call. */
export interface CallAdditions {
  /** Headers, such as `traceparent`. Uploads and downloads ignore them. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /**
   * Wraps `fetch`: receives a `fetch` function, and returns the function to call instead. Called synchronously for each
   * request, starting with the outermost `around`. If the returned function rejects, the request counts as not sent
   * only if the received function could not connect. Uploads in browsers ignore `wrapFetch`, because they use
   * `XMLHttpRequest`, unless you pass your own `fetch` or the code runs in a service worker.
   */
  readonly wrapFetch?: ((fetch: Fetch) => Fetch) | undefined;
}

/** A call or a transfer, as hooks see it. */
export interface RequestEvent {
  /** Id of the call, the same in all events of the call and unique in the process. */
  readonly callId: string;
  /** Operation name, or method and path of a `client.request` call. */
  readonly operation: string;
  /** HTTP method. */
  readonly method: string;
  /** Address of the service or, for a transfer, origin of the storage. */
  readonly baseUrl: string;
  /** Path below the base URL, without query. */
  readonly path: string;
  /** Path with the names of its parameters, such as `/api/v2/audiences/{id}`. Not set for a transfer. */
  readonly pathTemplate?: string;
  /** Rate bucket that counts the request. Not set for a transfer. */
  readonly bucket?: Bucket;
  /** Limit of the rate bucket. */
  readonly rateLimit?: RateLimit;
  /** True for polls. One poll serves the waits for all jobs in its response. */
  readonly isPoll: boolean;
  /** Number of the attempt: 1 for the first attempt, 0 before the first attempt. */
  readonly attempt: number;
  /** Idempotency key of a create request, the same in all attempts. `undefined` for other operations. */
  readonly idempotencyKey?: string;
}

/** A response, as hooks see it. */
export interface ResponseEvent extends RequestEvent {
  /** HTTP status of the response. */
  readonly status: number;
  /**
   * Milliseconds from sending until the entire response has arrived. For a download, and for a 2xx response of
   * `connectMcp`, until the headers have arrived.
   */
  readonly duration: number;
  /** Value of the response header that `requestIdHeader` names, if the response has this header. */
  readonly requestId?: string;
}

/** A retry that the client is about to make, as hooks see it. */
export interface RetryEvent extends RequestEvent {
  /**
   * Why the client retries: a transient error, a create request that may be in flight (409), a rejected token (401), or
   * a used-up build budget (429).
   */
  readonly reason: 'transient' | 'conflict' | 'token' | 'budget';
  /** Error of the last attempt. */
  readonly error: Error;
  /**
   * Milliseconds of backoff. After the backoff, the attempt also waits for a permit of its rate bucket and, if `reason`
   * is `budget`, for other create requests.
   */
  readonly wait: number;
}

/** A call, upload or download that has been waiting for five seconds before its next request. */
export interface WaitingEvent extends RequestEvent {
  /**
   * - `token`: the token source has not returned a token;
   * - `rate-limit`: the rate bucket has no permit;
   * - `build-budget`: the build budget of the organization is used up;
   * - `backoff`: the client waits before the next attempt;
   * - `retry-after`: the client waits until the time that the service has asked for;
   * - `conflict`: a create request with the same idempotency key may still be in flight (409).
   */
  readonly reason: 'token' | 'rate-limit' | 'build-budget' | 'backoff' | 'retry-after' | 'conflict';
  /** Time at which the call is expected to continue, if known. For `conflict`, the latest possible time. */
  readonly until?: Date;
  /** The log line: what the call waits for, and until when. */
  readonly message: string;
}

/**
 * The end of a call, as hooks see it. Each call ends exactly once. `attempt` is the number of requests sent. A download
 * ends when the program has read its stream to the end or cancelled the stream.
 */
export interface EndEvent extends RequestEvent {
  /** `aborted`: the caller's signal aborted the call, or the stream of a download was cancelled. */
  readonly outcome: 'success' | 'failure' | 'aborted';
  /** HTTP status of the response to the last request, if there was one. */
  readonly status?: number;
  /** Request id of the response to the last request, if the response had a request id. */
  readonly requestId?: string;
  /** The error with which the call rejects. */
  readonly error?: unknown;
  /** Total duration of the call in milliseconds, including `queued` and `backoff`. */
  readonly duration: number;
  /** Milliseconds spent waiting for the token, the build budget and permits of the rate bucket. */
  readonly queued: number;
  /** Milliseconds spent waiting between attempts. */
  readonly backoff: number;
}

/** Callbacks that observe calls. If a callback throws or rejects, the client logs the error, and the call continues. */
export interface CallHooks {
  /** Called before the client sends an attempt, once the attempt has a permit of the rate bucket. */
  readonly onRequest?: ((event: RequestEvent) => void) | undefined;
  /**
   * Called with each response, including responses with an error status. Not called for an attempt without a response.
   */
  readonly onResponse?: ((event: ResponseEvent) => void) | undefined;
  /** Called before the delay that precedes a retry. */
  readonly onRetry?: ((event: RetryEvent) => void) | undefined;
  /**
   * Called when a call has been waiting for five seconds for a token, a permit, the build budget, the next attempt, or
   * the response to a create request in flight. A call may wait, and report this, several times. The client also logs
   * the message at level `info`, once for calls that wait together.
   *
   * @example
   * // "audiences.create is waiting: the `write` limit, 30 requests per minute, …"
   * onWaiting: ({ message }) => console.error(message)
   */
  readonly onWaiting?: ((event: WaitingEvent) => void) | undefined;
  /**
   * Decides, before `onRetry`, whether the client makes a retry that the operation allows. `false`, or a promise of
   * `false`, ends the call with the error of the attempt. Each of several `shouldRetry` hooks can refuse. If a hook
   * throws or rejects, the client retries.
   *
   * @example
   * shouldRetry: ({ reason, attempt }) => reason !== 'transient' || attempt < 2
   */
  readonly shouldRetry?: ((event: RetryEvent) => boolean | Promise<boolean>) | undefined;
  /**
   * Called once at the end of each call. A call succeeds when the client has read its response, even if the data differ
   * from the documented fields.
   */
  readonly onEnd?: ((event: EndEvent) => void) | undefined;
  /** Called with the build budget of each usage report that the client reads. */
  readonly onBuildBudget?: ((budget: BuildBudget) => void) | undefined;
  /**
   * Runs each call, upload and download. `next` starts the call, resolves when the call succeeds, and rejects with its
   * error. The call runs in the async context of `next` (`AsyncLocalStorage`). Requests that resume a download run in
   * the context of its reader. If `around` does not call `next`, the call starts after `around` has ended.
   *
   * @example
   * around: (call, next) => storage.run({ callId: call.callId }, next)
   */
  readonly around?: ((call: RequestEvent, next: (additions?: CallAdditions) => Promise<void>) => unknown) | undefined;
}
