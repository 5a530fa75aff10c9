import type { JobKind } from '../../spec/job-status.ts';
import type { CallHooks } from '../http/hooks.ts';
import type { Settings } from '../http/request-options.ts';

/** A wait or a watch, as hooks see it. */
export interface WaitInfo {
  /** Id of the wait, the same in all events of the wait and unique in the process. */
  readonly waitId: string;
  /** Kind of the awaited job. */
  readonly kind: JobKind;
  /** Id of the resource. */
  readonly id: number;
}

/** An event of a wait or a watch. `started` and `ended` happen exactly once each. */
export type WaitEvent = WaitInfo & WaitStep;

/** A step of a wait or a watch. */
export type WaitStep =
  | {
      /** The first event of every wait. */
      readonly type: 'started';
    }
  | {
      /** A poll has shown the state of the job. */
      readonly type: 'polled';
      /** `poll`: a request for the resource; `list`: a page of the list. */
      readonly source: 'poll' | 'list';
      /** Status id of the job. */
      readonly status: number;
      /** `callId` of the request. */
      readonly callId?: string;
    }
  | {
      /** The status of the job has changed. */
      readonly type: 'changed';
      /** `poll`: a request for the resource; `list`: a page of the list; `webhook`: a webhook event. */
      readonly source: 'poll' | 'list' | 'webhook';
      /** The new status id. */
      readonly status: number;
      /** The previous status id; not set for the first known status. */
      readonly from?: number;
    }
  | WaitEnd;

/** The end of a wait or a watch. */
export interface WaitEnd {
  /** The last event of every wait. */
  readonly type: 'ended';
  /**
   * How the job ended. If the wait ended first: `timeout`, `aborted` by the caller, or `failure`, for example of a
   * poll.
   */
  readonly outcome: 'completed' | 'needs-info' | 'failed' | 'cancelled' | 'timeout' | 'aborted' | 'failure';
  /** The last known status id, if any. */
  readonly status?: number;
  /** Source of the final state. Not set if the job has not ended. */
  readonly source?: 'poll' | 'list' | 'webhook';
  /** Milliseconds since the wait began. */
  readonly duration: number;
  /**
   * Estimated milliseconds from the end of the job until the wait noticed it: the time since `updated_at`, by the clock
   * of this machine. At most the time since a poll last showed a running job, or since the wait started.
   */
  readonly lateness?: number;
  /** Error with which the wait ended although the job has not failed. */
  readonly error?: unknown;
}

/**
 * Callbacks that observe calls and waits. If a callback throws or rejects, the client logs the error, and the call or
 * wait continues.
 */
export interface Hooks extends CallHooks {
  /** Called with each step of a wait or a watch. */
  readonly onWait?: ((event: WaitEvent) => void) | undefined;
}

/** Settings of a client whose hooks also observe waits. */
export interface WaitSettings extends Settings {
  readonly hooks: readonly Hooks[];
}
