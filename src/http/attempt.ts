import { fingerprint, isUsableToken } from '../auth/token-source.ts';
import { BuildBudgetError, RateLimitError } from '../errors/api-errors.ts';
import { AudienceError } from '../errors/audience-error.ts';
import { ConnectionError } from '../errors/call-errors.ts';
import type { ResolvedOperation } from '../spec/operations.ts';
import { AbortScope, abortable } from '../util/abort.ts';
import { type Redactor, secretHeaders } from '../util/redact.ts';
import type { Reply } from './api-promise.ts';
import type { ClientState } from './client-state.ts';
import { emitResponse, watch } from './hooks.ts';
import type { PreparedRequest, RequestInput } from './request.ts';
import type { CallOptions, RequestEvent, Settings } from './request-options.ts';
import {
  AttemptFailure,
  type CallFacts,
  connectionFailure,
  readAnswer,
  requestIdOf,
  timeoutFailure,
  unreadableFailure,
} from './response-errors.ts';
import { type Answer, send, sending } from './send.ts';

/** One call under way; the counters change with its attempts. */
export interface Call {
  readonly state: ClientState;
  readonly settings: Settings;
  readonly operation: ResolvedOperation;
  readonly input: RequestInput;
  readonly request: PreparedRequest;
  readonly options: CallOptions;
  readonly key: string | undefined;
  /** Secrets in what is sent, besides token and headers. */
  readonly secrets?: readonly unknown[] | undefined;
  /** Its signal: ends when it is aborted, at its deadline, or when the client is closed. */
  readonly signal: AbortSignal;
  /** Requests sent so far. */
  attempts: number;
  /** When the call must be done, on the monotonic clock. */
  readonly deadlineAt: number;
  /** Whether a request has been sent whose outcome is not known yet. */
  inFlight: boolean;
  /** How the last attempt failed. */
  last: AttemptFailure | undefined;
  /** The token of the last attempt, and the one the service has rejected. */
  token: string | undefined;
  rejected: string | undefined;
}

/** Buckets without a bearer token are kept per client IP. */
const IP_SCOPE = 'ip';

const optionOr = (call: Call, name: 'timeout' | 'maxRetryWait'): number => call.options[name] ?? call.settings[name];

/** What errors tell of a call, as of now. */
export function factsOf(call: Call): CallFacts {
  const { operation, request, attempts, settings } = call;
  return {
    operation,
    path: request.path,
    attempts,
    requestIdHeader: settings.requestIdHeader,
    renewed: call.rejected !== undefined,
    get redactor() {
      return redactorOf(call);
    },
  };
}

/** A redactor that knows the secrets this call sends; made when something is to be shown. */
export function redactorOf({ settings, token, rejected, secrets = [], options }: Call): Redactor {
  return settings.redactor.with([token, rejected, ...secrets, ...secretHeaders(options.headers)]);
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
  const { state, operation } = call;
  const loading = loadParts(call);
  if (operation.token !== 'none') {
    call.token = state.tokens[operation.token].fixed ?? (await bearer(call, operation.token));
  }
  if (loading) await loading;
  const scope = call.token === undefined ? IP_SCOPE : fingerprint(call.token);
  await admit(call, scope);
  const answer = await exchange(call, (own) => send(call.request, call.token, own, call.settings));
  const facts = factsOf(call);
  try {
    const envelope = readAnswer(answer, facts, call.input.body);
    const requestId = answer.headers.get(call.settings.requestIdHeader) ?? undefined;
    if (operation.startsJob) state.budget.release(scope);
    call.inFlight = false;
    return { answer, envelope, requestId, attempts: call.attempts, facts };
  } catch (error) {
    const failed = error instanceof AttemptFailure ? error : unreadableFailure(error, answer, facts);
    throw await heed(fail(call, failed), call, scope);
  }
}

/** What sending and reading answers take, where it is not there yet; it is loaded while the token is fetched. */
function loadParts(call: Call): Promise<unknown> | undefined {
  const { state, signal } = call;
  if (state.answers.loaded && sending.loaded) return undefined;
  const loading = abortable(Promise.all([state.answers.load(), sending.load()]), signal).catch((error) => {
    throw ConnectionError.isInstance(error) ? fail(call, new AttemptFailure({ kind: 'not-sent' }, error)) : error;
  });
  // The token may fail first.
  loading.catch(() => {});
  return loading;
}

/** The bearer token of this attempt. */
export async function bearer(call: Call, kind: 'general' | 'mcp'): Promise<string> {
  const { state, rejected, signal } = call;
  let token: unknown;
  try {
    token = await abortable(Promise.resolve(state.tokens[kind].get(rejected, signal)), signal);
  } catch (error) {
    signal.throwIfAborted();
    if (AudienceError.isInstance(error)) throw error;
    const cause = redactorOf(call).cause(error);
    throw new AudienceError(`The token source failed: ${cause.message}`, { code: 'token-unavailable', cause });
  }
  if (!isUsableToken(token)) {
    throw new AudienceError('The token source gave no usable token: visible ASCII, without white space.', {
      code: 'token-unavailable',
    });
  }
  return token;
}

/** Waits for the build budget and for a slot in the bucket. */
export async function admit(call: Call, scope: string): Promise<void> {
  const { state, operation, signal } = call;
  const maxWait = Math.min(optionOr(call, 'maxRetryWait'), call.deadlineAt - performance.now());
  const priority = call.options.priority ?? 'foreground';
  let ErrorClass: typeof RateLimitError | typeof BuildBudgetError = RateLimitError;
  try {
    for (let passed = -1; passed !== state.budget.refusals; ) {
      ErrorClass = BuildBudgetError;
      if (operation.startsJob) await state.budget.pass(scope, maxWait, signal);
      passed = state.budget.refusals;
      ErrorClass = RateLimitError;
      await state.limiter.acquire(operation.bucket, { scope, priority, signal, maxWait });
      // The budget may have been refused to others meanwhile; to other requests that is nothing.
      if (!operation.startsJob) break;
    }
    call.options.onPermit?.();
  } catch (error) {
    const retryAt = signal.aborted ? undefined : refusedUntil(error);
    throw retryAt ? refusedError(ErrorClass, call, retryAt) : error;
  }
}

/** The error of a call that was not sent, because an earlier 429 still holds. */
function refusedError(
  ErrorClass: typeof RateLimitError | typeof BuildBudgetError,
  { operation, request, attempts }: Call,
  retryAt: Date,
): RateLimitError {
  const message = `${operation.name} was not sent: after an earlier 429 the service will not accept it before ${retryAt.toISOString()}.`;
  return new ErrorClass(message, {
    status: 429,
    operation: operation.name,
    method: operation.method,
    path: request.path,
    attempts,
    headers: new Headers(),
    body: '',
    bucket: operation.bucket,
    retryAfter: Math.ceil((retryAt.getTime() - Date.now()) / 1000),
    retryAt,
  });
}

/** When a gate that will not wait says the service accepts requests again; any limiter may say so. */
function refusedUntil(error: unknown): Date | undefined {
  if (!(error instanceof Error && 'retryAt' in error && error.retryAt instanceof Date)) return undefined;
  return Number.isNaN(error.retryAt.getTime()) ? undefined : error.retryAt;
}

/** Sends the request by `deliver` and waits for what it makes of the answer, `timeout` at most. */
export async function exchange<A extends Pick<Answer, 'status' | 'headers'>>(
  call: Call,
  deliver: (own: AbortSignal) => Promise<A>,
): Promise<A> {
  const { settings, signal } = call;
  signal.throwIfAborted();
  const timeout = optionOr(call, 'timeout');
  if (timeout === 0) throw fail(call, timeoutFailure(timeout, factsOf(call)));
  call.attempts++;
  watch(settings, () => settings.onRequest?.(eventOf(call)));
  const started = performance.now();
  const own = new AbortScope({ parent: signal, ms: timeout });
  call.inFlight = true;
  try {
    const answer = await deliver(own.signal);
    report(call, answer, performance.now() - started);
    return answer;
  } catch (error) {
    signal.throwIfAborted();
    const facts = factsOf(call);
    const failure = own.signal.aborted ? timeoutFailure(timeout, facts) : connectionFailure(error, facts);
    throw fail(call, failure);
  } finally {
    own.dispose();
  }
}

/** Remembers how the attempt failed. */
export function fail(call: Call, failure: AttemptFailure): AttemptFailure {
  call.inFlight = false;
  call.last = failure;
  return failure;
}

function report(call: Call, answer: Pick<Answer, 'status' | 'headers'>, duration: number): void {
  const { settings } = call;
  if (!settings.observed) return;
  const event = { ...eventOf(call), status: answer.status, duration, ...requestIdOf(answer, factsOf(call)) };
  emitResponse(settings, event);
}

/** Draws the consequences of a 429: holds the bucket, or the budget, and names the right error. */
export async function heed(failed: AttemptFailure, call: Call, scope: string): Promise<AttemptFailure> {
  const { failure, error } = failed;
  if (failure.kind !== 'status' || failure.status !== 429 || !(error instanceof RateLimitError)) return failed;
  const { state, operation, settings } = call;
  const refusal = operation.startsJob ? await state.budget.classify(failure.retryAfter, call.signal) : undefined;
  if (!refusal) {
    const { interval } = settings.rateLimits[operation.bucket];
    const ms = Math.min(failure.retryAfter ?? settings.backoff.min, interval);
    watch(settings, () => state.limiter.pause(operation.bucket, scope, ms));
    return failed;
  }
  const wait = failure.retryAfter ?? refusal.wait;
  state.budget.hold(scope, wait);
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
