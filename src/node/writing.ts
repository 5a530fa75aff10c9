import { FileError } from '../errors/file-errors.ts';

const FULL: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT']);

/** The code that the system gave an error, if any. */
export const codeOf = (error: unknown): unknown => (error instanceof Error && 'code' in error ? error.code : undefined);

/** Runs a step that writes; what the disk says becomes a typed error. */
export async function writing<T>(path: string, step: () => Promise<T>): Promise<T> {
  try {
    return await step();
  } catch (error) {
    if (FileError.isInstance(error)) throw error;
    const full = FULL.has(codeOf(error));
    const reason = error instanceof Error ? error.message : String(error);
    const advice = full ? 'There is no room on the disk: make some, then try again.' : reason;
    throw new FileError(`${path} could not be written. ${advice}`, {
      code: full ? 'disk-full' : 'file-unwritable',
      path,
      cause: error,
    });
  }
}
