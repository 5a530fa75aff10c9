import { randomUUID } from 'node:crypto';
import { type FileHandle, mkdir, open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Download, DownloadOptions } from '../resources/activation-results.ts';
import type { Activations } from '../resources/activations.ts';
import type { Activation } from '../schemas/activation.ts';
import type { IdLike } from '../spec/job-status.ts';
import { writing } from './writing.ts';

/** A result on disk. */
export interface DownloadedFile {
  /** Name of the datastream. */
  readonly name: string;
  readonly path: string;
  /** Bytes. */
  readonly size: number;
}

/** Options of {@link downloadTo}. */
export type DownloadToOptions = DownloadOptions;

/**
 * Downloads the results of a completed activation into a directory, which is created if need be.
 * Each file is written under a temporary name and renamed when it is whole and on the disk: what
 * bears its final name is never a half. A file of an earlier download is replaced.
 *
 * @throws {FileError} `disk-full` or `file-unwritable`; what `activations.download` throws.
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
    files.push(await save(download, join(directory, download.fileName)));
  }
  return files;
}

async function save(download: Download, path: string): Promise<DownloadedFile> {
  const body = await download.open();
  const part = join(dirname(path), `.${basename(path)}.${randomUUID()}.part`);
  let file: FileHandle | undefined;
  try {
    const opened = await writing(path, () => open(part, 'wx'));
    file = opened;
    const size = await copy(body, opened, path);
    await writing(path, async () => {
      await opened.sync();
      await opened.close();
      await rename(part, path);
    });
    return { name: download.name, path, size };
  } catch (error) {
    await body.cancel().catch(() => {});
    await file?.close().catch(() => {});
    await rm(part, { force: true }).catch(() => {});
    throw error;
  }
}

/** Bytes gathered before they are written: smaller writes would take longer, larger ones more memory. */
const BATCH = 2 ** 18;

/** Copies a stream to a file; a batch is gathered while the one before it is written. */
async function copy(body: ReadableStream<Uint8Array>, file: FileHandle, path: string): Promise<number> {
  let batch: Uint8Array[] = [];
  let gathered = 0;
  let size = 0;
  let written = Promise.resolve();
  const flush = async (): Promise<void> => {
    const full = batch;
    batch = [];
    gathered = 0;
    await written;
    written = writing(path, () => writeAll(file, full));
    // Its failure is met at the next flush.
    written.catch(() => {});
  };
  for await (const chunk of body) {
    batch.push(chunk);
    gathered += chunk.length;
    size += chunk.length;
    if (gathered >= BATCH) await flush();
  }
  if (gathered > 0) await flush();
  await written;
  return size;
}

/** A disk that fills up may take a part of what it is given. */
async function writeAll(file: FileHandle, chunks: readonly Uint8Array[]): Promise<void> {
  const total = chunks.reduce((sum, { length }) => sum + length, 0);
  const { bytesWritten } = await file.writev(chunks);
  if (bytesWritten < total) await file.writeFile(Buffer.concat(chunks).subarray(bytesWritten));
}
