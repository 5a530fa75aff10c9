import {
  JobCancelledError,
  type JobError,
  JobFailedError,
  JobNeedsInfoError,
  WaitTimeoutError,
} from '../errors/job-errors.ts';
import { type JobKind, type Observed, statusText } from '../spec/job-status.ts';
import type { Redactor } from '../util/redact.ts';

/** How much of a status an error repeats, in UTF-16 units. */
const STATUS_LIMIT = 200;

/** What a wait that has timed out knows. */
interface Expired {
  readonly kind: JobKind;
  readonly id: number;
  readonly timeout: number;
  readonly resource: Observed | undefined;
  /** What the last look failed with. */
  readonly cause: unknown;
  readonly redactor: Redactor;
}

/** The error for a wait whose time has passed. */
export function timeoutError({ kind, id, timeout, resource, cause, redactor }: Expired): WaitTimeoutError {
  const seen = resource ? `last seen at ${redactor.text(statusText(resource.status), STATUS_LIMIT)}` : 'never seen';
  const failed = cause instanceof Error ? `; the last look failed: ${cause.message}` : '';
  const message = `Waited ${timeout} ms for ${kind} ${id} (${seen}${failed}). The job goes on: wait again by its id, or longer with \`timeout\`.`;
  return new WaitTimeoutError(message, {
    kind,
    id,
    ...(resource && { resource: redactor.resource(resource) }),
    ...(cause !== undefined && { cause }),
  });
}

/** How a failed job can be tried again; an upload can be claimed once only. */
const AGAIN = {
  create: 'Creating it again (with a fresh key) is safe.',
  file: 'Upload the file again and create another: an upload can be claimed once.',
};

/** The error for a job that ended otherwise than completed. */
export function jobError(
  kind: JobKind,
  resource: Observed,
  progress: 'needs-info' | 'failed' | 'cancelled',
  redactor: Redactor,
): JobError {
  const details = { kind, id: resource.id, resource: redactor.resource(resource) };
  const name = `${kind[0]?.toUpperCase()}${kind.slice(1)} ${resource.id} ended at ${redactor.text(statusText(resource.status), STATUS_LIMIT)}`;
  switch (progress) {
    case 'needs-info':
      return new JobNeedsInfoError(
        `${name}: it cannot be done as defined. The console shows the reason; change the definition and create anew.`,
        details,
      );
    case 'cancelled':
      return new JobCancelledError(`${name}: it was cancelled.`, details);
    default:
      return new JobFailedError(`${name}: the job failed. ${AGAIN[kind === 'cohort' ? 'file' : 'create']}`, details);
  }
}
