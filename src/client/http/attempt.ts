import { BuildBudgetError, RateLimitError } from '../../errors/api-errors.ts';
import type { Envelope } from '../../spec/wire-values.ts';
import { AbortScope } from '../../util/abort.ts';
import { callbackError } from '../../util/callbacks.ts';
import { runHook } from '../../util/run-hooks.ts';
import { fingerprint } from '../auth/token-source.ts';
import type { BuildPermit } from '../rate-limit/build-budget.ts';
import type { AcquireOptions } from '../rate-limit/permits.ts';
import type { CallRecord } from './call-record.ts';
import { readEnvelope } from './envelope.ts';
import { readRpcResponse } from './json-rpc.ts';
import type { PreparedRequest } from './request.ts';
import { BACKGROUND } from './request-options.ts';
import { requestToken } from './request-token.ts';
import {
  AttemptFailure,
  connectionFailure,
  noEnvelopeFailure,
  refusalFailure,
  requestIdOf,
  statusFailure,
  timeoutFailure,
  truncatedFailure,
  unreadableFailure,
} from './response-errors.ts';
import { NODE_LIMIT_MS, warnOfNodeLimit } from './runtime-limits.ts';
import { AttemptTimeout, type ReceivedResponse, send } from './send.ts';
import { Waiting } from './waiting.ts';

/** Scope of the rate buckets for requests without a bearer token, which the service counts per client IP. */
const IP_SCOPE = 'ip';

/** A successful response with its parsed envelope. */
export interface SuccessResponse extends ReceivedResponse {
  readonly envelope: Envelope;
}

/**
 * Makes one attempt of a call: gets a token and a permit, sends the request, and reads the envelope. Throws
 * {@link AttemptFailure}, or the error that ends the call.
 */
export async function attempt(
  call: CallRecord,
  request: PreparedRequest,
  signal: AbortSignal,
): Promise<SuccessResponse> {
  const permit = await acquirePermit(call, signal);
  const { name } = call.operation;
  const deletes = name.endsWith('.delete') ? call.state.deletesOf(name) : undefined;
  if (deletes) deletes.sent++;
  try {
    return await exchange(call, request, permit, signal);
  } finally {
    if (deletes) deletes.ended++;
    permit.build?.release();
  }
}

/** Sends the request and reads the envelope of its response. */
async function exchange(
  call: CallRecord,
  request: PreparedRequest,
  permit: Permit,
  signal: AbortSignal,
): Promise<SuccessResponse> {
  const { settings, options, observer } = call;
  const fetchOptions = { ...settings.fetchOptions, ...options.fetchOptions };
  const response = await sendAttempt(call, signal, (timeout) => {
    if (timeout > NODE_LIMIT_MS) warnOfNodeLimit('timeout', timeout, { settings, state: call.state, fetchOptions });
    return send(request, call.token, signal, {
      fetch: observer?.fetch ?? settings.fetch,
      fetchOptions,
      maxResponseBytes: settings.maxResponseBytes,
      timeout,
    });
  });
  try {
    const envelope = readSuccess(response, call);
    call.isInFlight = false;
    call.isDone = true;
    return { ...response, envelope };
  } catch (error) {
    const failed = error instanceof AttemptFailure ? error : unreadableFailure(error, response, call);
    throw await handleRateLimit(call.fail(failed), call, permit.scope, signal);
  }
}

/** Returns the envelope of a successful response; throws {@link AttemptFailure} for any other response. */
function readSuccess(response: ReceivedResponse, call: CallRecord): Envelope {
  const { operation, input } = call;
  const { status, text, isTruncated } = response;
  if (status < 200 || status >= 300) throw statusFailure(response, call);
  if (isTruncated) throw truncatedFailure(response, call);
  const read = operation.reads === 'envelope' ? readEnvelope(text) : readRpcResponse(response, operation, input.body);
  if ('envelope' in read) return read.envelope;
  throw 'refusal' in read
    ? refusalFailure(response, call, read.refusal)
    : noEnvelopeFailure(response, call, read.problem);
}

/** Permission to send a request. */
export interface Permit {
  /** Scope of the rate bucket. */
  readonly scope: string;
  /** Set for a create request that counts against the client's build budget. */
  readonly build: BuildPermit | undefined;
}

/** Waits for the token, the build budget and a permit of the rate bucket. */
export async function acquirePermit(call: CallRecord, signal: AbortSignal): Promise<Permit> {
  const { operation, state, options } = call;
  call.observer?.waitFor('queued');
  if (operation.token !== 'none') call.token = await getToken(call, operation.token, signal);
  const scope = call.token === undefined ? IP_SCOPE : fingerprint(call.token);
  const maxRetryWait = options.maxRetryWait ?? call.settings.maxRetryWait;
  const maxWait = Math.min(maxRetryWait, call.deadlineAt - performance.now());
  const priority = options[BACKGROUND] ? 'background' : 'foreground';
  const request = { scope, priority, signal, maxWait } as const;
  let build: BuildPermit | undefined;
  if (call.usesBuildBudget) build = await acquireBuildPermit(call, request);
  else if (!state.limiter.tryAcquire?.(operation.bucket, scope)) await waitForPermit(call, request);
  options[BACKGROUND]?.onPermit?.(call.id);
  return { scope, build };
}

interface PermitRequest extends AcquireOptions {
  readonly signal: AbortSignal;
  readonly maxWait: number;
}

/**
 * Waits for the build budget and a permit. Starts again if the service has refused another create request with this
 * token in the meantime.
 */
async function acquireBuildPermit(call: CallRecord, request: PermitRequest): Promise<BuildPermit> {
  const { limiter, buildBudget } = call.state;
  const { scope } = request;
  for (;;) {
    const permit = buildBudget.tryAcquire(scope) ?? (await waitForBudget(call, request));
    try {
      if (!limiter.tryAcquire?.(call.operation.bucket, scope)) await waitForPermit(call, request);
    } catch (error) {
      permit.release();
      throw error;
    }
    if (buildBudget.timeLeft(scope) === 0) return permit;
    permit.release();
  }
}

/** Waits for a permit of the rate bucket. */
async function waitForPermit(call: CallRecord, request: PermitRequest): Promise<void> {
  const scope = new AbortScope({ parents: [request.signal] });
  const { signal } = scope;
  const waiting = new Waiting(call, 'rate-limit');
  call.waiting = waiting;
  const onQueued = (timeLeft: () => number): void => {
    waiting.timeLeft = timeLeft;
  };
  try {
    // A custom limiter may ignore the signal, which must not block the queue of create requests.
    await scope.race(call.state.limiter.acquire(call.operation.bucket, { ...request, signal, onQueued }));
  } catch (error) {
    const heldBack = heldBackError(error, RateLimitError, call, signal);
    throw heldBack === error && !signal.aborted ? callbackError('`limiter`', error) : heldBack;
  } finally {
    waiting.end();
    scope.dispose();
  }
}

/**
 * Waits while the build budget is used up. If an earlier attempt may have created the resource, stops waiting before
 * the idempotency key expires.
 */
async function waitForBudget(call: CallRecord, { scope, signal, maxWait }: PermitRequest): Promise<BuildPermit> {
  const { buildBudget } = call.state;
  const keyTimeLeft = call.history?.keyTimeLeft ?? Number.POSITIVE_INFINITY;
  const limited = new AbortScope({ parents: [signal], ms: keyTimeLeft });
  const waiting = new Waiting(call, 'build-budget', () => buildBudget.timeLeft(scope));
  call.waiting = waiting;
  try {
    return await buildBudget.acquire(scope, Math.min(maxWait, keyTimeLeft), limited.signal);
  } catch (error) {
    const isKeyTooOld = limited.signal.aborted && !signal.aborted;
    const freeAt = new Date(Date.now() + buildBudget.timeLeft(scope));
    throw isKeyTooOld
      ? notSentError(BuildBudgetError, call, freeAt)
      : heldBackError(error, BuildBudgetError, call, signal);
  } finally {
    waiting.end();
    limited.dispose();
  }
}

type LimitError = typeof RateLimitError | typeof BuildBudgetError;

/**
 * Converts a limiter's error with a `retryAt` to the error of a call that was not sent. Returns any other error
 * unchanged.
 */
function heldBackError(error: unknown, ErrorClass: LimitError, call: CallRecord, signal: AbortSignal): unknown {
  const retryAt = signal.aborted ? undefined : retryAtOf(error);
  return retryAt ? notSentError(ErrorClass, call, retryAt) : error;
}

async function getToken(call: CallRecord, kind: 'general' | 'mcp', signal: AbortSignal): Promise<string> {
  const { state, options, history: { rejectedToken } = {} } = call;
  if (options.token !== undefined) return options.token;
  const { value } = state.tokens[kind];
  if (value !== undefined) return value;
  const waiting = new Waiting(call, 'token');
  call.waiting = waiting;
  const request = { kind, signal, redactor: call.redactor, rejected: rejectedToken };
  return requestToken(state, request).finally(() => waiting.end());
}

/**
 * Returns the error of a call that was not sent because the pause after an earlier 429 is longer than the call may
 * wait.
 */
function notSentError(
  ErrorClass: LimitError,
  { operation, path, attempts }: CallRecord,
  retryAt: Date,
): RateLimitError {
  const again = attempts > 0 ? ' again' : '';
  const paused =
    ErrorClass === RateLimitError ? `the \`${operation.bucket}\` bucket` : 'create requests that start a job';
  const message = `${operation.name} was not sent${again}: after an earlier 429, the client pauses ${paused} until ${retryAt.toISOString()}.`;
  return new ErrorClass(message, {
    status: 429,
    operation: operation.name,
    method: operation.method,
    path,
    attempts,
    headers: new Headers(),
    body: '',
    bucket: operation.bucket,
    retryAfter: Math.ceil((retryAt.getTime() - Date.now()) / 1000),
    retryAt,
  });
}

/** Returns the end of the pause from a limiter's error. Errors of custom limiters may also have a `retryAt`. */
function retryAtOf(error: unknown): Date | undefined {
  if (!(error instanceof Error && 'retryAt' in error && error.retryAt instanceof Date)) return undefined;
  return Number.isNaN(error.retryAt.getTime()) ? undefined : error.retryAt;
}

/** Calls the hooks and `deliver`, which sends the request and rejects after `timeout` milliseconds. */
export async function sendAttempt<R extends Pick<ReceivedResponse, 'status' | 'headers'>>(
  call: CallRecord,
  signal: AbortSignal,
  deliver: (timeout: number) => Promise<R>,
): Promise<R> {
  const { settings } = call;
  signal.throwIfAborted();
  const timeout = call.options.timeout ?? settings.timeout;
  if (timeout === 0) throw call.fail(timeoutFailure(timeout, call));
  call.attempts++;
  call.isInFlight = true;
  call.waiting = undefined;
  call.observer?.request();
  try {
    const response = await deliver(timeout);
    call.observer?.response({ status: response.status, ...requestIdOf(response, call) });
    return response;
  } catch (error) {
    signal.throwIfAborted();
    throw call.fail(error instanceof AttemptTimeout ? timeoutFailure(timeout, call) : connectionFailure(error, call));
  }
}

/**
 * Pauses the rate bucket after a 429. If the build budget caused the 429, holds create requests back instead, and
 * returns a failure with a `BuildBudgetError`.
 */
export async function handleRateLimit(
  failed: AttemptFailure,
  call: CallRecord,
  scope: string,
  signal: AbortSignal,
): Promise<AttemptFailure> {
  const { state, operation, settings, usesBuildBudget } = call;
  const { failure, error } = failed;
  if (failure.kind !== 'status' || failure.status !== 429 || !(error instanceof RateLimitError)) return failed;
  const { retryAfter } = failure;
  // A response without an envelope is from a proxy, which does not know the budget.
  const mayBeBudget = operation.startsJob && error.envelopeCode !== undefined;
  const refusal = mayBeBudget ? await state.buildBudget.classify(retryAfter, signal, usesBuildBudget) : undefined;
  if (!refusal) {
    const { interval } = settings.rateLimits[operation.bucket];
    const pause = Math.min(retryAfter ?? settings.backoff.min, interval);
    runHook(settings, 'limiter.pause', () => state.limiter.pause(operation.bucket, scope, pause));
    return failed;
  }
  // The service would refuse any retry before the budget resets.
  const wait = Math.max(retryAfter ?? 0, refusal.wait, settings.backoff.min);
  if (usesBuildBudget) state.buildBudget.hold(scope, wait);
  const retryAt = new Date(Date.now() + wait);
  const certainty = refusal.isConfirmed
    ? `used up until ${retryAt.toISOString()}`
    : `probably used up until ${retryAt.toISOString()}, but the usage report could not confirm this`;
  const message = `${operation.name} failed: 429. The build budget of the organization is ${certainty}.`;
  const budgetError = new BuildBudgetError(message, {
    ...error,
    cause: error.cause,
    advice: 'Wait, or ask the operator of the service for a larger budget.',
    retryAfter: Math.ceil(wait / 1000),
    retryAt,
    ...(refusal.budget && { budget: refusal.budget }),
  });
  const held = usesBuildBudget && !failure.final;
  return new AttemptFailure(held ? { kind: 'budget', wait } : { ...failure, retryAfter: wait }, budgetError);
}
