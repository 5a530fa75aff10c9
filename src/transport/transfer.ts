import type { Core } from './core.ts';
import { AttemptFailure } from './failures.ts';
import { guard } from './guard.ts';
import { decide, type RetryFacts } from './retry.ts';
import type { RequestEvent, Settings } from './settings.ts';
import { sleep } from './signal.ts';
import type { TransferFacts } from './storage-failures.ts';

/** What uploads and downloads need of a client. */
export interface StorageContext {
  readonly core: Core;
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
export const IDLE_TIMEOUT = 30_000;

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
  const event = { ...eventOf(transfer.facts()), error: error.error, wait: decision.wait };
  settings.logger.info(`${event.operation} is repeated in ${Math.round(decision.wait)} ms: ${error.error.message}`, {
    operation: event.operation,
    attempt: event.attempt,
  });
  tell(transfer.context, () => settings.onRetry?.(event));
  await sleep(decision.wait, transfer.signal);
  return true;
}

function retryFacts(retries: number, { context, options, timeLeft }: Transfer): RetryFacts {
  const { settings } = context;
  return {
    repeat: 'safe',
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
  tell(context, () => settings.onRequest?.(event));
  return (status) => {
    const duration = performance.now() - started;
    settings.logger.debug(`${event.operation}: ${event.method} ${event.path} → ${status}`, {
      ...event,
      status,
      duration,
    });
    tell(context, () => settings.onResponse?.({ ...event, status, duration }));
  };
}

/** Runs a user's callback; its failure is logged and harms no transfer. */
export function tell({ settings }: StorageContext, callback: () => unknown): void {
  guard(callback, (message) => settings.logger.error(`A callback threw: ${message}`));
}
