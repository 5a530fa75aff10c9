import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { FileError } from '../errors/file-errors.ts';
import { lockMarks } from './lock-marks.ts';
import { targetOf } from './target.ts';
import { codeOf, writing } from './writing.ts';

/** A lock that its holder has not kept fresh for so long is taken over: the holder was killed. Milliseconds. */
const STALE = 10_000;

/** How often a holder keeps its lock fresh: often enough that a busy process does not lose it. Milliseconds. */
const REFRESH = 2_000;

/** Who has not got the lock after so long is told which one it is. Milliseconds. */
const PATIENCE = 120_000;

/** A held lock is tried again after between these; at random, so that waiters do not move in step. Milliseconds. */
const POLL = { min: 20, max: 100 } as const;

/** Held by another, or gone between two looks at it. */
const AGAIN: ReadonlySet<unknown> = new Set(['ELOCKED', 'ENOENT']);

/** Folders of tokens are for their owner only. */
export const PRIVATE_FOLDER = 0o700;

/** The last in the queue for each path: within a process one at a time tries for the lock. */
const queues = new Map<string, Promise<unknown>>();

/** Runs `work` while no other process, and nobody else in this one, holds the lock of the file. */
export function withFileLock<R>(path: string, work: () => Promise<R>): Promise<R> {
  const until = performance.now() + PATIENCE;
  const before = queues.get(path) ?? Promise.resolve();
  const turn = before.then(() => locked(path, until, work));
  const tail = turn
    .catch(() => {})
    .then(() => {
      if (queues.get(path) === tail) queues.delete(path);
    });
  queues.set(path, tail);
  return turn;
}

async function locked<R>(path: string, until: number, work: () => Promise<R>): Promise<R> {
  const file = await writing(path, () => targetOf(path));
  const release = await writing(`${file}.lock`, () => acquire(file, until));
  try {
    return await work();
  } finally {
    await release();
  }
}

/** Waits for the lock; what it gives releases it, and never fails. */
async function acquire(file: string, until: number): Promise<() => Promise<void>> {
  const { lock } = await import('proper-lockfile');
  for (;;) {
    const marks = lockMarks(`${file}.lock`);
    // Its own answer to a lock that was lost, while the machine slept for instance, is to end the process.
    const onCompromised = (): void => {};
    try {
      await mkdir(dirname(file), { recursive: true, mode: PRIVATE_FOLDER });
      const release = await lock(file, { fs: marks.fs, realpath: false, stale: STALE, update: REFRESH, onCompromised });
      // A mark that stays, at the worst, is stale soon.
      return () => release().catch(() => marks.leave().catch(() => {}));
    } catch (error) {
      if (!AGAIN.has(codeOf(error))) throw error;
    }
    if (performance.now() >= until) throw tooLong(file);
    await pause(POLL.min + Math.random() * (POLL.max - POLL.min));
  }
}

function tooLong(file: string): FileError {
  const path = `${file}.lock`;
  const message = `${path} has been held by others for ${PATIENCE / 1_000} seconds. If none of your processes is at work with ${file}, delete ${path} and try again.`;
  return new FileError(message, { code: 'file-unwritable', path });
}
