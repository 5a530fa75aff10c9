/** Runs a user's callback; an error that it throws, or rejects with if it is async, is reported and goes no further. */
export function safely(callback: () => unknown, report: (message: string) => void): void {
  const reportError = (error: unknown): void => report(messageOf(error));
  try {
    const result = callback();
    if (result instanceof Promise) result.catch(reportError);
  } catch (error) {
    reportError(error);
  }
}

/** Returns the message of what was thrown: that can be anything, also a value that cannot be converted to a string. */
export function messageOf(thrown: unknown): string {
  try {
    return thrown instanceof Error ? thrown.message : String(thrown);
  } catch {
    return 'a value that has no string form';
  }
}
