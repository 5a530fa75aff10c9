import type { BuildBudget } from '../schemas/usage-report.ts';
import type { JobKind } from '../spec/job-status.ts';
import type { Bucket, RateLimit } from '../spec/limits.ts';
import type { CallAdditions } from './call-additions.ts';

/** A call or a transfer, as hooks see it. */
export interface RequestEvent {
  /** The same in all events of one call; unique in the process. */
  readonly callId: string;
  /** Operation name, or method and path of a free request. */
  readonly operation: string;
  readonly method: string;
  /** Address of the service, or origin of the storage that a file is transferred to or from. */
  readonly baseUrl: string;
  /** Path below the base URL, without query. */
  readonly path: string;
  /** Path with names of parameters, such as `/api/v2/audiences/{id}`; for a transfer there is none. */
  readonly pathTemplate?: string;
  /** Rate bucket, and its limit. */
  readonly bucket?: Bucket;
  readonly rateLimit?: RateLimit;
  /** True for polls: one serves all waits that it shows the job of. */
  readonly isPoll: boolean;
  /** 1 for the first attempt, 0 before it. */
  readonly attempt: number;
  readonly idempotencyKey?: string;
}

/** A complete response, as hooks see it. */
export interface ResponseEvent extends RequestEvent {
  readonly status: number;
  /** Milliseconds from sending until the entire response has arrived; for a download, only its headers. */
  readonly duration: number;
  readonly requestId?: string;
}

/** A retry, as hooks see it before it is made. */
export interface RetryEvent extends RequestEvent {
  /** A failure that may pass, an identical create in progress (409), or a rejected token (401). */
  readonly reason: 'transient' | 'conflict' | 'token';
  /** Error of the last attempt. */
  readonly error: Error;
  /** Milliseconds until the next attempt; the wait for a permit of its rate bucket is added. */
  readonly wait: number;
}

/**
 * The end of a call, as hooks see it: exactly one for each call. `attempt` is the number of requests sent. A download ends
 * when its stream has been read or cancelled.
 */
export interface EndEvent extends RequestEvent {
  /** `aborted` by the caller's signal, or because the stream of a download was cancelled. */
  readonly outcome: 'success' | 'failure' | 'aborted';
  /** Status and request id of the response to the last request, if there was one. */
  readonly status?: number;
  readonly requestId?: string;
  /** The error that the call rejects with. */
  readonly error?: unknown;
  /** Milliseconds from the call to its end; of these: */
  readonly duration: number;
  /** milliseconds waiting for the token, the build budget and permits of the rate bucket, */
  readonly queued: number;
  /** milliseconds waiting between attempts. */
  readonly backoff: number;
}

/** A wait or a watch, as hooks see it. */
export interface WaitInfo {
  /** The same in all events of one wait; unique in the process. */
  readonly waitId: string;
  readonly kind: JobKind;
  /** Id of the resource. */
  readonly id: number;
}

/** An event of a wait or a watch. `begun` and `ended` happen exactly once each. */
export type WaitEvent = WaitInfo & WaitStep;

/** A step of a wait or a watch. */
export type WaitStep =
  | { readonly type: 'begun' }
  /** A poll has shown the state of the job. `callId` is that of its request, unless another process sent it. */
  | { readonly type: 'polled'; readonly source: 'poll' | 'list'; readonly status: number; readonly callId?: string }
  /** The job has another status than before; `from` is not set for the first one that is known. */
  | {
      readonly type: 'changed';
      readonly source: 'poll' | 'list' | 'webhook';
      readonly status: number;
      readonly from?: number;
    }
  | WaitEnd;

/** The end of a wait or a watch. */
export interface WaitEnd {
  readonly type: 'ended';
  /** How the job has ended or, if it has not: `timeout`, `aborted` by the caller, or `failure` of the polls. */
  readonly outcome: 'completed' | 'needs-info' | 'failed' | 'cancelled' | 'timeout' | 'aborted' | 'failure';
  /** The last known status, if any. */
  readonly status?: number;
  /** How the end of the job was learned. */
  readonly source?: 'poll' | 'list' | 'webhook';
  /** Milliseconds. */
  readonly duration: number;
  /**
   * Milliseconds from the end of the job until the wait learned of it: since `updated_at`, which counts full seconds,
   * by this machine's clock, but at most since the job was last seen running, or since the wait began.
   */
  readonly lateness?: number;
  /** Why the wait has failed although the job has not. */
  readonly error?: unknown;
}

/** Callbacks that observe calls and waits. An error that one throws is logged and does not affect the call. */
export interface Hooks {
  readonly onRequest?: ((event: RequestEvent) => void) | undefined;
  readonly onResponse?: ((event: ResponseEvent) => void) | undefined;
  readonly onRetry?: ((event: RetryEvent) => void) | undefined;
  /**
   * Decides, before `onRetry`, whether a retry that the operation allows is made; `false` ends the call with the error of
   * the attempt. Of several such hooks, each can refuse. If it throws, the retry is made.
   *
   * @example
   * shouldRetry: ({ reason, attempt }) => reason !== 'transient' || attempt < 2
   */
  readonly shouldRetry?: ((event: RetryEvent) => boolean) | undefined;
  /**
   * Called once at the end of each call: a success when its response has been read, also if its data then turn out not
   * to be as documented.
   */
  readonly onEnd?: ((event: EndEvent) => void) | undefined;
  /** Called with each step of a wait or a watch. */
  readonly onWait?: ((event: WaitEvent) => void) | undefined;
  /** Called with the build budget whenever a usage report shows it. */
  readonly onBuildBudget?: ((budget: BuildBudget) => void) | undefined;
  /**
   * Runs each call, upload and download: `next` begins it, resolves at its end, and rejects with its error. It runs in
   * the context of `next`, such as that of an `AsyncLocalStorage`; requests that resume a download run in that of its
   * reader. If `around` does not call `next`, the call begins when `around` has ended.
   *
   * @example
   * around: (call, next) => storage.run({ callId: call.callId }, next)
   */
  readonly around?: ((call: RequestEvent, next: (additions?: CallAdditions) => Promise<void>) => unknown) | undefined;
}
