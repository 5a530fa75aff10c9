import type { CreateOutcome } from '../errors/error-details.ts';
import type { RetryPolicy } from '../spec/operations.ts';
import { type Backoff, backoffDelay } from '../util/retry.ts';
import { parseRetryAfter } from '../util/retry-after.ts';

/** How one attempt failed, as far as repeating is concerned. */
export type Failure =
  /** The request surely never reached the service. */
  | { readonly kind: 'not-sent' }
  /** It may have reached the service, but no complete answer came. */
  | { readonly kind: 'lost' }
  /** A success that is no envelope: something between has answered, or cut the answer. */
  | { readonly kind: 'no-envelope' }
  /** A complete answer with an error status. `retryAfter` in milliseconds. `final`: the service asks for no retry. */
  | { readonly kind: 'status'; readonly status: number; readonly retryAfter?: number; readonly final?: boolean }
  /** Repeating cannot help. */
  | { readonly kind: 'final'; readonly outcome: CreateOutcome };

/** The header by which services ask for no retry, as Stripe's, OpenAI's and Anthropic's do (assumed). */
const SHOULD_RETRY = 'x-should-retry';

/** Returns the failure that a response with an error status is. */
export function statusFailureOf(status: number, headers: Headers): Extract<Failure, { kind: 'status' }> {
  const retryAfter = parseRetryAfter(headers, Date.now());
  const final = headers.get(SHOULD_RETRY)?.toLowerCase() === 'false';
  return { kind: 'status', status, ...(retryAfter !== undefined && { retryAfter }), ...(final && { final }) };
}

/** Whether a retry after this failure adds to the load of a service that fails: it takes from the retry budget. */
export function drainsBudget(failure: Failure): boolean {
  if (failure.kind === 'status') return failure.status >= 500 || failure.status === 408;
  return failure.kind !== 'final';
}

/** What the decision about a repeat depends on, besides the failure. */
export interface RetryFacts {
  readonly retry: RetryPolicy;
  /** Repeats already made that count against `maxRetries`. */
  readonly retries: number;
  readonly maxRetries: number;
  readonly maxRetryWait: number;
  readonly backoff: Backoff;
  /** Whether a 401 can be met with another token, and has not been yet. */
  readonly renewable: boolean;
  /** Whether an earlier attempt of this very call may have reached the service. */
  readonly mayHaveArrived: boolean;
  readonly onConflict: 'throw' | 'wait';
  /** Conflicts met so far, and milliseconds since the first. */
  readonly conflicts: number;
  readonly conflictFor: number;
  /** Milliseconds left until the call's deadline. */
  readonly timeLeft: number;
}

/** What to do after a failed attempt. */
export type Decision =
  | { readonly repeat: false }
  | { readonly repeat: true; readonly wait: number; readonly counts: boolean; readonly renew: boolean };

/** How long a create in flight is asked for again before it is reported as a conflict. */
export const CONFLICT_WAIT = 60_000;

const TRANSIENT: ReadonlySet<number> = new Set([408, 429, 500, 502, 503, 504]);
const STOP: Decision = { repeat: false };

/** Whether to send again, and after which wait. Pure. */
export function decide(failure: Failure, facts: RetryFacts, random: () => number): Decision {
  if (failure.kind === 'status' && failure.status === 401) {
    return facts.renewable ? { repeat: true, wait: 0, counts: false, renew: true } : STOP;
  }
  if (failure.kind === 'status' && failure.final) return STOP;
  if (failure.kind === 'status' && failure.status === 409) return decideConflict(failure, facts, random);
  if (!repeatable(failure, facts.retry) || facts.retries >= facts.maxRetries) return STOP;
  return fitting(facts.retries + 1, failure, facts, random, true);
}

function repeatable(failure: Failure, retry: RetryPolicy): boolean {
  switch (failure.kind) {
    case 'not-sent':
      return true;
    case 'final':
      return false;
    case 'status':
      return retry === 'never' ? failure.status === 429 : TRANSIENT.has(failure.status);
    default:
      return retry !== 'never';
  }
}

/** A create in flight, perhaps an attempt of our own: its answer will be replayed under the same key. */
function decideConflict(failure: Failure, facts: RetryFacts, random: () => number): Decision {
  const awaited = facts.retry === 'idempotency-key' && (facts.mayHaveArrived || facts.onConflict === 'wait');
  const left = CONFLICT_WAIT - facts.conflictFor;
  if (!awaited || left <= 0) return STOP;
  const decision = fitting(facts.conflicts, failure, facts, random, false);
  if (!decision.repeat || decision.wait <= left) return decision;
  // The last question is asked when the minute is over; a service that wants longer is not asked.
  return failure.kind === 'status' && failure.retryAfter !== undefined ? STOP : { ...decision, wait: left };
}

function fitting(n: number, failure: Failure, facts: RetryFacts, random: () => number, counts: boolean): Decision {
  const asked = failure.kind === 'status' ? failure.retryAfter : undefined;
  if (asked !== undefined && asked > facts.maxRetryWait) return STOP;
  const wait = asked ?? backoffDelay(n, facts.backoff, random);
  return wait < facts.timeLeft ? { repeat: true, wait, counts, renew: false } : STOP;
}

/** How far a request may be retried. Durations are milliseconds. */
export interface RetryLimits {
  readonly retry: RetryPolicy;
  readonly maxRetries: number;
  readonly maxRetryWait: number;
  readonly backoff: Backoff;
  /** Milliseconds left for all attempts. @default Infinity */
  readonly timeLeft?: number;
}

/** Returns the wait before the next attempt, or `undefined` to give up; 401 and 409 are left to {@link decide}. Pure. */
export function retryDelay(
  failure: Failure,
  retries: number,
  limits: RetryLimits,
  random: () => number = Math.random,
): number | undefined {
  const { retry, maxRetries, maxRetryWait, backoff, timeLeft = Number.POSITIVE_INFINITY } = limits;
  const isFinal = failure.kind === 'status' && failure.final === true;
  if (isFinal || !repeatable(failure, retry) || retries >= maxRetries) return undefined;
  const retryAfter = failure.kind === 'status' ? failure.retryAfter : undefined;
  if (retryAfter !== undefined && retryAfter > maxRetryWait) return undefined;
  const delay = retryAfter ?? backoffDelay(retries + 1, backoff, random);
  return delay < timeLeft ? delay : undefined;
}

/** What became of a create whose last attempt failed so. */
export function outcomeOf(failure: Failure, earlier: { mayHaveArrived: boolean; refused: boolean }): CreateOutcome {
  const last = lastOutcome(failure);
  if (last === 'done' || last === 'unknown') return last;
  if (earlier.mayHaveArrived) return 'unknown';
  return earlier.refused ? 'refused' : last;
}

/** What became of a create by one attempt that failed so. */
export function lastOutcome(failure: Failure): CreateOutcome {
  switch (failure.kind) {
    case 'not-sent':
      return 'not-sent';
    case 'final':
      return failure.outcome;
    case 'status':
      return failure.status >= 500 || failure.status === 408 || failure.status < 400 ? 'unknown' : 'refused';
    default:
      return 'unknown';
  }
}
