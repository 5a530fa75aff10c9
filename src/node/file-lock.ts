import { dirname } from 'node:path';
import { FileError } from '../errors/file-errors.ts';
import { AbortScope, abortable, sleep } from '../util/abort.ts';
import { createMutex } from '../util/concurrency.ts';
import { makePrivateFolder, resolveLinks, writing } from './file-system.ts';
import { createContender, keepFresh, type LockIdentity } from './lock-folder.ts';

/** Maximum time to wait for a lock, in milliseconds. */
const MAX_WAIT_MS = 120_000;

/** Bounds of the random delay between two attempts to acquire the lock, in milliseconds. */
const ATTEMPT_MS = { min: 20, max: 100 } as const;

const mutex = createMutex();

/**
 * Runs `work` while this process holds the lock of a file. The lock is a folder beside the file, and its holder updates
 * the modification time of the folder. Calls in one process run one after another, in order. Ten seconds after a
 * process was killed, another process can take over its lock.
 *
 * @param work Receives a signal that aborts when the lock is lost: another process took over the lock while this
 * process was suspended for more than ten seconds, or the folder was removed. After that, the work must not rely on
 * data that it read earlier.
 * @param signal Aborts waiting for the lock, but not the work. The promise rejects with the reason of the signal.
 * @throws {FileError} `file-unwritable` or `disk-full` if the lock cannot be acquired.
 */
export function withFileLock<R>(
  path: string,
  work: (lost: AbortSignal) => Promise<R>,
  signal?: AbortSignal,
): Promise<R> {
  let file = path;
  const wait = new AbortScope({ parents: [signal], ms: MAX_WAIT_MS, reason: () => heldTooLong(file) });
  const result = mutex(path, async () => {
    file = await writing(path, () => resolveLinks(path));
    const folder = `${file}.lock`;
    const created = await writing(folder, () => acquire(folder, wait.signal), wait.signal);
    const lost = new AbortController();
    const release = keepFresh(folder, created, () => lost.abort(lockLost(file)));
    try {
      wait.signal.throwIfAborted();
      wait.dispose();
      return await work(lost.signal);
    } finally {
      // Ignore errors: another process takes over a lock that this process could not remove.
      await release().catch(() => {});
    }
  });
  return abortable(result, wait.signal).finally(() => wait.dispose());
}

async function acquire(folder: string, signal: AbortSignal): Promise<LockIdentity> {
  const attempt = createContender(folder);
  for (;;) {
    signal.throwIfAborted();
    // Throw an error of creating the parent folder: without this folder, no process can hold the lock.
    await writing(dirname(folder), () => makePrivateFolder(dirname(folder)));
    const created = await attempt();
    if (created) return created;
    await sleep(ATTEMPT_MS.min + Math.random() * (ATTEMPT_MS.max - ATTEMPT_MS.min), signal);
  }
}

function heldTooLong(file: string): FileError {
  const path = `${file}.lock`;
  const message = `The lock ${path} was not released within ${MAX_WAIT_MS / 1_000} seconds.`;
  const advice = `If none of your processes uses ${file}, delete ${path} and try again.`;
  return new FileError(message, { code: 'file-unwritable', path, advice });
}

function lockLost(file: string): FileError {
  const path = `${file}.lock`;
  const message = `The lock ${path} was lost: somebody removed it, or another process took it over after ten seconds without a refresh. Another process may have changed ${file}.`;
  const advice = 'Read the file again before you write it.';
  return new FileError(message, { code: 'file-unwritable', path, advice });
}
