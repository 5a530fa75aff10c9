import { createHash } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { ConfigurationError } from '../errors/audience-error.ts';
import { codeOf, filePath, unreadableFile } from './file-system.ts';
import type { ImportedFile } from './journal-lines.ts';
import { openFile } from './open-file.ts';

/** A file to import: its path, or a `Blob`, such as the result of `openFile(path)`. */
export type ImportInput = string | URL | Blob;

/** A file to import, with data that identify its content. */
export interface ImportSource {
  readonly content: Omit<ImportedFile, 'reference'>;
  /** Opens the file. If the file changes before the end of the upload, the upload fails. */
  open(): Promise<Blob>;
}

/**
 * Identifies the content of a file. Does not read the file if its size and time equal the values of the `earlier`
 * import, or if the file of the `earlier` import was removed.
 *
 * @throws {FileError} `file-unreadable` if the file cannot be read; `file-changed` if the file changes while the
 * journal reads it.
 */
export async function identify(input: ImportInput, earlier: ImportedFile | undefined): Promise<ImportSource> {
  if (input instanceof Blob) return { content: await contentOf(input), open: () => Promise.resolve(input) };
  const path = filePath(input, 'journal.import');
  const found = await stat(path).catch((error) => {
    if (codeOf(error) === 'ENOENT' && earlier) return undefined;
    throw unreadableFile(path, error);
  });
  // Open the file before identifying it, so that the upload notices later changes.
  const blob = await (found && openFile(path).catch(() => undefined));
  const open = async (): Promise<Blob> => blob ?? openFile(path);
  if (earlier && (!found || (found.size === earlier.size && found.mtimeMs === earlier.time))) {
    const { reference: _, ...content } = earlier;
    return { content, open };
  }
  return { content: { ...(await contentOf(await open())), ...(found && { time: found.mtimeMs }) }, open };
}

async function contentOf(blob: Blob): Promise<Omit<ImportedFile, 'reference'>> {
  if (blob.size === 0) throw new ConfigurationError('The file of an import is empty: it must contain a list.');
  const hash = createHash('sha256');
  for await (const chunk of blob.stream()) hash.update(chunk);
  return { size: blob.size, hash: hash.digest('hex') };
}
