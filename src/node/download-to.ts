import { type FileHandle, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Activations, DownloadOptions } from '../index.ts';
import type { Activation } from '../spec/activation.ts';
import type { IdLike } from '../spec/job-status.ts';
import { replaceFile, writing } from './file-system.ts';

/** A downloaded result. */
export interface DownloadedFile {
  /** Name of the datastream. */
  readonly name: string;
  /** Path of the file, in the directory that was passed. */
  readonly path: string;
  /** Size in bytes. */
  readonly size: number;
}

/** Options of {@link downloadTo}. */
export type DownloadToOptions = DownloadOptions;

/**
 * Downloads the results of a completed activation into a directory, which is created if necessary. Each file is written
 * under a temporary name, flushed to the disk, and renamed. It replaces a file of the same name.
 *
 * @throws {FileError} `disk-full` or `file-unwritable`; also the errors of `activations.download` and of its streams.
 *
 * @example
 * const files = await downloadTo(client, 42, './results', { onProgress: console.log });
 */
export async function downloadTo(
  client: { readonly activations: Pick<Activations, 'download'> },
  activation: Activation | IdLike,
  directory: string,
  options: DownloadToOptions = {},
): Promise<DownloadedFile[]> {
  const files: DownloadedFile[] = [];
  for await (const download of client.activations.download(activation, options)) {
    await writing(directory, () => mkdir(directory, { recursive: true }));
    const path = join(directory, download.fileName);
    const save = () => replaceFile(path, 'part', async (file) => copy(await download.open(), file));
    const size = await writing(path, save, options.signal);
    files.push({ name: download.name, path, size });
  }
  return files;
}

/** Bytes to collect before writing: smaller writes would be slower, larger ones would need more memory. */
const BATCH_SIZE = 2 ** 18;

/** Copies a stream to a file and returns the size. The next batch is collected while the previous one is written. */
async function copy(body: ReadableStream<Uint8Array>, file: FileHandle): Promise<number> {
  let written = Promise.resolve();
  let batch: Uint8Array[] = [];
  let batched = 0;
  let size = 0;
  for await (const chunk of body) {
    batch.push(chunk);
    batched += chunk.length;
    size += chunk.length;
    if (batched < BATCH_SIZE) continue;
    await written;
    written = writeAll(file, batch);
    // Avoid an unhandled rejection: the error is thrown at the next `await written`.
    written.catch(() => {});
    batch = [];
    batched = 0;
  }
  await written;
  await writeAll(file, batch);
  return size;
}

/** Writes chunks to a file, including those that the first write left out because the disk is almost full. */
async function writeAll(file: FileHandle, chunks: readonly Uint8Array[]): Promise<void> {
  const total = chunks.reduce((sum, { length }) => sum + length, 0);
  const { bytesWritten } = await file.writev(chunks);
  if (bytesWritten < total) await file.writeFile(Buffer.concat(chunks).subarray(bytesWritten));
}
