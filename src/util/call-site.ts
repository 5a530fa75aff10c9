import { AudienceError, withDetails } from '../errors/audience-error.ts';

/** The stack of the code that made a call; formatted only when it is read. */
export interface CallSite {
  readonly stack?: string;
}

/** Captures the present stack: errors are created later, when nothing of it is left. */
export function captureCallSite(): CallSite {
  const site: CallSite = {};
  Error.captureStackTrace?.(site, captureCallSite);
  return site;
}

/** Matches the frames: below a first line in V8, the entire stack in other engines. */
const FRAMES = /\n {4}at .*|^[^\n]*@.*/s;

/** Returns the error with the stack of the call; others may have received the same error, so it is copied. */
export function atCallSite(error: unknown, { stack }: CallSite): unknown {
  // The user may have switched stacks off, or have them made otherwise; and an error of a class of the user's has its own.
  if (!AudienceError.isInstance(error) || typeof stack !== 'string' || !Object.hasOwn(error.constructor, 'className'))
    return error;
  const [frames] = FRAMES.exec(stack) ?? [];
  if (frames === undefined) return error;
  const copy: AudienceError = withDetails<AudienceError>(error, {}, '');
  const value = frames.startsWith('\n') ? `${copy.name}: ${copy.message}${frames}` : frames;
  Object.defineProperty(copy, 'stack', { value, configurable: true, writable: true });
  return copy;
}

/** Runs work whose errors show the code that called for it; the reasons of the caller's signals stay as they are. */
export async function fromCallSite<T>(
  work: () => Promise<T>,
  ...signals: readonly (AbortSignal | undefined)[]
): Promise<T> {
  const site = captureCallSite();
  try {
    return await work();
  } catch (error) {
    throw isReason(error, signals) ? error : atCallSite(error, site);
  }
}

/** Whether an error is the reason of a signal that has aborted: callers compare it with theirs. */
export function isReason(error: unknown, signals: readonly (AbortSignal | undefined)[]): boolean {
  return signals.some((signal) => signal?.aborted && signal.reason === error);
}
