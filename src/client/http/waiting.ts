import { startTimer } from '../../util/abort.ts';
import type { Logger } from '../../util/log.ts';
import { emit } from '../../util/run-hooks.ts';
import type { RequestEvent, WaitingEvent } from './hooks.ts';
import type { Settings } from './request-options.ts';
import type { Failure } from './retry-policy.ts';

/** Reason why a call waits before it sends a request. */
export type WaitingReason = WaitingEvent['reason'];

/** The parts of a call or transfer that its report contains. */
export interface WaitingCall {
  readonly settings: Pick<Settings, 'logger' | 'hooks'>;
  readonly event: RequestEvent;
  /** Error of the last attempt, if there was one. */
  readonly lastError: Error | undefined;
}

/** Time after which a call reports what it waits for, in milliseconds. */
const REPORT_AFTER_MS = 5_000;

/** The time during which a call waits before its next request. The call reports it once, after five seconds. */
export class Waiting {
  readonly reason: WaitingReason;
  /** Returns the expected number of milliseconds until the call continues. Not set if this number is unknown. */
  timeLeft: (() => number) | undefined;
  readonly #stopTimer: () => void;

  constructor(call: WaitingCall, reason: WaitingReason, timeLeft?: () => number) {
    this.reason = reason;
    this.timeLeft = timeLeft;
    this.#stopTimer = startTimer(REPORT_AFTER_MS, () => report(call, this));
  }

  /** Prevents the report. */
  end(): void {
    this.#stopTimer();
  }
}

/** Records that a call waits between a failure and the next attempt. */
export function waitToRetry(call: WaitingCall, failure: Failure, delay: number): Waiting {
  const at = performance.now() + delay;
  const isAsked = failure.kind === 'status' && failure.retryAfter !== undefined;
  const what = failure.kind === 'budget' ? 'build-budget' : isAsked ? 'retry-after' : 'backoff';
  return new Waiting(call, what, () => at - performance.now());
}

/** The last line that each logger received. */
const lastLines = new WeakMap<Logger, string>();

function report(call: WaitingCall, waiting: Waiting): void {
  const { settings, event } = call;
  const message = `${event.operation} is waiting: ${whyWaiting(call, waiting)}.`;
  const until = endOf(waiting);
  emit(settings, 'onWaiting', () => {
    const facts = { ...event, reason: waiting.reason, message };
    return until === undefined ? facts : { ...facts, until };
  });
  // One log line is enough for many calls that wait for the same limit until the same time.
  if (lastLines.get(settings.logger) === message) return;
  lastLines.set(settings.logger, message);
  settings.logger.info(message, { operation: event.operation, callId: event.callId });
}

function endOf({ timeLeft }: Waiting): Date | undefined {
  const ms = timeLeft?.() ?? 0;
  return ms > 0 && ms < Number.POSITIVE_INFINITY ? new Date(Date.now() + ms) : undefined;
}

/** Returns a clause that says what a call waits for and, if known, until when, for log lines and errors. */
export function whyWaiting({ event, lastError }: WaitingCall, waiting: Waiting): string {
  const end = endOf(waiting);
  const until = end ? ` until ${timeText(end)}` : '';
  const error = lastError ? `, after: ${lastError.message.replace(/\.$/, '')}` : '';
  switch (waiting.reason) {
    case 'token':
      return 'the token source has not returned a token';
    case 'rate-limit':
      return `the \`${event.bucket}\` limit${limitText(event)} is used up${until}`;
    case 'build-budget':
      return end
        ? `the build budget is used up${until}`
        : 'the build budget was used up, and the client first sends other create requests, one at a time';
    case 'conflict':
      return `an earlier request with the same idempotency key may still be in flight, and the client keeps asking for its response${until}`;
    case 'retry-after':
      return `the service asked the client to wait${until}${error}`;
    default:
      return `the next attempt follows${end ? ` at ${timeText(end)}` : ''}${error}`;
  }
}

/** Returns a limit as text, such as `, 30 requests per minute,`. */
function limitText({ rateLimit }: RequestEvent): string {
  if (!rateLimit) return '';
  const { limit, interval } = rateLimit;
  return `, ${limit} ${limit === 1 ? 'request' : 'requests'} per ${interval === 60_000 ? 'minute' : `${interval / 1_000} s`},`;
}

/** Returns a time as text, rounded up to a second. */
const timeText = (time: Date): string =>
  `${new Date(Math.ceil(time.getTime() / 1_000) * 1_000).toISOString().slice(0, 19)}Z`;
