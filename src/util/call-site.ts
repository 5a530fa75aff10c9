import { AudienceError, withDetails } from '../errors/audience-error.ts';

/** The stack of the caller. V8 formats the stack only when a program reads it. */
export interface CallSite {
  readonly stack?: string;
}

/** Captures the current stack. When an error is created later, the caller is no longer on the stack. */
export function captureCallSite(): CallSite {
  const site: CallSite = {};
  Error.captureStackTrace?.(site, captureCallSite);
  return site;
}

/** Matches the frames of a stack: everything after the first line in V8, and everything in other engines. */
const FRAMES = /\n {4}at .*|^[^\n]*@.*/s;

/**
 * Returns a copy of an error with the stack of the caller. Does not change the error, because several calls may share
 * it.
 */
export function atCallSite(error: unknown, { stack }: CallSite): unknown {
  // Do not copy errors of other classes or of a user's subclass, or any error if the runtime does not capture stacks.
  if (!AudienceError.isInstance(error) || typeof stack !== 'string' || !Object.hasOwn(error.constructor, 'className'))
    return error;
  const [frames] = FRAMES.exec(stack) ?? [];
  if (frames === undefined) return error;
  const copy: AudienceError = withDetails<AudienceError>(error, {}, '');
  const value = frames.startsWith('\n') ? `${copy}${frames}` : frames;
  Object.defineProperty(copy, 'stack', { value, configurable: true, writable: true });
  return copy;
}

/** Runs `work`, and gives its errors the stack of the caller, except the reasons of the caller's signals. */
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

/**
 * Returns whether an error is the reason of an aborted signal. Never copy a reason, because callers compare it by
 * identity.
 */
export function isReason(error: unknown, signals: readonly (AbortSignal | undefined)[]): boolean {
  return signals.some((signal) => signal?.aborted && signal.reason === error);
}
