import { abortable } from '../util/abort.ts';
import { safely } from '../util/callbacks.ts';
import type { Logger } from '../util/log.ts';

/** A request of a call or a transfer, as hooks see it. */
export interface RequestEvent {
  /** The same in all events of one call; unique in the process. */
  readonly callId: string;
  /** Operation name, or method and path of a free request. */
  readonly operation: string;
  readonly method: string;
  /** Path below the base URL, without query. */
  readonly path: string;
  /** 1 for the first attempt, 0 before it. */
  readonly attempt: number;
  readonly idempotencyKey?: string;
}

/** A complete response, as hooks see it. */
export interface ResponseEvent extends RequestEvent {
  readonly status: number;
  /** Milliseconds from sending until the entire response has arrived; for a download, only its headers. */
  readonly duration: number;
  readonly requestId?: string;
}

/** A retry, as hooks see it before it is made. */
export interface RetryEvent extends RequestEvent {
  /** Error of the last attempt. */
  readonly error: Error;
  /** Milliseconds until the next attempt; the wait for a permit of its rate bucket is added. */
  readonly wait: number;
}

/** The end of a call, as hooks see it: exactly one for each call. `attempt` is the number of requests sent. */
export interface EndEvent extends RequestEvent {
  /** `aborted` by the caller's signal, or because a download was not read to its end. */
  readonly outcome: 'success' | 'failure' | 'aborted';
  /** Status and request id of the last response, if there was one. */
  readonly status?: number;
  readonly requestId?: string;
  /** The error that the call rejects with. */
  readonly error?: unknown;
  /** Milliseconds from the call to its end; of these: */
  readonly duration: number;
  /** milliseconds waiting for the token, the build budget and permits of the rate bucket, */
  readonly queued: number;
  /** milliseconds waiting between attempts. */
  readonly backoff: number;
}

/** Additions of {@link Hooks.around} to the requests of a call. */
export interface CallAdditions {
  /** Headers, such as `traceparent`. Uploads ignore them, because storage signs its headers. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** Callbacks that observe calls. An error that one throws is logged and does not affect the call. */
export interface Hooks {
  readonly onRequest?: ((event: RequestEvent) => void) | undefined;
  readonly onResponse?: ((event: ResponseEvent) => void) | undefined;
  readonly onRetry?: ((event: RetryEvent) => void) | undefined;
  /**
   * Called once at the end of each call: a success when its response has been read, also if its data then turn out not
   * to be as documented.
   */
  readonly onEnd?: ((event: EndEvent) => void) | undefined;
  /**
   * Runs each call and upload: `next` begins it, resolves at its end, and rejects with its error. The call runs in the
   * context of `next`, such as that of an `AsyncLocalStorage`. If `around` does not call `next`, the call begins when
   * `around` has ended.
   *
   * @example
   * around: (call, next) => storage.run({ callId: call.callId }, next)
   */
  readonly around?: ((call: RequestEvent, next: (additions?: CallAdditions) => Promise<void>) => unknown) | undefined;
}

/** Settings that the hooks of a call need. */
type HookSettings = Hooks & { readonly logger: Logger };

let calls = 0;

/** Returns the id of a new call. */
export const nextCallId = (): string => `call_${++calls}`;

/** Runs a user's hook; its failure is logged and does not affect the call. */
export function runHook({ logger }: HookSettings, hook: () => unknown): void {
  safely(hook, (message) => logger.error(`A hook threw: ${message}`));
}

/** Logs a response and passes it to the user's hook. */
export function emitResponse(settings: HookSettings, event: ResponseEvent): void {
  settings.logger.debug(`${event.method} ${event.path} → ${event.status}`, { ...event });
  runHook(settings, () => settings.onResponse?.(event));
}

/** Logs a retry and passes it to the user's hook. */
export function emitRetry(settings: HookSettings, event: RetryEvent): void {
  const { operation, attempt, error } = event;
  const wait = Math.round(event.wait);
  settings.logger.info(`${operation} is retried in ${wait} ms: ${error.message}`, { operation, attempt, wait });
  runHook(settings, () => settings.onRetry?.(event));
}

/** Passes the end of a call or a transfer to the user's hook. */
export function emitEnd(settings: HookSettings, startedAt: number, event: Omit<EndEvent, 'duration'>): void {
  const { onEnd } = settings;
  if (onEnd) runHook(settings, () => onEnd({ ...event, duration: performance.now() - startedAt }));
}

/**
 * Runs a call within the user's `around`. The result is that of the call, whatever `around` does; it is not delayed by
 * what `around` does after the end of the call.
 */
export function runAround<R>(
  settings: HookSettings,
  event: RequestEvent,
  signal: AbortSignal | undefined,
  work: (additions?: CallAdditions) => Promise<R>,
): Promise<R> {
  const { around } = settings;
  if (!around) return work();
  const { promise, resolve } = Promise.withResolvers<R>();
  let running: Promise<R> | undefined;
  const next = async (additions?: CallAdditions): Promise<void> => {
    running ??= work(additions);
    resolve(running);
    await running;
  };
  const run = async (): Promise<void> => {
    try {
      await around(event, next);
    } catch (error) {
      // `around` usually passes the error of the call on.
      if ((await running?.catch((failure: unknown) => failure)) !== error) throw error;
    } finally {
      next().catch(() => {});
    }
  };
  runHook(settings, run);
  return signal ? abortable(promise, signal) : promise;
}
