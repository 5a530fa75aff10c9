import { createReadStream } from 'node:fs';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { PRIVATE_FILE, unreadableFile, writing } from '../../node/file-system.ts';
import { openFile } from '../../node/index.ts';
import { UPLOAD_SIZES } from '../../spec/limits.ts';
import { listProblem, SENT_AS_IT_IS } from '../input/input-text.ts';
import { isStdin, openPipe } from '../input/pipes.ts';
import type { Context } from '../terminal/context.ts';
import { usageError } from '../terminal/exit-codes.ts';

/** A list to upload. */
interface ImportedList {
  readonly data: Blob;
  /** Removes the temporary file, if there is one. */
  readonly remove: () => Promise<void>;
}

/**
 * Opens a list, and warns if it is none. What can be read only once, or has no size, is copied to a temporary file: an
 * upload needs its size first, and reads it again to retry.
 *
 * @throws {CommandError} for an empty list. @throws {FileError} for one that cannot be read or copied.
 */
export async function openList(path: string, context: Context): Promise<ImportedList> {
  const { output } = context;
  const label = isStdin(path) ? 'Standard input' : path;
  const source = await openOnce(path, context);
  const list = source
    ? await copy(source, label, context.signal)
    : { data: await openFile(path), remove: async () => {} };
  try {
    if (list.data.size === 0)
      throw usageError(`${label} is empty: an import would use up a build for a cohort without rows.`);
    if (source && list.data.size > UPLOAD_SIZES.cohort)
      throw usageError(`${label} has more than 1 GiB, the maximum of an upload: split it.`);
    const problem = await listProblem(list.data);
    if (problem !== undefined) output.log('warning', `${label} ${problem} ${SENT_AS_IT_IS}`);
    return list;
  } catch (error) {
    await list.remove();
    throw error;
  }
}

/** Opens what must be copied: standard input, a pipe, or a file without a size, as in /proc. */
async function openOnce(path: string, context: Context): Promise<Readable | undefined> {
  if (isStdin(path) && context.stdin().isTTY)
    throw usageError('Standard input is a terminal: pipe the list to the command, or name its file.');
  const pipe = await openPipe(path, context);
  if (pipe) {
    context.output.log('info', `Reading ${isStdin(path) ? 'standard input' : path} to a temporary file.`);
    return pipe;
  }
  const stats = await stat(path).catch(() => undefined);
  return stats?.isFile() && stats.size === 0 ? createReadStream(path) : undefined;
}

async function copy(source: Readable, label: string, signal: AbortSignal): Promise<ImportedList> {
  async function* bytes(): AsyncGenerator<Uint8Array, void> {
    let size = 0;
    try {
      for await (const chunk of source) {
        yield chunk;
        size += chunk.length;
        if (size > UPLOAD_SIZES.cohort) return;
      }
    } catch (error) {
      signal.throwIfAborted();
      throw unreadableFile(label, error);
    }
  }
  // Only its owner can access the folder.
  const folder = await writing(tmpdir(), () => mkdtemp(join(tmpdir(), 'aud-import-')));
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true });
  try {
    const file = join(folder, 'list');
    await writing(file, () => writeFile(file, bytes(), { mode: PRIVATE_FILE }), signal);
    return { data: await openFile(file), remove };
  } catch (error) {
    await remove();
    throw error;
  }
}
