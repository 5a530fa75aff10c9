import { isUsableToken } from '../auth/index.ts';
import { ValidationError } from '../errors/api-errors.ts';
import { AudienceError, withDetails } from '../errors/audience-error.ts';
import { TimeoutError } from '../errors/call-errors.ts';
import type { CreateOutcome, FieldErrors } from '../errors/error-details.ts';
import type { ResolvedOperation } from '../spec/operations.ts';
import { AbortScope, abortable } from '../util/abort.ts';
import { atCallSite, type CallSite, isReason } from '../util/call-site.ts';
import { checkNumbers, InvalidInputError } from '../util/input-checks.ts';
import { type Redactor, secretHeaders } from '../util/redact.ts';
import { withRetries } from '../util/retry.ts';
import { CallObserver, logRetry, nextCallId } from './call-observer.ts';
import type { ClientState } from './client-state.ts';
import type { RequestEvent } from './hooks.ts';
import type { PreparedRequest, RequestInput } from './request.ts';
import type { CallOptions, Settings } from './request-options.ts';
import { AttemptFailure, localValidationError, messageOfFields } from './response-errors.ts';
import { attemptOutcome, nextRetry, outcomeOf, type RetryState } from './retry-policy.ts';
import { OWN_FETCH_OPTIONS } from './send.ts';

/** The input of a call, as its namespace describes it. */
export interface CallInput extends RequestInput {
  readonly options?: CallOptions | undefined;
  /** Returns the errors of the input by field; if there are any, nothing is sent. */
  readonly validate?: () => FieldErrors;
  /** Secrets that the request contains besides its token and headers; they are removed from error texts. */
  readonly secrets?: readonly unknown[];
}

/** The parts of a call that are known when it is made. */
export interface CallParts {
  readonly state: ClientState;
  readonly settings: Settings;
  readonly operation: ResolvedOperation;
  readonly input: CallInput;
  /** The idempotency key, for operations that take one. */
  readonly key: string | undefined;
}

/** One call: its input, and the state of its attempts. */
export class Call implements RetryState {
  readonly state: ClientState;
  readonly settings: Settings;
  readonly operation: ResolvedOperation;
  readonly input: CallInput;
  readonly key: string | undefined;
  /** Calls the hooks, if there are any. */
  readonly observer: CallObserver | undefined;
  /** True if the build budget of the client's organization governs the call: with another token, it may be another's. */
  readonly usesBuildBudget: boolean;
  /** The stack of the caller, for errors. */
  readonly site: CallSite = {};
  /** When the call must be done, on the monotonic clock. */
  readonly deadlineAt: number;
  /** The caller's options; `around` may add headers before the request is built. */
  options: CallOptions;
  /** Path; its parameters are filled in once the request is built. */
  path: string;
  #id: string | undefined;
  /** Requests sent. */
  attempts = 0;
  /** True if a request has been sent whose outcome is not known yet. */
  isInFlight = false;
  /** True if an attempt has succeeded. */
  isDone = false;
  /** The token of the last attempt. */
  token: string | undefined;
  /** The token that the service rejected with a 401, so that the source was asked for another one. */
  rejectedToken: string | undefined;
  lastFailure: AttemptFailure | undefined;
  /** The error that the call has ended with. */
  error: unknown;
  retries = 0;
  mayHaveArrived = false;
  wasRefused = false;
  conflicts = 0;
  #firstConflictAt = 0;
  /** True if the hook `shouldRetry` refused a retry that the operation allows. */
  retryRefused = false;

  constructor({ state, settings, operation, input, key }: CallParts) {
    this.state = state;
    this.settings = settings;
    this.operation = operation;
    this.input = input;
    this.options = input.options ?? {};
    this.key = key;
    Error.captureStackTrace?.(this.site, Call);
    this.path = operation.path;
    this.usesBuildBudget = operation.startsJob && this.options.token === undefined;
    this.observer = settings.hooks.length > 0 ? new CallObserver(settings, () => this.event) : undefined;
    this.deadlineAt = performance.now() + (this.options.deadline ?? Number.POSITIVE_INFINITY);
  }

  /** Unique in the process. */
  get id(): string {
    this.#id ??= nextCallId();
    return this.#id;
  }
  get retry() {
    return this.operation.retry;
  }
  get maxRetries() {
    return this.options.maxRetries ?? this.settings.maxRetries;
  }
  get maxRetryWait() {
    return this.options.maxRetryWait ?? this.settings.maxRetryWait;
  }
  get backoff() {
    return this.settings.backoff;
  }
  get timeLeft() {
    return this.deadlineAt - performance.now();
  }
  get onConflict() {
    return this.options.onConflict ?? 'throw';
  }
  get conflictAge() {
    return this.conflicts > 0 ? performance.now() - this.#firstConflictAt : 0;
  }
  get canRenewToken() {
    const { token } = this.operation;
    if (token === 'none' || this.options.token !== undefined) return false;
    return this.state.tokens[token].canRenew && this.rejectedToken === undefined;
  }

  /** Removes from error texts the secrets sent by this call and those of its client. */
  get redactor(): Redactor {
    const { token, rejectedToken, input, options, settings } = this;
    const secrets = [token, options.token, rejectedToken, ...(input.secrets ?? []), ...secretHeaders(options.headers)];
    return settings.redactor.with(secrets);
  }

  /** The call and its current attempt, as hooks see them. */
  get event(): RequestEvent {
    const { id: callId, operation, settings, options, path, key, attempts: attempt } = this;
    const { name, method, path: pathTemplate, bucket } = operation;
    const { baseUrl, rateLimits } = settings;
    const rateLimit = rateLimits[bucket];
    const isPoll = options.isPoll ?? false;
    const facts = { callId, operation: name, method, baseUrl, path, pathTemplate, bucket, rateLimit, isPoll, attempt };
    return key === undefined ? facts : { ...facts, idempotencyKey: key };
  }

  /** Records a failed attempt; returns the failure. */
  fail(failed: AttemptFailure): AttemptFailure {
    this.isInFlight = false;
    this.lastFailure = failed;
    return failed;
  }

  /** Records that a failed attempt will be retried. */
  noteRetry({ failure }: AttemptFailure, reason: 'transient' | 'conflict' | 'token'): void {
    if (reason === 'token') this.rejectedToken = this.token;
    if (reason === 'transient') this.retries++;
    const outcome = attemptOutcome(failure);
    if (outcome === 'unknown') this.mayHaveArrived = true;
    if (outcome === 'refused') this.wasRefused = true;
  }

  noteConflict(): void {
    if (this.conflicts++ === 0) this.#firstConflictAt = performance.now();
  }
}

/** The steps of a call that differ between kinds of call. */
export interface CallSteps<R> {
  /** Builds the request; every attempt sends the same bytes. */
  prepare(call: Call): PreparedRequest | Promise<PreparedRequest>;
  /** Makes one attempt. Throws {@link AttemptFailure} if the retry policy decides, or the error that ends the call. */
  attempt(call: Call, request: PreparedRequest, signal: AbortSignal): Promise<R>;
}

/** Options that must be numbers: with `NaN`, for instance, a call would be retried indefinitely. */
const NUMBER_OPTIONS = ['timeout', 'maxRetries', 'maxRetryWait', 'deadline'] as const;

/** Reason of the abort at the deadline: an error, because a `fetch` or its instrumentation may expect one. */
const DEADLINE = new DOMException('The deadline of the call has passed.', 'TimeoutError');

/** Makes a call, within the user's hooks if there are any. */
export async function execute<R>(call: Call, steps: CallSteps<R>): Promise<R> {
  const { options, observer, state } = call;
  const parents = [options.signal, state.closing.signal];
  const scope = new AbortScope({ parents, ms: options.deadline, reason: () => DEADLINE });
  const { signal } = scope;
  state.open++;
  try {
    return await (observer ? executeObserved(call, observer, steps, signal) : executeSteps(call, steps, signal));
  } catch (error) {
    throw endWith(error, call);
  } finally {
    scope.dispose();
    if (--state.open === 0) state.onIdle?.();
  }
}

function executeObserved<R>(call: Call, observer: CallObserver, steps: CallSteps<R>, signal: AbortSignal): Promise<R> {
  return observer.around({
    signal,
    work: async (additions) => {
      for (const headers of additions) {
        call.options = { ...call.options, headers: { ...call.options.headers, ...headers } };
      }
      try {
        const result = await executeSteps(call, steps, signal);
        observer.end('success');
        return result;
      } catch (error) {
        throw endWith(error, call);
      }
    },
  });
}

/** Builds the request once and retries attempts as far as the operation allows. */
async function executeSteps<R>(call: Call, { prepare, attempt }: CallSteps<R>, signal: AbortSignal): Promise<R> {
  const { options, input } = call;
  // The options of background calls are the package's own, or have been checked.
  if (input.options && options.priority !== 'background') checkNumbers(options, NUMBER_OPTIONS);
  const errors = { ...(input.options && optionErrors(call)), ...input.validate?.() };
  if (Object.keys(errors).length > 0) throw new InvalidInputError(errors);
  signal.throwIfAborted();
  const request = await prepare(call);
  call.path = request.path;
  // End the call on abort even if a custom token source, limiter or `fetch` ignores the signal.
  return withRetries(() => abortable(attempt(call, request, signal), signal), {
    signal,
    delayAfter: (error) => (error instanceof AttemptFailure ? delayAfter(error, call) : undefined),
  });
}

/** Returns the errors of the options that the types cannot exclude. */
function optionErrors({ options: { token, fetchOptions }, operation }: Call): FieldErrors {
  const own = Object.keys(fetchOptions ?? {}).find((name) => OWN_FETCH_OPTIONS.includes(name));
  return {
    ...(token !== undefined && operation.token === 'none' && { token: ['is not sent to the credential exchange.'] }),
    ...(token !== undefined && !isUsableToken(token) && { token: ['must be visible ASCII without white space.'] }),
    ...(own !== undefined && { fetchOptions: [`must not set ${own}: the client sets it.`] }),
  };
}

/** Reports the end of a failed call; returns the error that it rejects with. */
function endWith(thrown: unknown, call: Call): unknown {
  const isAborted = isReason(thrown, [call.options.signal]);
  call.error ??= isAborted ? thrown : atCallSite(finalError(thrown, call), call.site);
  call.observer?.end(isAborted ? 'aborted' : 'failure', call.error);
  return call.error;
}

/** Returns the milliseconds until the retry of a failed attempt, or `undefined` to give up; records the retry. */
function delayAfter(failed: AttemptFailure, call: Call): number | undefined {
  const { failure } = failed;
  if (failure.kind === 'status' && failure.status === 409) call.noteConflict();
  const next = nextRetry(failure, call, Math.random);
  if (!next) return undefined;
  const retry = { reason: next.reason, error: failed.error, wait: next.delay };
  if (call.observer?.allowsRetry(retry) === false) {
    call.retryRefused = true;
    return undefined;
  }
  call.noteRetry(failed, next.reason);
  logRetry(call.settings.logger, call.event, next.delay, failed.error);
  call.observer?.retry(retry);
  return next.delay;
}

const RETRY_REFUSED = 'It was not retried: the hook `shouldRetry` refused.';

/** Advice for the caller, by the outcome of a create. */
const ADVICE: Readonly<Record<CreateOutcome, string>> = {
  'not-sent': 'Nothing reached the service; a retry is safe.',
  refused: 'Nothing was created by this call.',
  unknown:
    'It may have been created: retry with the same `idempotencyKey` (valid for 24 hours) and body, and it happens once.',
  done: 'The create itself succeeded.',
};

/** Returns the error that the caller's promise rejects with. */
function finalError(thrown: unknown, call: Call): AudienceError {
  const failure = toError(thrown, call);
  const error = call.retryRefused ? withDetails(failure, {}, RETRY_REFUSED) : failure;
  if (call.key === undefined) return error;
  const outcome = createOutcome(thrown, call);
  const isLocal = ValidationError.isInstance(error) && error.local;
  const advice = isLocal ? 'Nothing was created.' : ADVICE[outcome];
  return withDetails(error, { idempotencyKey: call.key, outcome }, advice);
}

function toError(thrown: unknown, call: Call): AudienceError {
  if (thrown instanceof AttemptFailure) return thrown.error;
  if (thrown instanceof InvalidInputError) {
    return localValidationError(call.operation, thrown.errors, messageOfFields(thrown.errors));
  }
  if (thrown === DEADLINE) return deadlineError(call);
  if (AudienceError.isInstance(thrown)) return thrown;
  const cause = call.redactor.cause(thrown);
  const message = `${call.operation.name} failed in a callback: ${cause.message}`;
  return new AudienceError(message, { code: 'callback-failed', cause });
}

function createOutcome(thrown: unknown, call: Call): CreateOutcome {
  if (thrown instanceof AttemptFailure) return outcomeOf(thrown.failure, call);
  if (call.isDone) return 'done';
  if (call.isInFlight) return 'unknown';
  return outcomeOf(call.lastFailure?.failure ?? { kind: 'not-sent' }, call);
}

function deadlineError({ operation, options, attempts, lastFailure }: Call): TimeoutError {
  const where =
    attempts === 0 ? ' It was waiting for its token, for a permit of its rate bucket, or for the build budget.' : '';
  const message = `${operation.name} was not done after ${options.deadline} ms (\`deadline\`); requests sent: ${attempts}.${where}`;
  return new TimeoutError(message, {
    code: 'deadline-exceeded',
    operation: operation.name,
    attempts,
    ...(lastFailure && { cause: lastFailure.error }),
  });
}
