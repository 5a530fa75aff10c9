import { randomUUID } from 'node:crypto';
import { rmdirSync, unlinkSync } from 'node:fs';
import { mkdir, open, readdir, rmdir, stat, unlink, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { callbackify } from 'node:util';
import { codeOf } from './writing.ts';

/** Only its holder may read what is in a lock. */
const PRIVATE = 0o700;

/** Lets the failures with these codes pass. */
const unless =
  (...codes: readonly string[]) =>
  (error: unknown): void => {
    if (!codes.includes(String(codeOf(error)))) throw error;
  };

/**
 * How `proper-lockfile` sees the folder of one lock, so that a lock can be taken over by one process
 * only. By itself it removes whatever lock is there once it has found one stale: a slow process then
 * removes the lock that a quicker one has just taken over, and both go on. Here each contender puts
 * a mark of a unique name into the folder. Whoever finds its mark alone holds the lock; what is found
 * stale, kept fresh and removed is one mark, never another's.
 */
export interface LockMarks {
  /** What the package does with a lock, for its option `fs`. */
  readonly fs: object;
  /** Removes the mark of this contender, if it is there. */
  leave(): Promise<void>;
}

/** For one attempt to lock the folder at a path. */
export function lockMarks(path: string): LockMarks {
  const own = randomUUID();
  /** The mark that is meant when the package speaks of the lock: another's until this one has it. */
  let meant: string = own;

  async function remove(mark: string): Promise<void> {
    await unlink(join(path, mark)).catch(unless('ENOENT'));
    await rmdir(path).catch(unless('ENOENT', 'ENOTEMPTY', 'EEXIST'));
  }

  async function claim(): Promise<void> {
    await mkdir(path, { mode: PRIVATE }).catch(unless('EEXIST'));
    let marks = await readdir(path);
    if (marks.length === 0) {
      // The folder may go at any time: who leaves takes it along.
      const file = await open(join(path, own), 'wx').catch(unless('ENOENT'));
      await file?.close();
      marks = await readdir(path).catch(() => []);
    }
    meant = own;
    if (marks.length === 1 && marks[0] === own) return;
    if (marks.includes(own)) await unlink(join(path, own)).catch(unless('ENOENT'));
    meant = marks.find((mark) => mark !== own) ?? own;
    throw Object.assign(new Error(`${path} is held`), { code: 'EEXIST' });
  }

  const fs = {
    mkdir: callbackify((_: string) => claim()),
    stat: callbackify((_: string) => stat(join(path, meant))),
    utimes: callbackify((_: string, accessed: Date, changed: Date) => utimes(join(path, meant), accessed, changed)),
    rmdir: callbackify((_: string) => remove(meant)),
    // When the process ends by itself.
    rmdirSync(): void {
      unlinkSync(join(path, own));
      rmdirSync(path);
    },
  };
  return { fs, leave: () => remove(own) };
}
