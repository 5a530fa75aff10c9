/**
 * Runs a user's callback that cannot fail the work it watches: what it throws, or rejects with when
 * it is async, is reported.
 */
export function safely(callback: () => unknown, report: (message: string) => void): void {
  const tell = (error: unknown): void => report(textOf(error));
  try {
    const result = callback();
    if (result instanceof Promise) result.catch(tell);
  } catch (error) {
    tell(error);
  }
}

/** Anything can be thrown, even what cannot be made a text. */
function textOf(thrown: unknown): string {
  try {
    return thrown instanceof Error ? thrown.message : String(thrown);
  } catch {
    return 'something that is no text';
  }
}
