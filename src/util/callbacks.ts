/** Runs a user's callback, which may be async. Reports its error instead of throwing it. */
export function safely(callback: () => unknown, report: (message: string) => void): void {
  const reportError = (error: unknown): void => report(messageOf(error));
  try {
    const result = callback();
    if (result instanceof Promise) result.catch(reportError);
  } catch (error) {
    reportError(error);
  }
}

/** Returns the message of a thrown value, which may be any value, even one that cannot be converted to a string. */
export function messageOf(thrown: unknown): string {
  try {
    return thrown instanceof Error ? thrown.message : String(thrown);
  } catch {
    return 'a value that has no string form';
  }
}
