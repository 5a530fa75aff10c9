import { readlink, realpath } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { codeOf } from './writing.ts';

/** As many symbolic links as Linux follows. */
const MOST_LINKS = 40;

/** The file that a path leads to, through symbolic links, also when it is not there yet. */
export async function targetOf(path: string, links = 0): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if (codeOf(error) !== 'ENOENT' || links === MOST_LINKS) throw error;
  }
  const next = await readlink(path).catch(() => undefined);
  if (next === undefined) return path;
  const folder = await realpath(dirname(path));
  return targetOf(resolve(folder, next), links + 1);
}
