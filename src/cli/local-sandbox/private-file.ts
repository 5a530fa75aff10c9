import { open, readFile, rename, rm, stat } from 'node:fs/promises';

/** Returns the content of a regular file, `undefined` if there is none. */
export async function readIfExists(path: string): Promise<string | undefined> {
  try {
    // Opening a pipe waits for its writer.
    if (!(await stat(path)).isFile()) throw new Error('it is not a regular file');
    return await readFile(path, 'utf8');
  } catch (error) {
    if (Object(error).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Writes a file that only its owner can read. It holds the old content or the new one, whenever the process is killed. */
export async function replacePrivately(path: string, content: string): Promise<void> {
  const part = `${path}.part`;
  try {
    const file = await open(part, 'w', 0o600);
    try {
      await file.writeFile(content);
      // Without it, the new name may reach the disk before the content does.
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
