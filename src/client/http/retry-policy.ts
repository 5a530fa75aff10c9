import type { CreateOutcome } from '../../errors/error-details.ts';
import { MAX_KEY_AGE_MS } from '../../spec/limits.ts';
import type { RetryPolicy } from '../../spec/operations.ts';
import { type Backoff, backoffDelay } from '../../util/retry.ts';
import { parseRetryAfter } from '../../util/retry-after.ts';
import type { ConflictReading } from './conflict.ts';

/** The parts of a failed attempt that decide about a retry. */
export type Failure =
  /** The request certainly never reached the service. */
  | { readonly kind: 'not-sent' }
  /** The request may have reached the service, but no complete response arrived. */
  | { readonly kind: 'lost' }
  /** A successful response that is not an envelope: a proxy responded, or the response is truncated. */
  | { readonly kind: 'no-envelope' }
  /**
   * A response with an error status. `retryAfter` is in milliseconds. If `final` is true, the service asks the client
   * not to retry. `conflict` is the meaning of a 409's message.
   */
  | {
      readonly kind: 'status';
      readonly status: number;
      readonly retryAfter?: number;
      readonly final?: boolean;
      readonly conflict?: ConflictReading;
    }
  /**
   * The service refused a create request because the build budget is used up. The client holds create requests back for
   * `wait` milliseconds.
   */
  | { readonly kind: 'budget'; readonly wait: number }
  /** A retry cannot help. */
  | { readonly kind: 'final'; readonly outcome: CreateOutcome };

/**
 * Header whose value `false` asks the client not to retry. OpenAI and Anthropic send it. This service may send it, too
 * (assumed).
 */
const SHOULD_RETRY_HEADER = 'x-should-retry';

/** Returns the failure for a response with an error status. */
export function statusFailureOf(status: number, headers: Headers): Extract<Failure, { kind: 'status' }> {
  const retryAfter = parseRetryAfter(headers, Date.now());
  const final = headers.get(SHOULD_RETRY_HEADER)?.toLowerCase() === 'false';
  return { kind: 'status', status, ...(retryAfter !== undefined && { retryAfter }), ...(final && { final }) };
}

/** Limits of the retries of a request. Durations are in milliseconds. */
export interface RetryLimits {
  readonly retry: RetryPolicy;
  readonly maxRetries: number;
  readonly maxRetryWait: number;
  readonly backoff: Backoff;
  /** Milliseconds left for all attempts. @default Infinity */
  readonly timeLeft?: number;
}

export interface CallRetryLimits extends RetryLimits {
  /** True if the token source can return another token after a 401. */
  readonly canRenewToken: boolean;
  /** How to handle a 409 that an earlier attempt of this call cannot have caused. */
  readonly onConflict: 'throw' | 'wait';
}

/** Outcomes of a create request, ordered by the certainty that the request took effect. */
const OUTCOMES: readonly CreateOutcome[] = ['not-sent', 'refused', 'unknown', 'done'];

/** The failed attempts of a call, on which its next retry depends. */
export class RetryHistory {
  /** Retries that count against `maxRetries`. */
  retries = 0;
  /** Number of 409s. */
  conflicts = 0;
  /** What the last 409 means for this call. */
  conflict: ConflictReading | undefined;
  /** True if an earlier attempt may have reached the service, so that the request in flight may be from this call. */
  mayBeOwn = false;
  /** The token that the service rejected with a 401, after which the call asks the source for another token. */
  rejectedToken: string | undefined;
  /** Outcome of a create request according to all failed attempts. */
  outcome: CreateOutcome = 'not-sent';
  readonly #isCallersKey: boolean;
  #firstConflictAt = 0;
  /**
   * Earliest time at which the create request may have taken effect, on the monotonic and the system clock. The
   * monotonic clock stops while the machine sleeps; the system clock may be changed.
   */
  #unknownSince: { readonly monotonic: number; readonly wall: number } | undefined;

  /**
   * @param isCallersKey True if the caller has passed the idempotency key, so that other calls may use the same key.
   */
  constructor(isCallersKey = false) {
    this.#isCallersKey = isCallersKey;
  }

  /** Milliseconds since the first 409; 0 without a 409. */
  get conflictAge(): number {
    return this.conflicts > 0 ? performance.now() - this.#firstConflictAt : 0;
  }

  /**
   * Milliseconds during which the client may still send the key; `Infinity` if the create request cannot have taken
   * effect.
   */
  get keyTimeLeft(): number {
    if (!this.#unknownSince) return Number.POSITIVE_INFINITY;
    const { monotonic, wall } = this.#unknownSince;
    return MAX_KEY_AGE_MS - Math.max(performance.now() - monotonic, Date.now() - wall);
  }

  /** Milliseconds for which the client may still retry after a 409. */
  get conflictTimeLeft(): number {
    return MAX_CONFLICT_WAIT_MS - this.conflictAge;
  }

  onFailure(failure: Failure): void {
    if (failure.kind === 'status' && failure.conflict !== undefined) {
      this.#onConflict(failure.conflict);
      return;
    }
    const outcome = attemptOutcome(failure);
    if (outcome === 'unknown') this.mayBeOwn = true;
    this.#raise(outcome);
  }

  #onConflict(conflict: ConflictReading): void {
    if (this.conflicts++ === 0) this.#firstConflictAt = performance.now();
    // Ignore what the 409 says about another body if the client generated the key, or if an earlier attempt of this
    // call may have used the key: then the key belongs to this body.
    this.conflict = this.#isCallersKey && !this.mayBeOwn ? conflict : 'in-doubt';
    if (this.conflict === 'other-body') this.outcome = 'refused';
    else this.#raise('unknown');
  }

  #raise(outcome: CreateOutcome): void {
    if (outcome === 'unknown') this.#unknownSince ??= { monotonic: performance.now(), wall: Date.now() };
    if (OUTCOMES.indexOf(outcome) > OUTCOMES.indexOf(this.outcome)) this.outcome = outcome;
  }

  /** Records that the call retries the last failed attempt, which sent `token`. */
  onRetry(reason: Retry['reason'], token: string | undefined): void {
    if (reason === 'transient') this.retries++;
    if (reason === 'token') this.rejectedToken = token;
  }
}

/** The part of a call's history that decides about its next retry. */
export type RetryState = Pick<
  RetryHistory,
  'retries' | 'conflict' | 'conflicts' | 'conflictAge' | 'rejectedToken' | 'mayBeOwn'
>;

/** The next attempt of a call. */
export interface Retry {
  /** Milliseconds to wait. */
  readonly delay: number;
  /** Only a `transient` failure counts against `maxRetries`. */
  readonly reason: 'transient' | 'conflict' | 'token' | 'budget';
}

/** Maximum time to wait for the response of a create request in flight with the same key, in milliseconds. */
const MAX_CONFLICT_WAIT_MS = 60_000;

const TRANSIENT_STATUSES: ReadonlySet<number> = new Set([408, 429, 500, 502, 503, 504]);

/** Returns the retry after a failed attempt, or `undefined` if the call fails. A pure function. */
export function nextRetry(
  failure: Failure,
  history: RetryState,
  limits: CallRetryLimits,
  random: () => number,
): Retry | undefined {
  if (failure.kind === 'status' && failure.status === 401) {
    return limits.canRenewToken && history.rejectedToken === undefined ? { delay: 0, reason: 'token' } : undefined;
  }
  if (failure.kind === 'status' && failure.conflict !== undefined) {
    const delay = conflictDelay(failure, history, limits, random);
    return delay === undefined ? undefined : { delay, reason: 'conflict' };
  }
  if (failure.kind === 'budget') {
    const delay = limits.maxRetries > 0 ? delayWithin(limits, failure.wait, 1, random) : undefined;
    return delay === undefined ? undefined : { delay, reason: 'budget' };
  }
  const delay = retryDelay(failure, history.retries, limits, random);
  return delay === undefined ? undefined : { delay, reason: 'transient' };
}

/** Returns the milliseconds until the next attempt of a request, or `undefined` to give up. */
export function retryDelay(
  failure: Failure,
  retries: number,
  limits: RetryLimits,
  random: () => number = Math.random,
): number | undefined {
  const isFinal = failure.kind === 'status' && failure.final === true;
  if (isFinal || !isRetryable(failure, limits.retry) || retries >= limits.maxRetries) return undefined;
  return delayWithin(limits, failure.kind === 'status' ? failure.retryAfter : undefined, retries + 1, random);
}

function isRetryable(failure: Failure, retry: RetryPolicy): boolean {
  switch (failure.kind) {
    case 'not-sent':
      return true;
    case 'final':
    case 'budget':
      return false;
    case 'status':
      return retry === 'never' ? failure.status === 429 : TRANSIENT_STATUSES.has(failure.status);
    default:
      return retry !== 'never';
  }
}

/**
 * Returns the delay after a 409, or `undefined` to give up. When the request in flight has ended, the service replays
 * its response to requests with the same body.
 */
function conflictDelay(
  { retryAfter, final }: Extract<Failure, { kind: 'status' }>,
  { mayBeOwn, conflict, conflicts, conflictAge }: RetryState,
  limits: CallRetryLimits,
  random: () => number,
): number | undefined {
  if (final || conflict === 'other-body' || limits.retry !== 'idempotency-key') return undefined;
  const isAwaited = mayBeOwn || limits.onConflict === 'wait';
  const left = MAX_CONFLICT_WAIT_MS - conflictAge;
  if (!isAwaited || left <= 0) return undefined;
  const delay = delayWithin(limits, retryAfter, conflicts, random);
  if (delay === undefined || delay <= left) return delay;
  // Make the last attempt at the end of the minute, unless the service asked for a longer delay.
  return retryAfter === undefined ? left : undefined;
}

/** Returns the delay before the nth retry, or `undefined` if the delay exceeds the limits. */
function delayWithin(
  { maxRetryWait, backoff, timeLeft = Number.POSITIVE_INFINITY }: RetryLimits,
  retryAfter: number | undefined,
  n: number,
  random: () => number,
): number | undefined {
  if (retryAfter !== undefined && retryAfter > maxRetryWait) return undefined;
  const delay = retryAfter ?? backoffDelay(n, backoff, random);
  return delay < timeLeft ? delay : undefined;
}

/** Returns the outcome of a create request after this failed attempt, regardless of earlier attempts. */
function attemptOutcome(failure: Failure): CreateOutcome {
  switch (failure.kind) {
    case 'not-sent':
      return 'not-sent';
    case 'budget':
      return 'refused';
    case 'final':
      return failure.outcome;
    case 'status':
      return failure.status >= 500 || failure.status === 408 || failure.status < 400 ? 'unknown' : 'refused';
    default:
      return 'unknown';
  }
}
