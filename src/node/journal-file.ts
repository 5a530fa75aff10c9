import type { Stats } from 'node:fs';
import { type FileHandle, stat } from 'node:fs/promises';
import { JournalError } from '../errors/journal-errors.ts';
import { createMutex } from '../util/concurrency.ts';
import { writing } from './file-system.ts';
import { entryAfter, type JournalContent, type JournalEntry, type JournalLine } from './journal-lines.ts';

/**
 * The open file of a journal. Writes nothing after a failure, because the next line would follow an incomplete line.
 */
export class JournalFile {
  readonly path: string;
  readonly id: string;
  readonly entries: Map<string, JournalEntry>;
  /** Why the journal has stopped writing: a write failed, the lock is lost, or another file is at the path. */
  failure: unknown;
  /** Aborts the create requests in progress with the failure. */
  readonly stop = new AbortController();
  readonly #handle: FileHandle;
  readonly #opened: Stats;
  readonly #inOrder = createMutex();
  #size: number;

  constructor(path: string, handle: FileHandle, content: JournalContent, opened: Stats) {
    this.path = path;
    this.id = content.id;
    this.entries = content.entries;
    this.#handle = handle;
    this.#opened = opened;
    this.#size = opened.size;
  }

  /**
   * Writes a line, and flushes it to the disk.
   *
   * @throws {JournalError} `journal-locked` if the file was replaced, moved, removed or shortened.
   */
  append(line: JournalLine): Promise<void> {
    return this.#inOrder('', async () => {
      await this.#checkPlace();
      const text = `${JSON.stringify(line)}\n`;
      try {
        await writing(this.path, async () => {
          await this.#handle.appendFile(text);
          await this.#handle.datasync();
        });
      } catch (error) {
        this.fail(error);
        throw error;
      }
      this.#size += Buffer.byteLength(text);
      this.entries.set(line.key, entryAfter(this.entries.get(line.key), line));
    });
  }

  fail(error: unknown): void {
    this.failure ??= error;
    this.stop.abort(this.failure);
  }

  /** Throws if the open file is no longer at its path: the next run would then create everything again. */
  async #checkPlace(): Promise<void> {
    if (this.failure !== undefined) throw this.failure;
    const { dev, ino } = this.#opened;
    const found = await stat(this.path).catch(() => undefined);
    if (found?.ino === ino && found.dev === dev && found.size >= this.#size) return;
    this.fail(displaced(this.path));
    throw this.failure;
  }
}

function displaced(path: string): JournalError {
  const message = `${path} was edited, replaced, moved or removed while it was open, so the journal sends no more create requests.`;
  const advice =
    'Restore the file as it was before you start the program again. Otherwise, the program creates again whatever is missing from the file.';
  return new JournalError(message, { code: 'journal-locked', path, advice });
}
