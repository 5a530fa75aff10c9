import { open, readFile, rename, rm, stat } from 'node:fs/promises';
import { messageOf } from '../terminal/error-texts.ts';
import { CommandError } from '../terminal/exit-codes.ts';

/** Returns the content of a regular file; `undefined` if the file does not exist. */
export async function readIfExists(path: string): Promise<string | undefined> {
  try {
    // Do not wait for the writer of a pipe.
    if (!(await stat(path)).isFile()) throw new Error('it is not a regular file');
    return await readFile(path, 'utf8');
  } catch (error) {
    if (Object(error).code === 'ENOENT') return undefined;
    throw error;
  }
}

/**
 * Reads or writes a path that the user has named for output.
 *
 * @throws {CommandError} if it cannot be written.
 */
export async function writable<T>(path: string, access: () => Promise<T>): Promise<T> {
  try {
    return await access();
  } catch (cause) {
    throw new CommandError(`${path} cannot be written: ${messageOf(cause)}`, { code: 'output-unwritable', cause });
  }
}

/**
 * Writes a file that, by default, only its owner can read. If the process is killed, the file contains either the old
 * or the new content.
 */
export async function replaceFile(path: string, content: string, mode = 0o600): Promise<void> {
  const part = `${path}.part`;
  try {
    const file = await open(part, 'w', mode);
    try {
      await file.writeFile(content);
      // Without `sync`, the new name may reach the disk before the content.
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
