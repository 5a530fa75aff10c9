import { AudienceError, textOf } from '../errors/audience-error.ts';

/**
 * Runs a user's callback. Reports its error instead of throwing. Resolves when the callback has ended, even if it is
 * async.
 */
export async function safely(callback: () => unknown, report: (message: string) => void): Promise<void> {
  try {
    await callback();
  } catch (error) {
    report(messageOf(error));
  }
}

/** Returns the message and the advice of a thrown value, which may be any value, even one that cannot be converted to a string. */
export function messageOf(thrown: unknown): string {
  try {
    if (AudienceError.isInstance(thrown)) return textOf(thrown);
    return thrown instanceof Error ? thrown.message : String(thrown);
  } catch {
    return 'a value that has no string form';
  }
}
