import type { ClientState } from '../http/client-state.ts';
import { emitResponse, emitRetry, watch } from '../http/hooks.ts';
import type { RequestEvent, Settings } from '../http/request-options.ts';
import { AttemptFailure } from '../http/response-errors.ts';
import { decide, type RetryFacts } from '../http/retry-policy.ts';
import { sleep } from '../util/abort.ts';
import { checkNumbers } from '../util/input-checks.ts';
import { idleFailure, lostFailure, type TransferFacts } from './storage-errors.ts';
import { type IdleScope, idleScope } from './storage-request.ts';

/** What uploads and downloads need of a client. */
export interface StorageContext {
  readonly state: ClientState;
  readonly settings: Settings;
}

/** Options of every transfer. */
export interface TransferOptions {
  /** Ends the transfer at once; it rejects with the signal's own reason. */
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds without a byte moved after which an attempt is given up. @default 30000 */
  readonly idleTimeout?: number | undefined;
  /** Attempts after the first. @default the client's */
  readonly maxRetries?: number | undefined;
  /** The longest wait storage may ask for. Milliseconds. @default the client's */
  readonly maxRetryWait?: number | undefined;
}

/** How long a transfer may stand still unless told otherwise. */
const IDLE_TIMEOUT = 30_000;

/** A transfer under way, as far as repeating it is concerned. */
export interface Transfer {
  readonly context: StorageContext;
  readonly options: TransferOptions;
  readonly signal: AbortSignal;
  /** Milliseconds in which repeating makes sense. */
  timeLeft(): number;
  facts(): TransferFacts;
}

/** Whether to try again after a failure; if so, the wait is over when it resolves. */
export async function waitToRepeat(error: unknown, retries: number, transfer: Transfer): Promise<boolean> {
  if (!(error instanceof AttemptFailure)) return false;
  const { settings } = transfer.context;
  const decision = decide(error.failure, retryFacts(retries, transfer), Math.random);
  if (!decision.repeat) return false;
  emitRetry(settings, { ...eventOf(transfer.facts()), error: error.error, wait: decision.wait });
  await sleep(decision.wait, transfer.signal);
  return true;
}

function retryFacts(retries: number, { context, options, timeLeft }: Transfer): RetryFacts {
  const { settings } = context;
  return {
    retry: 'always',
    retries,
    maxRetries: options.maxRetries ?? settings.maxRetries,
    maxRetryWait: options.maxRetryWait ?? settings.maxRetryWait,
    backoff: settings.backoff,
    renewable: false,
    mayHaveArrived: false,
    onConflict: 'throw',
    conflicts: 0,
    conflictFor: 0,
    timeLeft: timeLeft(),
  };
}

function eventOf({ operation, method, url, attempts }: TransferFacts): RequestEvent {
  return { operation, method, path: url.pathname, attempt: attempts };
}

/** Tells hooks of a request to storage; returns what tells them of its answer. */
export function announce({ context, facts }: Transfer): (status: number) => void {
  const { settings } = context;
  const started = performance.now();
  const event = eventOf(facts());
  watch(settings, () => settings.onRequest?.(event));
  return (status) => emitResponse(settings, { ...event, status, duration: performance.now() - started });
}

/** The idle timer of one attempt. */
export function startIdle({ signal, options }: Transfer): IdleScope {
  return idleScope(signal, options.idleTimeout ?? IDLE_TIMEOUT);
}

/** What a failed attempt means: nothing has moved, or the connection is lost. `done` says how far it was. */
export function transferFailure(
  thrown: unknown,
  idle: IdleScope | undefined,
  transfer: Transfer,
  done = '',
): AttemptFailure {
  const { context, options, facts } = transfer;
  if (!idle?.signal.aborted) return lostFailure(thrown, facts(), context.settings.redactor, done);
  return idleFailure(options.idleTimeout ?? IDLE_TIMEOUT, facts(), done);
}

/** Refuses numbers that no transfer can have. */
export function checkTransferOptions(options: TransferOptions): void {
  checkNumbers(options, ['idleTimeout', 'maxRetries', 'maxRetryWait']);
}
