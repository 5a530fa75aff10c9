import {
  ApiError,
  AuthenticationError,
  NotFoundError,
  RateLimitError,
  ServerError,
  ValidationError,
} from '../../errors/api-errors.ts';
import { AudienceError } from '../../errors/audience-error.ts';
import { ConnectionError, ResponseError } from '../../errors/call-errors.ts';
import {
  JobCancelledError,
  type JobError,
  JobFailedError,
  JobNeedsInfoError,
  WaitTimeoutError,
} from '../../errors/job-errors.ts';
import { type JobKind, type JobResource, statusText } from '../../spec/job-status.ts';
import type { Redactor } from '../../util/redact.ts';
import type { Job } from './job.ts';

/**
 * Returns whether a later poll may succeed: after a network error, a 2xx that is not an envelope, a 408, a 429 or a
 * 5xx.
 */
export function isTransient(error: unknown): boolean {
  if (ConnectionError.isInstance(error) || ServerError.isInstance(error) || RateLimitError.isInstance(error))
    return true;
  if (ApiError.isInstance(error)) return error.status === 408;
  return ResponseError.isInstance(error) && error.code === 'not-an-envelope' && error.status < 400;
}

/** Returns whether a poll failed because the user's token source, limiter, override or `fetch` failed. */
export function isUnsendable(error: unknown): boolean {
  // A failed `data` override has the code `callback-failed`, too, but its request was sent.
  if (ResponseError.isInstance(error)) return false;
  return AudienceError.isInstance(error) && (error.code === 'token-unavailable' || error.code === 'callback-failed');
}

/** Returns whether an error may mean that the requested page is beyond the end of the list. */
export function isBeyondLastPage(error: unknown): boolean {
  return NotFoundError.isInstance(error) || ValidationError.isInstance(error);
}

/**
 * Returns whether an error means that the client cannot read a list: the service refuses the request, or the client
 * cannot decode the list.
 */
export function isUnlistable(error: unknown): boolean {
  if (AuthenticationError.isInstance(error) || isTransient(error)) return false;
  return ApiError.isInstance(error) || ResponseError.isInstance(error);
}

/** The longest `Retry-After` of a poll to honor, in milliseconds. */
const MAX_PAUSE_MS = 120_000;

/** Returns the pause that the service asked for in milliseconds, at most `MAX_PAUSE_MS`; 0 without `Retry-After`. */
export function requestedPause(error: unknown): number {
  const seconds = ApiError.isInstance(error) ? (error.retryAfter ?? 0) : 0;
  return Math.min(MAX_PAUSE_MS, seconds * 1000);
}

/** Maximum milliseconds that count of each sleep of the machine during a wait or a token outage. */
export const MAX_MACHINE_SLEEP_MS = 60_000;

/**
 * Maximum outage of a token source before waits fail, in milliseconds. After a longer outage, the session of the source
 * has probably ended.
 */
const MAX_TOKEN_OUTAGE_MS = 600_000;

/** Measures the outage of a token source, from the first failed poll until a success. */
export class TokenOutage {
  #failedAt: number | undefined;
  #lastedMs = 0;

  /** Records a failed poll; returns whether the token source has been failing for too long. */
  record(error: unknown): boolean {
    if (!AudienceError.isInstance(error) || error.code !== 'token-unavailable') return false;
    const now = performance.now();
    this.#lastedMs += Math.min(now - (this.#failedAt ?? now), MAX_MACHINE_SLEEP_MS);
    this.#failedAt = now;
    return this.#lastedMs >= MAX_TOKEN_OUTAGE_MS;
  }
}

/** Maximum length of a status in an error message, in UTF-16 code units. */
const MAX_STATUS_LENGTH = 200;

const statusIn = (resource: JobResource, redactor: Redactor): string =>
  redactor.text(statusText(resource.status), MAX_STATUS_LENGTH);

/**
 * Creates the error for a wait whose `timeout` has passed.
 *
 * @param job Known fields of the job.
 */
export function timeoutError(
  { kind, id, timeout }: { readonly kind: JobKind; readonly id: number; readonly timeout: number },
  job: Pick<Job<JobResource>, 'last' | 'pollError'> | undefined,
  redactor: Redactor,
): WaitTimeoutError {
  const resource = job?.last?.resource;
  const cause = job?.pollError;
  const state = resource ? `last known status: ${statusIn(resource, redactor)}` : 'status unknown';
  const failure = cause instanceof Error ? `; the last poll failed: ${cause.message}` : '';
  const advice = resource ? 'The job keeps running: wait for the job again' : 'Wait for the job again';
  const message = `The wait for ${kind} ${id} timed out after ${timeout} ms (${state}${failure}).`;
  return new WaitTimeoutError(message, {
    kind,
    id,
    ...(resource && { resource: redactor.resource(resource) }),
    ...(cause !== undefined && { cause }),
    advice: `${advice}, or raise \`timeout\`.`,
  });
}

/**
 * Advice on how to try again. With the same key, the service would only replay the response with the failed resource.
 */
const NEW_BUILD =
  'with a new idempotency key, which starts a new build. For 24 hours, the old key returns this resource.';

/** Creates the error for a job that did not complete. */
export function jobError(
  kind: JobKind,
  resource: JobResource,
  state: 'needs-info' | 'failed' | 'cancelled',
  redactor: Redactor,
): JobError {
  const details = { kind, id: resource.id, resource: redactor.resource(resource) };
  const name = `${kind[0]?.toUpperCase()}${kind.slice(1)} ${resource.id}`;
  const status = `(status ${statusIn(resource, redactor)})`;
  if (state === 'needs-info') {
    const advice = `The console shows the reason: change the definition, and create the ${kind} again ${NEW_BUILD}`;
    return new JobNeedsInfoError(`${name} cannot be completed as defined ${status}.`, { ...details, advice });
  }
  if (state === 'cancelled') return new JobCancelledError(`${name} was cancelled ${status}.`, details);
  const advice =
    kind === 'cohort' && !Object(resource).source_audience
      ? 'To try again, upload the file again and create the cohort with a new idempotency key: an upload can be claimed only once.'
      : `You can safely create the ${kind} again ${NEW_BUILD}`;
  return new JobFailedError(`${name} failed ${status}.`, { ...details, advice });
}
