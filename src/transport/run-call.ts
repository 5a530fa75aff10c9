import pRetry from 'p-retry';
import type { FieldErrors } from '../errors/api.ts';
import { AudienceError, type CreateOutcome, withDetails } from '../errors/base.ts';
import { TimeoutError } from '../errors/call.ts';
import type { ResolvedOperation } from '../operations.ts';
import type { Reply } from './api-promise.ts';
import { attempt, type Call, eventOf, watch } from './attempt.ts';
import type { Core } from './core.ts';
import { AttemptFailure, fieldText, localValidationError } from './failures.ts';
import { checkHeaders, InvalidInputError, type PreparedRequest, prepareRequest, type RequestInput } from './request.ts';
import { decide, lastOutcome, outcomeOf, type RetryFacts } from './retry.ts';
import type { CallOptions, Settings } from './settings.ts';
import { sleep } from './signal.ts';

/** A call to be made. */
export interface CallPlan {
  readonly core: Core;
  readonly settings: Settings;
  readonly operation: ResolvedOperation;
  readonly input: RequestInput & { readonly options?: CallOptions; readonly invalid?: FieldErrors | undefined };
  /** The idempotency key, where the operation honours one. */
  readonly key: string | undefined;
}

/** What earlier attempts of a call have led to. */
interface History {
  retries: number;
  renewed: boolean;
  mayHaveArrived: boolean;
  refused: boolean;
  conflicts: number;
  firstConflict: number;
  last: AttemptFailure | undefined;
}

const DEADLINE = Symbol('deadline');

/** Makes a call: request built once, attempts repeated as far as the operation allows. */
export async function runCall(plan: CallPlan): Promise<Reply> {
  const { core, input, key } = plan;
  const options = input.options ?? {};
  const deadline = options.deadline ?? Number.POSITIVE_INFINITY;
  const history: History = {
    retries: 0,
    renewed: false,
    mayHaveArrived: false,
    refused: false,
    conflicts: 0,
    firstConflict: 0,
    last: undefined,
  };
  let call: Call | undefined;
  try {
    if (input.invalid && Object.keys(input.invalid).length > 0) throw new InvalidInputError(input.invalid);
    options.signal?.throwIfAborted();
    const scope = core.open(options.signal, deadline, () => DEADLINE);
    try {
      const request = await prepare(plan, options);
      call = {
        ...plan,
        request,
        options,
        signal: scope.signal,
        attempts: 0,
        inFlight: false,
        token: undefined,
        rejected: undefined,
      };
      return await repeatedly(call, history, performance.now() + deadline);
    } finally {
      scope.dispose();
    }
  } catch (error) {
    throw finalError(error, plan, call, history, key);
  }
}

async function prepare({ settings, operation, input, key }: CallPlan, options: CallOptions): Promise<PreparedRequest> {
  checkHeaders(options.headers ?? {});
  const headers = { ...settings.headers, ...options.headers };
  return prepareRequest(operation, input, { url: settings.baseUrl, headers }, key);
}

/** The retry loop. p-retry takes over only after a first failure: most calls never have one. */
async function repeatedly(call: Call, history: History, deadlineAt: number): Promise<Reply> {
  const again = (error: Error): Promise<boolean> =>
    error instanceof AttemptFailure ? repeat(error, call, history, deadlineAt) : Promise.resolve(false);
  try {
    return await attempt(call);
  } catch (error) {
    if (!(error instanceof AttemptFailure) || !(await again(error))) throw error;
    return pRetry(() => attempt(call), {
      // The decision counts by itself, because some repeats are free.
      retries: Number.POSITIVE_INFINITY,
      minTimeout: 0,
      signal: call.signal,
      shouldRetry: ({ error: next }) => again(next),
    });
  }
}

/** Decides about a failed attempt, and waits out what has to be waited. */
async function repeat(failed: AttemptFailure, call: Call, history: History, deadlineAt: number): Promise<boolean> {
  const { failure } = failed;
  history.last = failed;
  if (failure.kind === 'status' && failure.status === 409 && history.conflicts++ === 0) {
    history.firstConflict = performance.now();
  }
  const decision = decide(failure, factsFor(call, history, deadlineAt), Math.random);
  if (!decision.repeat) return false;
  if (decision.renew) {
    history.renewed = true;
    call.rejected = call.token;
  }
  if (decision.counts) history.retries++;
  const outcome = lastOutcome(failure);
  if (outcome === 'unknown') history.mayHaveArrived = true;
  if (outcome === 'refused') history.refused = true;
  const event = { ...eventOf(call), error: failed.error, wait: decision.wait };
  call.settings.logger.info(
    `${event.operation} is repeated in ${Math.round(decision.wait)} ms: ${failed.error.message}`,
    {
      operation: event.operation,
      attempt: event.attempt,
      wait: Math.round(decision.wait),
    },
  );
  watch(call.settings, () => call.settings.onRetry?.(event));
  await sleep(decision.wait, call.signal);
  return true;
}

function factsFor({ core, operation, options, settings }: Call, history: History, deadlineAt: number): RetryFacts {
  const now = performance.now();
  const renewable = operation.token !== 'none' && core.tokens[operation.token].renewable && !history.renewed;
  return {
    repeat: operation.repeat,
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
function finalError(
  thrown: unknown,
  plan: CallPlan,
  call: Call | undefined,
  history: History,
  key: string | undefined,
): unknown {
  let error = thrown;
  if (error instanceof AttemptFailure) error = error.error;
  if (error instanceof InvalidInputError) {
    error = localValidationError(plan.operation, error.errors, fieldText(error.errors));
  }
  if (error === DEADLINE) error = deadlineError(plan, call, history);
  if (!AudienceError.isInstance(error)) {
    const { signal } = plan.input.options ?? {};
    if (signal?.aborted && error === signal.reason) return error;
    error = callbackError(error, plan);
  }
  if (key === undefined || !AudienceError.isInstance(error)) return error;
  const outcome = finalOutcome(thrown, call, history);
  return withDetails(error, { idempotencyKey: key, outcome }, ADVICE[outcome]);
}

function finalOutcome(thrown: unknown, call: Call | undefined, history: History): CreateOutcome {
  if (thrown instanceof AttemptFailure) return outcomeOf(thrown.failure, history);
  // A 401 or a 409 on the way sent a request, too, but one that was refused.
  return outcomeOf({ kind: call?.inFlight ? 'lost' : 'not-sent' }, history);
}

/** Something the user gave to the client threw: a limiter, an override. */
function callbackError(thrown: unknown, { core, operation }: CallPlan): AudienceError {
  const cause = core.redactor.cause(thrown);
  return new AudienceError(`${operation.name} failed in a callback: ${cause.message}`, {
    code: 'callback-failed',
    cause,
  });
}

/** What a failed create means for the caller's data. */
const ADVICE: Readonly<Record<CreateOutcome, string>> = {
  'not-sent': 'Nothing reached the service; repeating is safe.',
  refused: 'Nothing was created by this call.',
  unknown:
    'It may have been created: repeat it with the same `idempotencyKey` (valid for 24 hours) and body; it then happens once.',
  done: 'The create itself succeeded.',
};

function deadlineError({ operation, input }: CallPlan, call: Call | undefined, history: History): TimeoutError {
  const attempts = call?.attempts ?? 0;
  const message = `${operation.name} was not done after ${input.options?.deadline} ms (\`deadline\`), ${attempts} attempts made.`;
  return new TimeoutError(message, {
    code: 'deadline-exceeded',
    operation: operation.name,
    attempts,
    ...(history.last && { cause: history.last.error }),
  });
}
