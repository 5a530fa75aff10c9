import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { FileError } from '../errors/file-errors.ts';
import { createMutex } from '../util/concurrency.ts';
import { withRetries } from '../util/retry.ts';
import { codeOf, resolveLinks, writing } from './file-system.ts';

/** Age at which a lock is taken over: its holder was killed. */
const STALE_MS = 10_000;

/** How often a holder refreshes its lock: often enough that a busy process does not lose it. */
const REFRESH_MS = 2_000;

/** Maximum time to wait for a lock. */
const MAX_WAIT_MS = 120_000;

/** Time between two attempts to get a held lock; random, so that processes do not stay in step. */
const RETRY_MS = { min: 20, max: 100 } as const;

/** Codes of a lock that another process holds, or has just removed. */
const HELD: ReadonlySet<unknown> = new Set(['ELOCKED', 'ENOENT']);

/** Folders of tokens are readable only by their owner. */
export const PRIVATE_FOLDER = 0o700;

const mutex = createMutex();

/** Runs `work` while this process holds the lock of a file; calls of one process run in their order. */
export function withFileLock<R>(path: string, work: () => Promise<R>): Promise<R> {
  const deadline = performance.now() + MAX_WAIT_MS;
  return mutex(path, async () => {
    const file = await writing(path, () => resolveLinks(path));
    const release = await writing(`${file}.lock`, () => acquire(file, deadline));
    try {
      return await work();
    } finally {
      // A lock that was taken over, or that cannot be removed, fails nothing: it becomes stale.
      await release().catch(() => {});
    }
  });
}

async function acquire(file: string, deadline: number): Promise<() => Promise<void>> {
  // Imported with the first lock, because on import the package replaces `fs.close` and listens for signals.
  const { lock } = await import('proper-lockfile');
  const attempt = async (): Promise<() => Promise<void>> => {
    await mkdir(dirname(file), { recursive: true, mode: PRIVATE_FOLDER });
    // By default, a lock that is lost, for example while the machine sleeps, ends the process.
    return lock(file, { realpath: false, stale: STALE_MS, update: REFRESH_MS, onCompromised: () => {} });
  };
  const delayAfter = (error: Error): number | undefined => {
    if (!HELD.has(codeOf(error)) || performance.now() >= deadline) return undefined;
    return RETRY_MS.min + Math.random() * (RETRY_MS.max - RETRY_MS.min);
  };
  return withRetries(attempt, { delayAfter }).catch((error) => {
    throw HELD.has(codeOf(error)) ? heldTooLong(file) : error;
  });
}

function heldTooLong(file: string): FileError {
  const path = `${file}.lock`;
  const message = `${path} has been held by other processes for ${MAX_WAIT_MS / 1_000} seconds. If none of your processes uses ${file}, delete ${path} and try again.`;
  return new FileError(message, { code: 'file-unwritable', path });
}
