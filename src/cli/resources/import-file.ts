import { createReadStream, createWriteStream } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { UPLOAD_SIZES } from '../../index.ts';
import { openFile } from '../../node/index.ts';
import { warnOfList } from '../input/list-file.ts';
import { isStdin, openPipe } from '../input/pipes.ts';
import type { Context, Stdin } from '../terminal/context.ts';
import { messageOf } from '../terminal/error-texts.ts';
import { CommandError, usageError } from '../terminal/exit-codes.ts';
import { formatBytes } from '../terminal/terminal.ts';

export interface ImportFile {
  readonly data: Blob;
  /** Name of the file, and default name of its cohort. */
  readonly name: string;
}

/**
 * Opens a file, warns if it is probably not a list, and passes it to `use`. First copies input without a known size,
 * such as standard input, to a temporary file: an upload needs the size, and a retry sends the bytes again.
 *
 * @param path Path of the file, or `-` for standard input.
 * @throws {CommandError} for an empty file, or if copying fails.
 * @throws {FileError} `file-unreadable` if the path cannot be read.
 */
export async function withImportFile<T>(
  path: string,
  context: Context,
  use: (file: ImportFile) => Promise<T>,
): Promise<T> {
  const isPiped = isStdin(path);
  const label = isPiped ? 'Standard input' : path;
  const name = isPiped ? 'standard input' : basename(path);
  const open = async (file: string): Promise<Blob> => {
    const data = await openFile(file);
    if (data.size === 0)
      throw usageError(`${label} is empty. An import would use up a build for a cohort without rows.`);
    await warnOfList(data, label, context.output);
    return data;
  };
  if (!isPiped && (await hasSize(path))) return use({ data: await open(path), name });
  const folder = await mkdtemp(join(tmpdir(), 'aud-import-'));
  try {
    const copy = join(folder, 'list');
    await copyTo(copy, (await openPipe(path, context)) ?? createReadStream(path), label, context);
    return await use({ data: await open(copy), name });
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Returns whether the size of a path is known. Pipes, devices and files of `/proc` have no size. */
async function hasSize(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined);
  return !found || found.isDirectory() || (found.isFile() && found.size > 0);
}

/**
 * Copies a stream to a file that only its owner can read. Refuses more bytes than the maximum upload size, because a
 * device may be endless.
 */
async function copyTo(path: string, from: Stdin, label: string, { output, signal }: Context): Promise<void> {
  let size = 0;
  const limited = async function* (chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of chunks) {
      if (size === 0 && chunk.length > 0)
        output.log(
          'info',
          `The command copies the input to a temporary file, because an upload needs its size in advance.`,
        );
      size += chunk.length;
      if (size > UPLOAD_SIZES.cohort)
        throw usageError(`${label} has more than ${formatBytes(UPLOAD_SIZES.cohort)}. Split it into several imports.`);
      yield chunk;
    }
  };
  try {
    if (from.isTTY) throw usageError('Standard input is a terminal: name a file, or pipe the list to the command.');
    await pipeline(from, limited, createWriteStream(path, { mode: 0o600 }), { signal });
  } catch (cause) {
    signal.throwIfAborted();
    if (cause instanceof CommandError) throw cause;
    const message = `${label} cannot be copied to a temporary file: ${messageOf(cause)}`;
    throw new CommandError(message, { code: 'input-unreadable', cause });
  }
}
