import { BuildBudgetError, RateLimitError } from '../errors/api.ts';
import { AudienceError } from '../errors/base.ts';
import type { ResolvedOperation } from '../operations.ts';
import type { Reply } from './api-promise.ts';
import type { Core } from './core.ts';
import { AttemptFailure, type CallFacts, connectionFailure, readAnswer, timeoutFailure } from './failures.ts';
import type { PreparedRequest } from './request.ts';
import { type Answer, send } from './send.ts';
import type { CallOptions, RequestEvent, Settings } from './settings.ts';
import { signalScope } from './signal.ts';
import { fingerprint, isUsableToken } from './tokens.ts';

/** One call under way; the counters change with its attempts. */
export interface Call {
  readonly core: Core;
  readonly settings: Settings;
  readonly operation: ResolvedOperation;
  readonly request: PreparedRequest;
  readonly options: CallOptions;
  readonly key: string | undefined;
  readonly signal: AbortSignal;
  /** Requests sent so far. */
  attempts: number;
  /** Whether a request without an answer is on its way. */
  inFlight: boolean;
  /** The token of the last attempt, and the one the service has rejected. */
  token: string | undefined;
  rejected: string | undefined;
}

/** Buckets without a bearer token are kept per client IP. */
const IP_SCOPE = 'ip';

const optionOr = (call: Call, name: 'timeout' | 'maxRetryWait'): number => call.options[name] ?? call.settings[name];

/** What errors tell of a call, as of now. */
function factsOf(call: Call): CallFacts {
  const { operation, request, attempts, settings } = call;
  return { operation, path: request.path, attempts, requestIdHeader: settings.requestIdHeader };
}

/** What hooks are told of a call, as of now. */
export function eventOf({ operation, request, attempts, key }: Call): RequestEvent {
  return {
    operation: operation.name,
    method: request.method,
    path: request.path,
    attempt: attempts,
    ...(key !== undefined && { idempotencyKey: key }),
  };
}

/** One attempt: token, slot, request, envelope. Throws {@link AttemptFailure}, or what ended the call. */
export async function attempt(call: Call): Promise<Reply> {
  call.token = await bearer(call);
  const scope = call.token === undefined ? IP_SCOPE : fingerprint(call.token);
  await admit(call, scope);
  const answer = await exchange(call);
  try {
    const envelope = readAnswer(answer, factsOf(call), call.core.redactor);
    const requestId = answer.headers.get(call.settings.requestIdHeader) ?? undefined;
    return { answer, envelope, requestId, attempts: call.attempts };
  } catch (error) {
    throw error instanceof AttemptFailure ? await heed(error, call, scope) : error;
  }
}

/** The bearer token of this attempt; none for the credential exchange. */
async function bearer({ core, operation, rejected, signal }: Call): Promise<string | undefined> {
  if (operation.token === 'none') return undefined;
  let token: unknown;
  try {
    token = await core.tokens[operation.token].get(rejected, signal);
  } catch (error) {
    if (signal.aborted || AudienceError.isInstance(error)) throw error;
    const cause = core.redactor.cause(error);
    throw new AudienceError(`The token source failed: ${cause.message}`, { code: 'token-unavailable', cause });
  }
  if (!isUsableToken(token)) {
    throw new AudienceError('The token source gave no usable token: visible ASCII, without white space.', {
      code: 'token-unavailable',
    });
  }
  core.redactor.remember(token);
  return token;
}

/** Waits for the build budget and for a slot in the bucket. */
async function admit(call: Call, scope: string): Promise<void> {
  const { core, operation, signal } = call;
  const maxWait = optionOr(call, 'maxRetryWait');
  let ErrorClass: typeof RateLimitError | typeof BuildBudgetError = BuildBudgetError;
  try {
    if (operation.startsJob) await core.budget.pass(scope, maxWait, signal);
    ErrorClass = RateLimitError;
    const priority = call.options.priority ?? 'foreground';
    await core.limiter.acquire(operation.bucket, { scope, priority, signal, maxWait });
  } catch (error) {
    const retryAt = refusedUntil(error);
    if (!retryAt) throw error;
    const message = `${operation.name} was not sent: after an earlier 429 the service will not accept it before ${retryAt.toISOString()}.`;
    throw new ErrorClass(message, {
      status: 429,
      operation: operation.name,
      method: operation.method,
      path: call.request.path,
      attempts: call.attempts,
      headers: new Headers(),
      body: '',
      bucket: operation.bucket,
      retryAfter: Math.ceil((retryAt.getTime() - Date.now()) / 1000),
      retryAt,
    });
  }
}

/** When a gate that will not wait says the service accepts requests again; any limiter may say so. */
function refusedUntil(error: unknown): Date | undefined {
  return error instanceof Error && 'retryAt' in error && error.retryAt instanceof Date ? error.retryAt : undefined;
}

/** Sends the request and waits for the whole answer, `timeout` at most. */
async function exchange(call: Call): Promise<Answer> {
  const { core, settings, signal } = call;
  const timeout = optionOr(call, 'timeout');
  signal.throwIfAborted();
  call.attempts++;
  watch(settings, () => settings.onRequest?.(eventOf(call)));
  const own = signalScope(signal, timeout, () => undefined);
  const started = performance.now();
  call.inFlight = true;
  try {
    const answer = await send(call.request, call.token, own.signal, settings);
    call.inFlight = false;
    report(call, answer, performance.now() - started);
    return answer;
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    call.inFlight = false;
    if (own.signal.aborted) throw timeoutFailure(timeout, factsOf(call));
    throw connectionFailure(error, factsOf(call), core.redactor);
  } finally {
    own.dispose();
  }
}

function report(call: Call, answer: Answer, duration: number): void {
  const { settings } = call;
  const requestId = answer.headers.get(settings.requestIdHeader);
  const event = { ...eventOf(call), status: answer.status, duration, ...(requestId !== null && { requestId }) };
  settings.logger.debug(`${event.method} ${event.path} → ${event.status}`, event);
  watch(settings, () => settings.onResponse?.(event));
}

/** Runs a user's hook; its failure is logged and harms no call. */
export function watch(settings: Settings, hook: () => void): void {
  try {
    hook();
  } catch (error) {
    settings.logger.error(`A hook threw: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** Draws the consequences of a 429: holds the bucket, or the budget, and names the right error. */
async function heed(failed: AttemptFailure, call: Call, scope: string): Promise<AttemptFailure> {
  const { failure, error } = failed;
  if (failure.kind !== 'status' || failure.status !== 429 || !(error instanceof RateLimitError)) return failed;
  const { core, operation, settings } = call;
  const refusal = operation.startsJob ? await core.budget.classify(failure.retryAfter, call.signal) : undefined;
  if (!refusal) {
    const { interval } = settings.rateLimits[operation.bucket];
    core.limiter.pause(operation.bucket, scope, Math.min(failure.retryAfter ?? settings.backoff.min, interval));
    return failed;
  }
  const wait = failure.retryAfter ?? refusal.wait;
  core.budget.hold(scope, wait);
  const retryAt = new Date(Date.now() + wait);
  const message = `${operation.name} failed: 429. The build budget of the organization is spent until ${retryAt.toISOString()}; nothing was created. Wait, or have the budget raised.`;
  const budgetError = new BuildBudgetError(message, {
    ...error,
    cause: error.cause,
    retryAfter: Math.ceil(wait / 1000),
    retryAt,
    ...(refusal.budget && { budget: refusal.budget }),
  });
  return new AttemptFailure({ ...failure, retryAfter: wait }, budgetError);
}
