import type { Activation } from '../schemas/activation.ts';
import type { Audience } from '../schemas/audience.ts';
import type { Cohort } from '../schemas/cohort.ts';
import type { Estimate } from '../schemas/open-resources.ts';
import type { JobKind } from '../spec/job-status.ts';
import type { Bucket } from '../spec/limits.ts';

/**
 * Outcome of a failed create request:
 * - `not-sent`: nothing reached the service; a retry is safe, with any key;
 * - `refused`: the service refused it; nothing was created by this call;
 * - `unknown`: it may have been created; retry with the error's `idempotencyKey` to find out;
 * - `done`: it was created, but its response does not have the documented shape, or the wait of `createAndWait` failed.
 */
export type CreateOutcome = 'not-sent' | 'unknown' | 'refused' | 'done';

/** The resource that `createAndWait` created; pass its kind and id to `client.waits.wait`. */
export interface Created {
  readonly kind: JobKind;
  readonly id: number;
}

/** Details of a failed create request. */
export interface CreateDetails {
  readonly idempotencyKey?: string;
  readonly outcome?: CreateOutcome;
  readonly created?: Created;
}

/**
 * State of an upload's slot after a failure:
 * - `usable`: the file may be sent again to the same reservation until it expires after 15 minutes;
 * - `unusable`: the reservation has expired, or storage refuses it; reserve another slot;
 * - `unknown`: the response of storage is not one of those expected; reserve another slot to be safe.
 */
export type SlotState = 'usable' | 'unusable' | 'unknown';

/** An uploaded file that a create request can claim. */
export interface Upload {
  /** `upload_reference` to send in the create request. */
  readonly reference: string;
  /** Time before which the create request must reach the service. */
  readonly claimBefore: Date;
}

/** Details of a failed upload or import. */
export interface UploadDetails {
  readonly slot?: SlotState;
  readonly upload?: Upload;
}

/** Details that every error may carry. */
export interface Details extends CreateDetails, UploadDetails {
  readonly cause?: unknown;
}

/** Details of a failed call. */
export interface CallDetails extends Details {
  readonly operation: string;
  readonly attempts: number;
}

/** Details of an `ApiError`. */
export interface ApiErrorDetails extends CallDetails {
  readonly status: number;
  readonly envelopeCode?: number;
  readonly method: string;
  readonly path: string;
  readonly requestId?: string;
  readonly headers: Headers;
  readonly body: string;
  readonly retryAfter?: number;
  readonly retryAt?: Date;
}

/** Messages for each invalid field. */
export type FieldErrors = Readonly<Record<string, readonly string[]>>;

/** Reason why a webhook delivery could not be verified. */
export type WebhookRefusal =
  | 'missing-header'
  | 'malformed-header'
  | 'no-match'
  | 'too-old'
  | 'too-new'
  | 'parsed-body'
  | 'not-json'
  | 'not-an-event';

/** The resource of each kind of job. */
export interface JobResources {
  readonly audience: Audience;
  readonly lookalike: Audience;
  readonly estimate: Estimate;
  readonly activation: Activation;
  readonly cohort: Cohort;
}

/** Fields of the resource of any job. */
export interface JobState {
  readonly id: number;
  /** Status of the job. Final statuses are 104, 107 and 4xx; those of cohorts are numbered differently. */
  readonly status: { readonly id: number; readonly name: string };
}

/** Details of a job that did not complete. */
export interface JobErrorDetails {
  readonly kind: JobKind;
  readonly id: number;
  /** The resource when it was last read. */
  readonly resource: JobState;
}

/** The fields of a job's error, by its kind. */
type JobFields<Optional extends boolean = false> = {
  readonly [K in JobKind]: { readonly kind: K; readonly id: number } & (Optional extends true
    ? { readonly resource?: JobResources[K] }
    : { readonly resource: JobResources[K] });
}[JobKind];

type FileFields = { readonly path?: string };
type OAuthFields = { readonly error: string; readonly status?: number };
type RateLimitFields = ApiErrorDetails & { readonly bucket: Bucket };
type ResponseFields = CallDetails & { readonly status: number; readonly body: string; readonly requestId?: string };

/** The fields of errors by their `code`, besides those that every error has. */
export interface ErrorFields {
  readonly 'connection-failed': CallDetails;
  readonly 'attempt-timeout': CallDetails;
  readonly 'idle-timeout': CallDetails;
  readonly 'deadline-exceeded': CallDetails;
  readonly 'sign-in-timeout': CallDetails;
  readonly 'api-error': ApiErrorDetails;
  readonly 'authentication-failed': ApiErrorDetails & { readonly reason: 'token' | 'credentials' };
  readonly 'permission-denied': ApiErrorDetails;
  readonly 'not-found': ApiErrorDetails;
  readonly 'not-acceptable': ApiErrorDetails;
  readonly 'validation-failed': ApiErrorDetails & { readonly errors: FieldErrors; readonly local: boolean };
  readonly conflict: ApiErrorDetails;
  readonly 'rate-limited': RateLimitFields;
  readonly 'build-budget-exhausted': RateLimitFields & { readonly budget?: Readonly<Record<string, unknown>> };
  readonly 'server-error': ApiErrorDetails;
  readonly 'not-an-envelope': ResponseFields;
  readonly 'response-invalid': ResponseFields;
  readonly 'response-too-large': ResponseFields;
  readonly 'redirect-refused': ResponseFields;
  readonly 'job-failed': JobFields;
  readonly 'job-needs-info': JobFields;
  readonly 'job-cancelled': JobFields;
  readonly 'wait-timeout': JobFields<true>;
  readonly 'results-not-ready': { readonly kind: 'activation'; readonly id: number; readonly resource: Activation };
  readonly 'file-unreadable': FileFields;
  readonly 'file-changed': FileFields;
  readonly 'size-mismatch': FileFields;
  readonly 'disk-full': FileFields;
  readonly 'file-unwritable': FileFields;
  readonly 'webhook-invalid': { readonly reason: WebhookRefusal };
  readonly 'oauth-failed': OAuthFields;
  readonly 'reauthorization-required': OAuthFields;
}
