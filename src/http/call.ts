import pRetry from 'p-retry';
import { ValidationError } from '../errors/api-errors.ts';
import { AudienceError, withDetails } from '../errors/audience-error.ts';
import { TimeoutError } from '../errors/call-errors.ts';
import type { CreateOutcome, FieldErrors } from '../errors/error-details.ts';
import type { ResolvedOperation } from '../spec/operations.ts';
import { sleep } from '../util/abort.ts';
import { atCallSite, type CallSite, isReason } from '../util/call-site.ts';
import { checkHeaders, checkNumbers, checkSendable, InvalidInputError, lowerCased } from '../util/input-checks.ts';
import type { Reply } from './api-promise.ts';
import { attempt, type Call, eventOf, redactorOf } from './attempt.ts';
import type { ClientState } from './client-state.ts';
import { emitRetry } from './hooks.ts';
import { type PreparedRequest, prepareRequest, type RequestInput } from './request.ts';
import type { CallOptions, Settings } from './request-options.ts';
import { AttemptFailure, fieldText, localValidationError } from './response-errors.ts';
import { decide, drainsBudget, lastOutcome, outcomeOf, type RetryFacts } from './retry-policy.ts';

/** A call to be made. */
export interface CallPlan {
  readonly state: ClientState;
  readonly settings: Settings;
  readonly operation: ResolvedOperation;
  readonly input: RequestInput & {
    readonly options?: CallOptions;
    readonly invalid?: () => FieldErrors;
    readonly secrets?: readonly unknown[];
  };
  /** The idempotency key, where the operation honours one. */
  readonly key: string | undefined;
  /** Where the call was made, for errors. */
  readonly site: CallSite;
}

/** What earlier attempts of a call have led to. */
interface History {
  retries: number;
  renewed: boolean;
  mayHaveArrived: boolean;
  refused: boolean;
  conflicts: number;
  firstConflict: number;
  /** Whether the last retry took from the retry budget. */
  paid: boolean;
  /** Whether a retry was left out because the retry budget is spent. */
  budgetSpent: boolean;
}

const DEADLINE = Symbol('deadline');

/** What is particular to a kind of call: how its request is built, and what one attempt of it is. */
export interface Course<R> {
  prepare(options: CallOptions): PreparedRequest | Promise<PreparedRequest>;
  /** Throws {@link AttemptFailure}, or what ends the call. */
  attempt(call: Call): Promise<R>;
}

/** Makes a call of the API. */
export function runCall(plan: CallPlan): Promise<Reply> {
  return carryOut(plan, { prepare: (options) => prepare(plan, options), attempt });
}

/** Makes a call: request built once, attempts repeated as far as the operation allows. */
export async function carryOut<R>(plan: CallPlan, course: Course<R>): Promise<R> {
  const { state, input } = plan;
  const history: History = {
    retries: 0,
    renewed: false,
    mayHaveArrived: false,
    refused: false,
    conflicts: 0,
    firstConflict: 0,
    paid: false,
    budgetSpent: false,
  };
  let call: Call | undefined;
  try {
    const options = input.options ?? {};
    checkNumbers(options, ['timeout', 'maxRetries', 'maxRetryWait', 'deadline']);
    const invalid = input.invalid?.() ?? {};
    if (Object.keys(invalid).length > 0) throw new InvalidInputError(invalid);
    options.signal?.throwIfAborted();
    const deadline = options.deadline ?? Number.POSITIVE_INFINITY;
    const deadlineAt = performance.now() + deadline;
    const life = state.open({ parent: options.signal, ms: deadline, reason: () => DEADLINE });
    try {
      const preparing = course.prepare(options);
      const request = preparing instanceof Promise ? await preparing : preparing;
      const fresh = { attempts: 0, inFlight: false, last: undefined, token: undefined, rejected: undefined };
      call = { ...plan, ...fresh, secrets: input.secrets, request, options, deadlineAt, signal: life.signal };
      const result = await repeatedly(call, history, course);
      if (options.priority !== 'background') state.retryBudget.onSuccess(history.paid);
      return result;
    } finally {
      life.dispose();
    }
  } catch (error) {
    const aborted = isReason(error, [plan.input.options?.signal]);
    throw aborted ? error : atCallSite(finalError(error, plan, call, history), plan.site);
  }
}

function prepare(
  { settings, operation, input, key }: CallPlan,
  options: CallOptions,
): PreparedRequest | Promise<PreparedRequest> {
  return prepareRequest(operation, input, { url: settings.baseUrl, headers: headersOf(settings, options) }, key);
}

/** The client's headers and the call's own. */
function headersOf(settings: Settings, { headers }: CallOptions): Settings['headers'] {
  if (!headers) return settings.headers;
  checkHeaders(headers);
  checkSendable(headers);
  return { ...settings.headers, ...lowerCased(headers) };
}

/** The retry loop. p-retry takes over only after a first failure: most calls never have one. */
async function repeatedly<R>(call: Call, history: History, { attempt: once }: Course<R>): Promise<R> {
  const again = (error: Error): Promise<boolean> =>
    error instanceof AttemptFailure ? repeat(error, call, history) : Promise.resolve(false);
  try {
    return await once(call);
  } catch (error) {
    if (!(error instanceof AttemptFailure) || !(await again(error))) throw error;
    return pRetry(() => once(call), {
      // The decision counts by itself, because some repeats are free.
      retries: Number.POSITIVE_INFINITY,
      minTimeout: 0,
      signal: call.signal,
      shouldRetry: ({ error: next }) => again(next),
    });
  }
}

/** Decides about a failed attempt, and waits out what has to be waited. */
async function repeat(failed: AttemptFailure, call: Call, history: History): Promise<boolean> {
  const { failure } = failed;
  if (failure.kind === 'status' && failure.status === 409 && history.conflicts++ === 0) {
    history.firstConflict = performance.now();
  }
  const decision = decide(failure, factsFor(call, history), Math.random);
  if (!decision.repeat) return false;
  history.paid = decision.counts && drainsBudget(failure);
  if (history.paid && !call.state.retryBudget.take()) {
    history.budgetSpent = true;
    return false;
  }
  if (decision.renew) {
    history.renewed = true;
    call.rejected = call.token;
  }
  if (decision.counts) history.retries++;
  const outcome = lastOutcome(failure);
  if (outcome === 'unknown') history.mayHaveArrived = true;
  if (outcome === 'refused') history.refused = true;
  emitRetry(call.settings, { ...eventOf(call), error: failed.error, wait: decision.wait });
  await sleep(decision.wait, call.signal);
  return true;
}

function factsFor({ state, operation, options, settings, deadlineAt }: Call, history: History): RetryFacts {
  const now = performance.now();
  const renewable = operation.token !== 'none' && state.tokens[operation.token].renewable && !history.renewed;
  return {
    retry: operation.retry,
    retries: history.retries,
    maxRetries: options.maxRetries ?? settings.maxRetries,
    maxRetryWait: options.maxRetryWait ?? settings.maxRetryWait,
    backoff: settings.backoff,
    renewable,
    mayHaveArrived: history.mayHaveArrived,
    onConflict: options.onConflict ?? 'throw',
    conflicts: history.conflicts,
    conflictFor: history.conflicts > 0 ? now - history.firstConflict : 0,
    timeLeft: deadlineAt - now,
  };
}

/** What the caller's promise rejects with. */
function finalError(thrown: unknown, plan: CallPlan, call: Call | undefined, history: History): AudienceError {
  const failure = toError(thrown, plan, call);
  const error = history.budgetSpent ? withDetails(failure, {}, BUDGET_SPENT) : failure;
  if (plan.key === undefined) return error;
  const outcome = finalOutcome(thrown, call, history);
  const local = ValidationError.isInstance(error) && error.local;
  return withDetails(error, { idempotencyKey: plan.key, outcome }, local ? 'Nothing was created.' : ADVICE[outcome]);
}

function toError(thrown: unknown, plan: CallPlan, call: Call | undefined): AudienceError {
  if (thrown instanceof AttemptFailure) return thrown.error;
  if (thrown instanceof InvalidInputError) {
    return localValidationError(plan.operation, thrown.errors, fieldText(thrown.errors));
  }
  if (thrown === DEADLINE) return deadlineError(plan, call);
  return AudienceError.isInstance(thrown) ? thrown : callbackError(thrown, plan, call);
}

function finalOutcome(thrown: unknown, call: Call | undefined, history: History): CreateOutcome {
  if (thrown instanceof AttemptFailure) return outcomeOf(thrown.failure, history);
  if (call?.inFlight) return 'unknown';
  return outcomeOf(call?.last?.failure ?? { kind: 'not-sent' }, history);
}

/** Something the user gave to the client threw: a limiter, an override. */
function callbackError(thrown: unknown, plan: CallPlan, call: Call | undefined): AudienceError {
  const { settings, operation } = plan;
  const cause = (call ? redactorOf(call) : settings.redactor).cause(thrown);
  return new AudienceError(`${operation.name} failed in a callback: ${cause.message}`, {
    code: 'callback-failed',
    cause,
  });
}

const BUDGET_SPENT =
  'It was not retried: earlier failures have used up the retry budget of this client (`retryBudget`).';

/** What a failed create means for the caller's data. */
const ADVICE: Readonly<Record<CreateOutcome, string>> = {
  'not-sent': 'Nothing reached the service; repeating is safe.',
  refused: 'Nothing was created by this call.',
  unknown:
    'It may have been created: repeat it with the same `idempotencyKey` (valid for 24 hours) and body; it then happens once.',
  done: 'The create itself succeeded.',
};

function deadlineError({ operation, input }: CallPlan, call: Call | undefined): TimeoutError {
  const attempts = call?.attempts ?? 0;
  const stood = attempts === 0 ? ': it waited for its token, or for a slot in its bucket' : '';
  const message = `${operation.name} was not done after ${input.options?.deadline} ms (\`deadline\`); requests sent: ${attempts}${stood}.`;
  return new TimeoutError(message, {
    code: 'deadline-exceeded',
    operation: operation.name,
    attempts,
    ...(call?.last && { cause: call.last.error }),
  });
}
