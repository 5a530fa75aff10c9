import type { Activation } from '../spec/activation.ts';
import type { JobKind, JobResource } from '../spec/job-status.ts';
import { AudienceError } from './audience-error.ts';
import type { Details, JobErrorDetails, JobResources } from './error-details.ts';

/** The error class `E`, with the type of its `resource` determined by its `kind`. */
type OfKind<E extends JobError> = {
  readonly [K in JobKind]: E & {
    /** Kind of the job, which determines the type of `resource`. */
    readonly kind: K;
    /** The last known state of the resource. */
    readonly resource: JobResources[K];
  };
}[JobKind];

/** Any {@link JobError}. Its `kind` determines the type of its `resource`. */
export type AnyJobError = OfKind<JobFailedError> | OfKind<JobNeedsInfoError> | OfKind<JobCancelledError>;

/** Any {@link WaitTimeoutError}. Its `kind` determines the type of its `resource`. */
export type AnyWaitTimeoutError = {
  readonly [K in JobKind]: WaitTimeoutError & {
    /** Kind of the job, which determines the type of `resource`. */
    readonly kind: K;
    /** The last known state of the resource, if there is one. */
    readonly resource?: JobResources[K];
  };
}[JobKind];

/** A job ended without completing. Its resource still exists at the service. */
export class JobError extends AudienceError {
  static override readonly className: string = 'JobError';
  declare static readonly isInstance: (value: unknown) => value is AnyJobError;
  declare readonly code: 'job-failed' | 'job-needs-info' | 'job-cancelled';
  /** Kind of the job, such as `audience`. */
  declare readonly kind: JobKind;
  /** Id of the resource that the job belongs to. */
  declare readonly id: number;
  /** The last known state of the resource. */
  declare readonly resource: JobResource;
  constructor(message: string, details: JobErrorDetails & { readonly code: JobError['code'] }) {
    super(message, details);
  }
}

/** The job ended with a 4xx status (for a cohort, with status 5), except for a lookalike with status 400. */
export class JobFailedError extends JobError {
  static override readonly className: string = 'JobFailedError';
  declare static readonly isInstance: (value: unknown) => value is OfKind<JobFailedError>;
  declare readonly code: 'job-failed';
  constructor(message: string, details: JobErrorDetails) {
    super(message, { ...details, code: 'job-failed' });
  }
}

/** The job ended with status 107 Additional Info. Only the console of the service shows the reason. */
export class JobNeedsInfoError extends JobError {
  static override readonly className: string = 'JobNeedsInfoError';
  declare static readonly isInstance: (value: unknown) => value is OfKind<JobNeedsInfoError>;
  declare readonly code: 'job-needs-info';
  constructor(message: string, details: JobErrorDetails) {
    super(message, { ...details, code: 'job-needs-info' });
  }
}

/** A lookalike ended at status 400, because it was cancelled while running. */
export class JobCancelledError extends JobError {
  static override readonly className: string = 'JobCancelledError';
  declare static readonly isInstance: (value: unknown) => value is OfKind<JobCancelledError>;
  declare readonly code: 'job-cancelled';
  constructor(message: string, details: JobErrorDetails) {
    super(message, { ...details, code: 'job-cancelled' });
  }
}

/** A wait took longer than its `timeout`. The job keeps running. `client.waits.wait(error)` waits again. */
export class WaitTimeoutError extends AudienceError {
  static override readonly className: string = 'WaitTimeoutError';
  declare static readonly isInstance: (value: unknown) => value is AnyWaitTimeoutError;
  declare readonly code: 'wait-timeout';
  /** Kind of the job, such as `audience`. */
  declare readonly kind: JobKind;
  /** Id of the resource that the job belongs to. */
  declare readonly id: number;
  /** The last known state of the resource, if there is one. */
  declare readonly resource?: JobResource;
  constructor(
    message: string,
    details: Details & Pick<JobErrorDetails, 'kind' | 'id'> & { readonly resource?: JobResource },
  ) {
    super(message, { code: 'wait-timeout', ...details });
  }
}

/** The activation has not completed (104), so its results are not available. Wait for the activation first. */
export class ResultsNotReadyError extends AudienceError {
  static override readonly className: string = 'ResultsNotReadyError';
  declare static readonly isInstance: (value: unknown) => value is ResultsNotReadyError;
  declare readonly code: 'results-not-ready';
  /** Kind of the job. `client.waits.wait(error)` waits for the activation. */
  declare readonly kind: 'activation';
  /** Id of the activation. */
  declare readonly id: number;
  /** The last known state of the activation. */
  declare readonly resource: Activation;
  constructor(
    message: string,
    details: JobErrorDetails & { readonly kind: 'activation'; readonly resource: Activation },
  ) {
    super(message, { code: 'results-not-ready', ...details });
  }
}
