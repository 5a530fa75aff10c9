import { AudienceError, textOf } from '../errors/audience-error.ts';

/**
 * Runs a user's callback, which may be async. If the callback throws or rejects, reports the error instead of throwing
 * it. Resolves when the callback has ended.
 */
export async function safely(callback: () => unknown, report: (message: string) => void): Promise<void> {
  try {
    await callback();
  } catch (error) {
    report(messageOf(error));
  }
}

/** Error of a user's function that threw. `cause` is the thrown value. */
export class CallbackError extends Error {
  /** The option that contains the function, in backticks. */
  readonly source: string;
  constructor(source: string, cause: unknown) {
    super(`${source} threw an error.`, { cause });
    this.name = 'CallbackError';
    this.source = source;
  }
}

/** Returns the error for a user's function that threw. Returns errors of this package unchanged. */
export const callbackError = (source: string, thrown: unknown): unknown =>
  AudienceError.isInstance(thrown) ? thrown : new CallbackError(source, thrown);

/**
 * Returns the message and the advice of a thrown value. The value may have any type, and might not be convertible to a
 * string.
 */
export function messageOf(thrown: unknown): string {
  try {
    if (AudienceError.isInstance(thrown)) return textOf(thrown);
    return thrown instanceof Error ? thrown.message : String(thrown);
  } catch {
    return 'a value that has no string form';
  }
}
