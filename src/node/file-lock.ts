import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { FileError } from '../errors/file-errors.ts';
import { createMutex } from '../util/concurrency.ts';
import { withRetries } from '../util/retry.ts';
import { codeOf, resolveLinks, writing } from './file-system.ts';

/** Age at which a lock that was not refreshed is taken over, because its holder was probably killed. */
const STALE_MS = 10_000;

/** Time between two refreshes of a held lock, short enough that a busy process does not lose it. */
const REFRESH_MS = 2_000;

/** Maximum time to wait for a lock. */
const MAX_WAIT_MS = 120_000;

/** Bounds of the random time between two attempts to acquire a lock that another process holds. */
const RETRY_MS = { min: 20, max: 100 } as const;

/** Codes of errors that mean: another process holds the lock, or has just removed it. */
const HELD: ReadonlySet<unknown> = new Set(['ELOCKED', 'ENOENT']);

/** Mode of a new folder for tokens: accessible only to its owner. */
const PRIVATE_FOLDER = 0o700;

const mutex = createMutex();

/** Creates a folder that only its owner can access, with its parents, unless it exists. */
export async function makePrivateFolder(folder: string, canCreateParents = true): Promise<void> {
  // Without `recursive`, which reports a read-only disk as a missing folder, and in /proc never ends.
  try {
    await mkdir(folder, { mode: PRIVATE_FOLDER });
  } catch (error) {
    const code = codeOf(error);
    // A link that leads nowhere exists, too: `stat` then has the reason.
    if (code === 'EEXIST') return void (await stat(folder));
    if (code !== 'ENOENT' || !canCreateParents || dirname(folder) === folder) throw error;
    await makePrivateFolder(dirname(folder));
    await makePrivateFolder(folder, false);
  }
}

/** Runs `work` while this process holds the lock of a file. Calls in one process run one after another, in order. */
export function withFileLock<R>(path: string, work: () => Promise<R>): Promise<R> {
  const deadline = performance.now() + MAX_WAIT_MS;
  return mutex(path, async () => {
    const file = await writing(path, () => resolveLinks(path));
    const release = await writing(`${file}.lock`, () => acquire(file, deadline));
    try {
      return await work();
    } finally {
      // Ignore errors: the lock was taken over by another process, or will be when it is stale.
      await release().catch(() => {});
    }
  });
}

async function acquire(file: string, deadline: number): Promise<() => Promise<void>> {
  // Imported only here, because the package replaces `fs.close` and adds signal listeners when it is imported.
  const { lock } = await import('proper-lockfile');
  const attempt = async (): Promise<() => Promise<void>> => {
    // Its error is final: a folder that cannot be created is not a lock of another process.
    await writing(dirname(file), () => makePrivateFolder(dirname(file)));
    // Without `onCompromised`, losing the lock, for example while the machine sleeps, would end the process.
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
