import { ConflictError, RateLimitError, ValidationError } from '../../errors/api-errors.ts';
import { AudienceError, ConfigurationError, withDetails } from '../../errors/audience-error.ts';
import { TimeoutError } from '../../errors/call-errors.ts';
import type { FieldErrors } from '../../errors/error-details.ts';
import { isOperationName, operations } from '../../spec/operations.ts';
import { AbortScope } from '../../util/abort.ts';
import { atCallSite, isReason } from '../../util/call-site.ts';
import { CallbackError } from '../../util/callbacks.ts';
import {
  checkNumbers,
  checkOptionNames,
  InvalidInputError,
  isUsableToken,
  refuseOddQuery,
  refusePromises,
} from '../../util/input-checks.ts';
import { withRetries } from '../../util/retry.ts';
import { attempt, type SuccessResponse } from './attempt.ts';
import { type CallObserver, logRetry } from './call-observer.ts';
import type { CallRecord } from './call-record.ts';
import { conflictAdvice } from './conflict.ts';
import { type PreparedRequest, prepareRequest } from './request.ts';
import {
  BACKGROUND,
  CONFLICT_ADVICE,
  FIELD_OPTIONS,
  FREE_OPTIONS,
  KEY_OPTIONS,
  REQUEST_OPTIONS,
} from './request-options.ts';
import { AttemptFailure, localValidationError } from './response-errors.ts';
import { type CallRetryLimits, type Failure, nextRetry, type Retry } from './retry-policy.ts';
import { OWN_FETCH_OPTIONS } from './send.ts';
import { Waiting, waitToRetry, whyWaiting } from './waiting.ts';

/** Options that must be numbers. If they were `NaN`, for example, the client would retry a call indefinitely. */
const NUMBER_OPTIONS = ['timeout', 'maxRetries', 'maxRetryWait', 'deadline'] as const;

/** Abort reason at the deadline: an `Error`, because `fetch` or its instrumentation may expect an `Error`. */
const DEADLINE = Object.assign(new Error('The deadline of the call has passed.'), { name: 'TimeoutError' });

/**
 * Makes one attempt. Throws an {@link AttemptFailure} if the retry policy must decide; otherwise throws the error that
 * ends the call.
 */
export type Attempt<R> = (call: CallRecord, request: PreparedRequest, signal: AbortSignal) => Promise<R>;

/** Makes a call and runs the user's hooks, if there are any. */
export function execute(call: CallRecord): Promise<SuccessResponse>;
/** Makes a call whose attempts `makeAttempt` sends. */
export function execute<R>(call: CallRecord, makeAttempt: Attempt<R>): Promise<R>;
export async function execute(call: CallRecord, makeAttempt: Attempt<unknown> = attempt): Promise<unknown> {
  const { options, observer, state } = call;
  let scope: AbortScope | undefined;
  try {
    scope = new AbortScope({ owner: state, parents: [options.signal], ms: options.deadline, reason: () => DEADLINE });
    const { signal } = scope;
    return await (observer
      ? observer.around(signal, () => observed(call, observer, makeAttempt, signal))
      : withAttempts(call, makeAttempt, signal));
  } catch (error) {
    throw endWith(error, call);
  } finally {
    scope?.dispose();
  }
}

/** Reports the end of a call to the hooks before the promise that `around` receives settles. */
async function observed<R>(
  call: CallRecord,
  observer: CallObserver,
  makeAttempt: Attempt<R>,
  signal: AbortSignal,
): Promise<R> {
  try {
    const result = await withAttempts(call, makeAttempt, signal);
    observer.end('success');
    return result;
  } catch (error) {
    throw endWith(error, call);
  }
}

/** Builds the request once, and makes attempts until one succeeds or the retry policy gives up. */
async function withAttempts<R>(call: CallRecord, makeAttempt: Attempt<R>, signal: AbortSignal): Promise<R> {
  const { options, input } = call;
  if (input.options && !options[BACKGROUND]) checkOptions(call);
  if (input.body !== undefined) refusePromises('body', input.body);
  const errors = { ...(input.options && optionErrors(call)), ...input.validate?.() };
  if (Object.keys(errors).length > 0) throw new InvalidInputError(errors);
  signal.throwIfAborted();
  const request = input.request ?? (await prepareRequest(call));
  call.path = request.path;
  try {
    return await makeAttempt(call, request, signal);
  } catch (failed) {
    if (!(failed instanceof AttemptFailure)) throw failed;
    const retryOnce = (): Promise<R> => {
      // Keep waiting for a create request in flight until the service replays its response.
      if (call.retryWait?.reason !== 'conflict') call.retryWait?.end();
      return makeAttempt(call, request, signal);
    };
    try {
      return await withRetries(retryOnce, {
        failed,
        signal,
        delayAfter: (error) => (error instanceof AttemptFailure ? delayAfter(error, call, signal) : undefined),
      });
    } finally {
      call.retryWait?.end();
    }
  }
}

/**
 * Refuses unknown options, options that need an idempotency key if the operation takes none, and options that must be
 * numbers but are not. Does not check background calls, whose options come from this package.
 */
function checkOptions({ options, operation: { name }, key }: CallRecord): void {
  const isFree = !isOperationName(name);
  // An operation remains a create request if an override changes its retry policy.
  const isCreate = !isFree && operations[name].retry === 'idempotency-key';
  checkOptionNames(options, name, [
    ...REQUEST_OPTIONS,
    ...(isCreate || isFree || key !== undefined ? KEY_OPTIONS : []),
    ...(isCreate || name === 'uploads.reserve' ? FIELD_OPTIONS : []),
    ...(isFree ? FREE_OPTIONS : []),
  ]);
  checkNumbers(options, NUMBER_OPTIONS);
  const { onConflict = 'wait' } = options;
  if (onConflict !== 'wait' && onConflict !== 'throw')
    throw new ConfigurationError(`\`onConflict\` of ${name} must be 'wait' or 'throw'.`);
  const unused = key === undefined ? KEY_OPTIONS.find((option) => Object(options)[option] !== undefined) : undefined;
  if (unused === undefined) return;
  throw new ConfigurationError(`\`${unused}\` is not an option of ${name}, which sends no idempotency key.`);
}

/** Returns the errors of options that the types cannot exclude. */
function optionErrors({ options: { token, fetchOptions, query }, operation }: CallRecord): FieldErrors {
  if (query !== undefined) refuseOddQuery('query', query);
  const own = Object.keys(fetchOptions ?? {}).find((name) => OWN_FETCH_OPTIONS.includes(name));
  return {
    ...(token !== undefined &&
      operation.token === 'none' && { token: ['must not be set, because the credential exchange needs no token.'] }),
    ...(token !== undefined && !isUsableToken(token) && { token: ['must be visible ASCII without white space.'] }),
    ...(own !== undefined && { fetchOptions: [`must not set \`${own}\`.`] }),
  };
}

/** Reports the end of a failed call, and returns the error with which the call rejects. */
function endWith(thrown: unknown, call: CallRecord): unknown {
  const isAborted = isReason(thrown, [call.options.signal]);
  call.error ??= isAborted ? thrown : atCallSite(finalError(thrown, call), call.site);
  call.observer?.end(isAborted ? 'aborted' : 'failure', call.error);
  return call.error;
}

/**
 * Records the retry of a failed attempt, and returns the milliseconds until the retry. Returns `undefined` to give up.
 */
async function delayAfter(
  { failure, error }: AttemptFailure,
  call: CallRecord,
  signal: AbortSignal,
): Promise<number | undefined> {
  const { history, observer } = call;
  const next = history && nextRetry(failure, history, retryLimits(call), Math.random);
  if (!next) return undefined;
  const { reason, delay } = next;
  const retry = { reason, error, wait: delay };
  if ((await observer?.allowsRetry(retry, signal)) === false) {
    call.retryRefused = true;
    return undefined;
  }
  history?.onRetry(reason, call.token);
  logRetry(call.settings.logger, call.event, delay, error);
  observer?.retry(retry);
  call.retryWait = waitFor(next, failure, call);
  call.waiting = call.retryWait;
  return delay;
}

/** Starts waiting before a retry, or continues waiting for a create request in flight. */
function waitFor({ reason, delay }: Retry, failure: Failure, call: CallRecord): Waiting {
  const { retryWait, history } = call;
  if (reason === 'conflict') {
    if (retryWait?.reason === 'conflict') return retryWait;
    return new Waiting(call, 'conflict', () => history?.conflictTimeLeft ?? 0);
  }
  retryWait?.end();
  return waitToRetry(call, failure, delay);
}

function retryLimits({ operation, options, settings, state, deadlineAt, history }: CallRecord): CallRetryLimits {
  const { token, retry } = operation;
  const maxRetries = options.maxRetries ?? settings.maxRetries;
  return {
    retry,
    maxRetries,
    maxRetryWait: options.maxRetryWait ?? settings.maxRetryWait,
    backoff: settings.backoff,
    timeLeft: Math.min(deadlineAt - performance.now(), history?.keyTimeLeft ?? Number.POSITIVE_INFINITY),
    canRenewToken: token !== 'none' && options.token === undefined && state.tokens[token].canRenew,
    onConflict: options.onConflict ?? (maxRetries > 0 ? 'wait' : 'throw'),
  };
}

const RETRY_REFUSED = 'The `shouldRetry` hook prevented a retry.';

/** Advice if a create request may have taken effect and its idempotency key expires soon. */
const KEY_TOO_OLD =
  'The resource may have been created, and its idempotency key has expired or is about to expire: check the list before you create the resource again.';

/** Returns advice for the caller of a failed create request. */
function createAdvice(error: AudienceError, key: string, { outcome, history, options }: CallRecord): string {
  const isLocal = ConfigurationError.isInstance(error) || (ValidationError.isInstance(error) && error.local);
  if (isLocal && outcome === 'not-sent') return 'Nothing was created.';
  const isLimited = RateLimitError.isInstance(error);
  if (ConflictError.isInstance(error) && history?.conflict !== undefined && options.idempotencyKey !== undefined) {
    return options[CONFLICT_ADVICE] ?? conflictAdvice(history.conflict, key);
  }
  switch (outcome) {
    case 'not-sent':
      // The message of a rate limit error already says that nothing was sent and when to retry.
      return isLimited ? '' : 'Nothing reached the service, so a retry is safe.';
    case 'refused':
      return `This call created nothing.${isLimited ? ` Repeat the request with the idempotency key "${key}".` : ''}`;
    case 'unknown':
      if (history && history.keyTimeLeft <= 0) return KEY_TOO_OLD;
      return `The resource may have been created: repeat the request with the idempotency key "${key}" and the same body within 24 hours of the first attempt, and the service creates the resource only once.`;
    default:
      return 'The service created the resource: do not repeat the request.';
  }
}

/** Returns the error with which the caller's promise rejects. */
function finalError(thrown: unknown, call: CallRecord): AudienceError {
  const failure = toError(thrown, call);
  const error = call.retryRefused ? withDetails(failure, {}, RETRY_REFUSED) : failure;
  const { key: idempotencyKey, outcome } = call;
  if (idempotencyKey === undefined) return error;
  return withDetails(error, { idempotencyKey, outcome }, createAdvice(error, idempotencyKey, call));
}

function toError(thrown: unknown, call: CallRecord): AudienceError {
  if (thrown instanceof AttemptFailure) return thrown.error;
  if (thrown instanceof InvalidInputError) return localValidationError(call.operation, thrown.errors);
  if (thrown === DEADLINE) return deadlineError(call);
  if (AudienceError.isInstance(thrown)) return thrown;
  const isNamed = thrown instanceof CallbackError;
  const source = isNamed ? thrown.source : 'a function that you passed';
  const cause = call.redactor.cause(isNamed ? thrown.cause : thrown);
  const message = `${call.operation.name} failed: ${source} threw ${cause.name}: ${cause.message}`;
  const advice = `Correct the code of ${isNamed ? source : 'this function'}.`;
  return new AudienceError(message, { code: 'callback-failed', cause, advice });
}

function deadlineError(call: CallRecord): TimeoutError {
  const { operation, options, attempts, lastError, waiting, isInFlight } = call;
  const sent = attempts === 1 ? 'after 1 request' : `after ${attempts} requests`;
  const silence = isInFlight ? ': the last request got no complete response' : '';
  const why = waiting ? `: ${whyWaiting(call, waiting)}` : silence;
  const message = `${operation.name} exceeded its \`deadline\` of ${options.deadline} ms ${attempts === 0 ? 'before it was sent' : sent}${why}.`;
  return new TimeoutError(message, {
    code: 'deadline-exceeded',
    operation: operation.name,
    attempts,
    ...(lastError && { cause: lastError }),
  });
}
