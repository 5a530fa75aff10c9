import { openAsBlob, type Stats } from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';
import { ReadableStream } from 'node:stream/web';
import { FileError } from '../errors/file-errors.ts';
import { statRegular, unreadableFile } from './file-system.ts';

/** Bytes per read from the disk. Reading is several times faster than with the 64 KiB chunks of Node's file blobs. */
const CHUNK_SIZE = 2 ** 20;

/**
 * Returns a file of this machine as a `Blob`, for uploads. The upload reads the file in chunks, and again for each
 * retry. If the file has been changed or removed since `openFile`, the upload fails.
 *
 * @throws {FileError} `file-unreadable` if the path cannot be read.
 *
 * @example
 * await client.cohorts.import(await openFile('customers.csv'), { name: 'Customers' });
 */
export async function openFile(path: string): Promise<Blob> {
  try {
    const opened = await statRegular(path);
    await (await open(path)).close();
    const blob = await openAsBlob(path);
    // Replace only `stream`. Node still reads slices of the blob, and forms that contain the blob.
    Object.defineProperty(blob, 'stream', { value: () => readAhead(chunksOf(path, opened)) });
    return blob;
  } catch (error) {
    throw unreadableFile(path, error);
  }
}

/** Returns a stream that reads the next chunk while the consumer sends the previous chunk. */
function readAhead(chunks: AsyncGenerator<Uint8Array, void>): ReadableStream<Uint8Array> {
  return new ReadableStream(
    {
      async pull(controller) {
        const { done, value } = await chunks.next();
        if (done) controller.close();
        else controller.enqueue(value);
      },
      cancel: async () => void (await chunks.return()),
    },
    { highWaterMark: 1 },
  );
}

async function* chunksOf(path: string, opened: Stats): AsyncGenerator<Uint8Array, void> {
  let file: FileHandle | undefined;
  try {
    file = await open(path);
    checkUnchanged(await file.stat(), path, opened);
    for (let position = 0; position < opened.size; ) {
      // The buffer need not be zeroed, because only bytes that were read are passed on.
      const chunk = Buffer.allocUnsafeSlow(Math.min(CHUNK_SIZE, opened.size - position));
      const { bytesRead } = await file.read(chunk, 0, chunk.length, position);
      if (bytesRead === 0) break;
      position += bytesRead;
      yield chunk.subarray(0, bytesRead);
    }
    // Also check the path: a file that another program has replaced or removed remains readable while it is open.
    checkUnchanged(await file.stat(), path, opened);
    checkUnchanged(await stat(path).catch(() => undefined), path, opened);
  } catch (error) {
    throw unreadableFile(path, error);
  } finally {
    await file?.close();
  }
}

function checkUnchanged(now: Stats | undefined, path: string, { size, mtimeMs, ino }: Stats): void {
  if (now?.size === size && now.mtimeMs === mtimeMs && now.ino === ino) return;
  const message = `${path} has changed since it was opened.`;
  throw new FileError(message, { code: 'file-changed', path, advice: 'Open and upload the file again.' });
}
