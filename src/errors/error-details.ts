import type { Activation } from '../spec/activation.ts';
import type { Audience } from '../spec/audience.ts';
import type { Cohort } from '../spec/cohort.ts';
import type { JobKind, JobResource } from '../spec/job-status.ts';
import type { Bucket } from '../spec/limits.ts';
import type { Estimate } from '../spec/open-resources.ts';
import type { BuildBudget } from '../spec/usage-report.ts';

/**
 * Outcome of a failed create request:
 * - `not-sent`: the request did not reach the service; you can repeat it;
 * - `refused`: the service refused the request; this call created nothing;
 * - `unknown`: the service may have created the resource; repeat the request with the error's `idempotencyKey` and the
 * same body;
 * - `done`: the service created the resource, but the response differs from the documentation, or the wait of
 * `createAndWait` failed.
 */
export type CreateOutcome = 'not-sent' | 'unknown' | 'refused' | 'done';

/** The resource that `createAndWait` created. Pass this object to `client.waits.wait`. */
export interface Created {
  /** Kind of the started job. */
  readonly kind: JobKind;
  /** Id of the created resource. */
  readonly id: number;
}

/** Details of a failed create request. */
export interface CreateDetails {
  /** Idempotency key of the create request, from the caller or random. */
  readonly idempotencyKey?: string;
  /** Whether the request took effect. */
  readonly outcome?: CreateOutcome;
  /** Kind and id of the created resource, if only the wait for its job failed. Not set if the job failed. */
  readonly created?: Created;
}

/**
 * State of an upload's slot after a failure:
 * - `usable`: you can send the file again to the same slot until it expires, 15 minutes after the reservation;
 * - `unusable`: the reservation has expired, or storage refuses it; reserve another slot;
 * - `unknown`: the response of storage was unexpected; reserve another slot to be safe.
 */
export type SlotState = 'usable' | 'unusable' | 'unknown';

/** An uploaded file that a create request can claim. */
export interface Upload {
  /** `upload_reference` to send in the create request. */
  readonly reference: string;
  /** Time by which the create request must reach the service. */
  readonly claimBefore: Date;
}

/** Details of a failed upload or import. */
export interface UploadDetails {
  /** State of the slot to which the client sent the file. */
  readonly slot?: SlotState;
  /** The uploaded file, if its claim failed and can still succeed. */
  readonly upload?: Upload;
}

/** A downloaded result. */
export interface DownloadedFile {
  /** Name of the datastream. */
  readonly name: string;
  /** Path of the file. */
  readonly path: string;
  /** Size in bytes. */
  readonly size: number;
}

/** A result that was not saved. */
export interface FailedDownload {
  /** Name of the datastream. */
  readonly name: string;
  /** Why the result was not saved. */
  readonly reason: string;
}

/** Details that every error may have. */
export interface Details extends CreateDetails, UploadDetails {
  /** The error that caused this error, without secrets. */
  readonly cause?: unknown;
  /** What to do. */
  readonly advice?: string | undefined;
}

/** Details of a failed call. */
export interface CallDetails extends Details {
  /** Name of the operation, such as `audiences.get`. */
  readonly operation: string;
  /** Number of attempts that the call made. */
  readonly attempts: number;
}

/** Details of an `ApiError`. */
export interface ApiErrorDetails extends CallDetails {
  /** HTTP status of the response. If this package refused the request before sending it, 422 or 429. */
  readonly status: number;
  /** The envelope's `code`, if the response had one. */
  readonly envelopeCode?: number;
  /** HTTP method of the request. */
  readonly method: string;
  /** Path below the base URL, without query. */
  readonly path: string;
  /** Value of the request id header, if the response has this header. */
  readonly requestId?: string;
  /** Headers of the response, without secrets. */
  readonly headers: Headers;
  /** Body of the response without secrets, truncated to 2 KiB. */
  readonly body: string;
  /** Seconds to wait before a retry. */
  readonly retryAfter?: number;
  /** Earliest time at which a retry may succeed. */
  readonly retryAt?: Date;
}

/** Messages by name of the invalid field. */
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
  /** Audience that the job builds. */
  readonly audience: Audience;
  /** Audience with `is_lookalike: true`. */
  readonly lookalike: Audience;
  /** Estimate of the size of an audience. */
  readonly estimate: Estimate;
  /** Activation with its datastreams. */
  readonly activation: Activation;
  /** Cohort imported from a file. */
  readonly cohort: Cohort;
}

/** Details of a job that did not complete. */
export interface JobErrorDetails {
  /** Kind of the job, such as `audience`. */
  readonly kind: JobKind;
  /** Id of the resource. */
  readonly id: number;
  /** The last known state of the resource. */
  readonly resource: JobResource;
  /** What to do. */
  readonly advice?: string | undefined;
}

/** The fields of a job's error, by its kind. */
type JobFields<Optional extends boolean = false> = {
  readonly [K in JobKind]: {
    /** Kind of the job, which determines the type of `resource`. */
    readonly kind: K;
    /** Id of the resource. */
    readonly id: number;
  } & (Optional extends true
    ? {
        /** The last known state of the resource, if there is one. */
        readonly resource?: JobResources[K];
      }
    : {
        /** The last known state of the resource. */
        readonly resource: JobResources[K];
      });
}[JobKind];

type FileFields = {
  /** Path of the file, or of its lock if the error is about the lock. Not set for data that is not from a file. */
  readonly path?: string;
};
type DownloadFields = {
  /** `activations.download`. */
  readonly operation: string;
  /** The saved files. */
  readonly saved: readonly DownloadedFile[];
  /** The results that were not saved, each with its reason. */
  readonly failed: readonly FailedDownload[];
};
export type JournalFields = {
  /** Path of the journal. */
  readonly path: string;
  /** Key of the create request, if the error is about a single key. */
  readonly key?: string;
};
export type OAuthFields = {
  /** The `error` of the authorization server, such as `invalid_grant`, or an `error` of this package. */
  readonly error: string;
  /** HTTP status, if the server refused the request. Not set for `invalid_response`. */
  readonly status?: number;
};
type RateLimitFields = ApiErrorDetails & {
  /** Rate bucket of the request. */
  readonly bucket: Bucket;
};
type ResponseFields = CallDetails & {
  /** HTTP status of the response. */
  readonly status: number;
  /** Body of the response without secrets, truncated to 2 KiB. */
  readonly body: string;
  /** Value of the request id header, if the response has this header. */
  readonly requestId?: string;
};

/** The fields of errors by their `code`, in addition to the fields of every error. */
export interface ErrorFields {
  readonly 'connection-failed': CallDetails;
  readonly 'attempt-timeout': CallDetails;
  readonly 'idle-timeout': CallDetails;
  readonly 'deadline-exceeded': CallDetails;
  readonly 'sign-in-timeout': CallDetails;
  readonly 'api-error': ApiErrorDetails;
  readonly 'authentication-failed': ApiErrorDetails & {
    /** What the service refused: the bearer `token`, or the email and password (`credentials`). */
    readonly reason: 'token' | 'credentials';
  };
  readonly 'permission-denied': ApiErrorDetails;
  readonly 'not-found': ApiErrorDetails;
  readonly 'not-acceptable': ApiErrorDetails;
  readonly 'validation-failed': ApiErrorDetails & {
    /** Messages by field name. */
    readonly errors: FieldErrors;
    /** `true` if this package refused the fields without sending a request. */
    readonly local: boolean;
  };
  readonly conflict: ApiErrorDetails;
  readonly 'rate-limited': RateLimitFields;
  readonly 'build-budget-exhausted': RateLimitFields & {
    /** The budget in the usage report, if the client could read the report. */
    readonly budget?: BuildBudget;
  };
  readonly 'server-error': ApiErrorDetails;
  readonly 'not-an-envelope': ResponseFields;
  readonly 'response-invalid': ResponseFields;
  readonly 'response-too-large': ResponseFields;
  readonly 'redirect-refused': ResponseFields;
  readonly 'job-failed': JobFields;
  readonly 'job-needs-info': JobFields;
  readonly 'job-cancelled': JobFields;
  readonly 'wait-timeout': JobFields<true>;
  readonly 'results-not-ready': {
    /** Kind of the job that has not completed. */
    readonly kind: 'activation';
    /** Id of the activation. */
    readonly id: number;
    /** The last known state of the activation. */
    readonly resource: Activation;
  };
  readonly 'file-unreadable': FileFields;
  readonly 'file-changed': FileFields;
  readonly 'size-mismatch': FileFields;
  readonly 'disk-full': FileFields;
  readonly 'file-unwritable': FileFields;
  readonly 'download-incomplete': DownloadFields;
  readonly 'account-changed': JournalFields;
  readonly 'body-changed': JournalFields;
  readonly 'outcome-expired': JournalFields;
  readonly 'journal-invalid': JournalFields;
  readonly 'journal-locked': JournalFields;
  readonly 'webhook-invalid': {
    /** Why the delivery could not be verified. */
    readonly reason: WebhookRefusal;
  };
  readonly 'oauth-failed': OAuthFields;
  readonly 'reauthorization-required': OAuthFields;
}
