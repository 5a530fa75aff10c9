import { type FileHandle, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { AudienceError } from '../errors/audience-error.ts';
import type { DownloadedFile, FailedDownload } from '../errors/error-details.ts';
import { DownloadError, FileError } from '../errors/file-errors.ts';
import type { Activations, DownloadOptions } from '../index.ts';
import type { Activation } from '../spec/activation.ts';
import type { IdLike } from '../spec/job-status.ts';
import { replaceFile, writing } from './file-system.ts';

/** Options of {@link downloadTo}. */
export type DownloadToOptions = DownloadOptions;

/**
 * Downloads the results of a completed activation to a directory, and creates the directory if necessary. Replaces
 * files of the same name. Each file appears under its name only when it is complete. If a download fails, the other
 * downloads continue.
 *
 * @throws {DownloadError} if some of several downloads fail, after the other results have been saved; {@link FileError}
 * `disk-full` or `file-unwritable`; the errors of `activations.download`; if there is only one result, the errors of
 * its stream.
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
  const saved: DownloadedFile[] = [];
  const failed: FailedDownload[] = [];
  const errors: AudienceError[] = [];
  for await (const download of client.activations.download(activation, options)) {
    const { name } = download;
    await writing(directory, () => mkdir(directory, { recursive: true }));
    try {
      const body = await download.open();
      // `open` may have changed the name.
      const path = join(directory, download.fileName);
      const save = () => replaceFile(path, 'part', (file) => copy(body, file));
      const size = await writing(path, save, options.signal).finally(() => body.cancel().catch(() => {}));
      saved.push({ name, path, size });
    } catch (error) {
      // A disk error, an abort or a closed client concerns all results.
      if (!AudienceError.isInstance(error) || FileError.isInstance(error) || error.code === 'client-closed')
        throw error;
      failed.push({ name, reason: error.message });
      errors.push(error);
    }
  }
  if (failed.length === 0) return saved;
  const total = saved.length + failed.length;
  if (total === 1) throw errors[0];
  const reasons = failed.map(({ name, reason }) => `"${name}": ${reason}`).join(' ');
  const message = `${saved.length} of ${total} results were saved. ${reasons.slice(0, MAX_REASONS_LENGTH)}`;
  const [cause] = errors;
  const advice = cause?.advice ?? 'Download the results again.';
  throw new DownloadError(message, { saved, failed, cause, advice });
}

/** Maximum length of the names and reasons in the message of an error, in characters. */
const MAX_REASONS_LENGTH = 2_000;

/** Bytes to collect before writing. Smaller writes would be slower, larger writes would need more memory. */
const BATCH_SIZE = 2 ** 18;

/** Copies a stream to a file, and returns the size. Collects a batch while writing the previous batch. */
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
    // Avoid an unhandled rejection: the next `await written` throws the error.
    written.catch(() => {});
    batch = [];
    batched = 0;
  }
  await written;
  await writeAll(file, batch);
  return size;
}

/** Writes chunks to a file. Repeats a partial write, which happens when the disk is almost full. */
async function writeAll(file: FileHandle, chunks: readonly Uint8Array[]): Promise<void> {
  const total = chunks.reduce((sum, { length }) => sum + length, 0);
  const { bytesWritten } = await file.writev(chunks);
  if (bytesWritten < total) await file.writeFile(Buffer.concat(chunks).subarray(bytesWritten));
}
