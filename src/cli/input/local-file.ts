import { open, readFile, rename, rm, stat } from 'node:fs/promises';
import { messageOf } from '../terminal/error-texts.ts';
import { CommandError } from '../terminal/exit-codes.ts';

/** Returns the content of a regular file, or `undefined` if the file does not exist. */
export async function readIfExists(path: string): Promise<string | undefined> {
  try {
    // Check the type first: opening a pipe would wait for its writer.
    if (!(await stat(path)).isFile()) throw new Error('it is not a regular file');
    return await readFile(path, 'utf8');
  } catch (error) {
    if (Object(error).code === 'ENOENT') return undefined;
    throw error;
  }
}

/**
 * Reads or writes a path that the user has set for output.
 *
 * @throws {CommandError} if the path cannot be read or written.
 */
export async function writable<T>(path: string, access: () => Promise<T>): Promise<T> {
  try {
    return await access();
  } catch (cause) {
    throw new CommandError(`${path} cannot be written: ${messageOf(cause)}`, { code: 'output-unwritable', cause });
  }
}

/**
 * Replaces the content of a file atomically: if the process is killed, the file contains the old or the new content. By
 * default, only the owner can read the file.
 */
export async function replaceFile(path: string, content: string, mode = 0o600): Promise<void> {
  const part = `${path}.part`;
  try {
    const file = await open(part, 'w', mode);
    try {
      await file.writeFile(content);
      // Without `sync`, a crash could leave the new name without the content.
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(part, path);
  } catch (error) {
    await rm(part, { force: true }).catch(() => {});
    throw error;
  }
}
