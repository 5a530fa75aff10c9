import { type FileHandle, open, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { check } from '../errors/audience-error.ts';
import { JournalError } from '../errors/journal-errors.ts';
import type { AudienceClient } from '../index.ts';
import { AbortScope } from '../util/abort.ts';
import { FileJournal } from './file-journal.ts';
import { withFileLock } from './file-lock.ts';
import { filePath, PRIVATE_FILE, syncFolder, unreadableFile, writing } from './file-system.ts';
import type { Journal } from './journal.ts';
import { JournalAccount } from './journal-account.ts';
import { JournalFile } from './journal-file.ts';
import { type JournalContent, type JournalEntry, parseJournal } from './journal-lines.ts';

/** Maximum milliseconds to wait for the lock. The lock of a killed process becomes free after ten seconds. */
const MAX_LOCK_WAIT_MS = 12_000;

/** Options of {@link openJournal}. */
export interface JournalOptions {
  /** Signal that aborts waiting for the lock, and the requests that check the account. */
  readonly signal?: AbortSignal | undefined;
  /** @internal True to skip the comparison of accounts, for a client that sends nothing. @default false */
  readonly isOffline?: boolean | undefined;
}

/**
 * Opens a journal: a file that records which resource was created for each key. You can kill the program at any moment
 * and start it again at any time: it creates nothing twice. Only one process at a time can use a journal; another
 * process waits for up to twelve seconds. Keep the file on one machine. Use one file per batch: with a new file, the
 * program creates everything again.
 *
 * @throws {JournalError} `journal-locked` if another process uses the journal; `journal-invalid` if the file is not a
 * journal, is damaged, or was written for another service; `account-changed` if it was written with another account. If
 * the token has changed, the client reads up to five resources of the journal to compare the accounts.
 * @throws {FileError} if the file or its lock cannot be read or written.
 *
 * @example
 * await using journal = await openJournal('regions-2026-11-24.journal', client);
 * const id = await journal.create(client.audiences, 'north', { name: 'North', dataset });
 * const audience = await client.audiences.wait(id);
 */
export async function openJournal(
  path: string | URL,
  client: AudienceClient,
  options: JournalOptions = {},
): Promise<Journal> {
  const { signal, isOffline = false } = options;
  const file = filePath(path, 'openJournal');
  const isClient = typeof client?.accountSecret === 'function';
  check(isClient, 'The second argument of `openJournal` must be an `AudienceClient`: `openJournal(path, client)`.');
  const opened = Promise.withResolvers<Journal>();
  const closed = Promise.withResolvers<void>();
  const wait = new AbortScope({ parents: [signal], ms: MAX_LOCK_WAIT_MS, reason: () => lockedBy(file) });
  const work = async (lost: AbortSignal): Promise<void> => {
    wait.dispose();
    const handle = await writing(file, () => open(file, 'a+', PRIVATE_FILE));
    try {
      const bytes = await readRegular(handle, file);
      const content = parseJournal(bytes, file, client.baseUrl);
      const account = new JournalAccount(client, content.id);
      if (!isOffline) await account.verify(content.entries, file, signal);
      if (lost.aborted) throw lostTo(file, lost.reason);
      await writing(file, () => begin(handle, content, bytes.length, dirname(file)));
      const journalFile = new JournalFile(file, handle, content, await writing(file, () => handle.stat()));
      const fail = (): void => journalFile.fail(lostTo(file, lost.reason));
      if (lost.aborted) fail();
      else lost.addEventListener('abort', fail);
      const release = (): Promise<void> => {
        closed.resolve();
        return released;
      };
      opened.resolve(new FileJournal({ file: journalFile, client, account, release }));
      await closed.promise;
    } finally {
      await handle.close();
    }
  };
  const released = withFileLock(file, work, wait.signal).finally(() => wait.dispose());
  released.catch(opened.reject);
  return opened.promise;
}

/**
 * Returns the entries of a journal by key. Works while another process uses the journal.
 *
 * @throws {JournalError} `journal-invalid` if the file is not a journal, or is damaged.
 * @throws {FileError} `file-unreadable` if the file does not exist or cannot be read.
 *
 * @example
 * for (const [key, { id, at }] of await readJournal('regions-2026-11-24.journal')) console.log(key, id ?? at);
 */
export async function readJournal(path: string | URL): Promise<ReadonlyMap<string, JournalEntry>> {
  const file = filePath(path, 'readJournal');
  try {
    // Check the type of the file before opening it, because opening a pipe waits for its writer.
    if (!(await stat(file)).isFile()) throw notRegular(file);
    const handle = await open(file);
    return parseJournal(await readRegular(handle, file).finally(() => handle.close()), file).entries;
  } catch (error) {
    throw JournalError.isInstance(error) ? error : unreadableFile(file, error);
  }
}

/** Reads a file. Refuses a device or a pipe, which may have no end. */
async function readRegular(handle: FileHandle, path: string): Promise<Buffer> {
  if ((await writing(path, () => handle.stat())).isFile()) return writing(path, () => handle.readFile());
  throw notRegular(path);
}

function notRegular(path: string): JournalError {
  const advice = 'Pass the path of a file.';
  return new JournalError(`${path} is not a regular file.`, { code: 'journal-invalid', path, advice });
}

/** Removes an incomplete last line, and writes the header of a new journal. */
async function begin(
  handle: FileHandle,
  { size, header }: JournalContent,
  readSize: number,
  folder: string,
): Promise<void> {
  // If this process lost the lock, another process may have written lines to the file.
  if (size < readSize) await handle.truncate(size);
  await handle.appendFile(header);
  await handle.datasync();
  await syncFolder(folder);
}

function lockedBy(path: string): JournalError {
  const advice = 'Wait until that run has closed the journal, or use another journal.';
  return new JournalError(`Another run uses ${path}. Nothing was sent.`, { code: 'journal-locked', path, advice });
}

function lostTo(path: string, cause: unknown): JournalError {
  const message = `The lock of ${path} was lost, and another process may have taken over the journal. This process sends no more create requests.`;
  return new JournalError(message, { code: 'journal-locked', path, cause, advice: 'Run the program again.' });
}
