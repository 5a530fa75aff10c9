/**
 * Runs a user's callback that cannot fail the work it watches: what it throws, or rejects with when
 * it is async, is reported.
 */
export function guard(callback: () => unknown, report: (message: string) => void): void {
  const tell = (error: unknown): void => report(error instanceof Error ? error.message : String(error));
  try {
    const result = callback();
    if (result instanceof Promise) result.catch(tell);
  } catch (error) {
    tell(error);
  }
}
