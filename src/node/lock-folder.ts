import { mkdir, rmdir, stat, utimes } from 'node:fs/promises';
import { codeOf } from './file-system.ts';

/** Milliseconds without a refresh after which a lock is stale, because its holder was probably killed. */
const STALE_MS = 10_000;

/** Milliseconds between two refreshes of a held lock. Even a busy process then refreshes the lock in time. */
const REFRESH_MS = 2_000;

/**
 * Milliseconds without a refresh that a process must observe before taking over a lock. After a sleep of the machine or
 * a change of its clock, the locks of running processes seem old until their next refresh.
 */
const CONFIRM_MS = 3_000;

/**
 * Identifies a folder by its inode and the time of its last refresh, because another process may later create a folder
 * at the same path.
 */
export interface LockIdentity {
  readonly ino: number;
  readonly mtimeMs: number;
}

const isSame = (one: LockIdentity, other: LockIdentity | undefined): boolean =>
  one.ino === other?.ino && one.mtimeMs === other.mtimeMs;

/**
 * Returns a function that makes one attempt to create the folder of a lock. It resolves with `undefined` while another
 * process holds the lock. Call it repeatedly: it detects a stale lock because no refresh happens between two calls.
 */
export function createContender(folder: string): () => Promise<LockIdentity | undefined> {
  const guardFolder = `${folder}.takeover`;
  let attemptGuard: (() => Promise<LockIdentity | undefined>) | undefined;
  let seen: (LockIdentity & { readonly since: number }) | undefined;

  async function isStale(): Promise<boolean> {
    const current = await identityOf(folder);
    if (!current) return false;
    if (!seen || !isSame(seen, current)) {
      seen = { ...current, since: performance.now() };
      return false;
    }
    const isOld = Date.now() - current.mtimeMs > STALE_MS;
    // Use the monotonic clock: after the system clock is set back, the lock of a killed process would otherwise stay
    // fresh.
    return performance.now() - seen.since > (isOld ? CONFIRM_MS : STALE_MS);
  }

  return async () => {
    const created = await create(folder);
    if (created || !(await isStale())) return created;
    // Only the holder of the guard, a second lock, removes a stale lock. Otherwise, a process could remove a lock that
    // another process has just created. If the holder of the guard is killed, another process takes over the guard in
    // the same way.
    attemptGuard ??= createContender(guardFolder);
    if (!(await attemptGuard())) return undefined;
    try {
      if (!(await isStale())) return undefined;
      await remove(folder);
      return await create(folder);
    } finally {
      await remove(guardFolder);
    }
  };
}

/**
 * Refreshes the folder of a lock regularly, so that no other process takes over the lock. Returns a function that stops
 * the refreshes and removes the folder.
 *
 * @param onLost Called if the folder was removed, or taken over while this process could not refresh it.
 */
export function keepFresh(folder: string, created: LockIdentity, onLost: () => void): () => Promise<void> {
  let identity = created;
  let isHeld = true;
  let refreshedAt = performance.now();
  let refreshing: Promise<void> | undefined;

  async function refresh(): Promise<void> {
    try {
      const current = await identityOf(folder);
      if (!current || !isSame(current, identity)) return lose();
      await utimes(folder, new Date(), new Date());
      // Read the time again, because some file systems store times in seconds.
      identity = await stat(folder);
      refreshedAt = performance.now();
    } catch {
      if (performance.now() - refreshedAt > STALE_MS) lose();
    }
  }

  function lose(): void {
    clearInterval(timer);
    if (isHeld) onLost();
    isHeld = false;
  }

  const timer = setInterval(() => {
    refreshing ??= refresh().finally(() => {
      refreshing = undefined;
    });
  }, REFRESH_MS);
  timer.unref();

  return async () => {
    if (!isHeld) return;
    isHeld = false;
    clearInterval(timer);
    // Await the pending refresh: otherwise, it could change the time of the next holder's lock.
    await refreshing;
    const current = await identityOf(folder);
    if (current && isSame(current, identity)) await rmdir(folder);
  };
}

/** Creates a folder. Resolves with `undefined` if the folder exists, or if its parent was removed meanwhile. */
async function create(folder: string): Promise<LockIdentity | undefined> {
  try {
    await mkdir(folder);
  } catch (error) {
    if (codeOf(error) === 'EEXIST' || codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
  return identityOf(folder);
}

async function identityOf(folder: string): Promise<LockIdentity | undefined> {
  const stats = await stat(folder).catch(ignoreMissing);
  return stats && { ino: stats.ino, mtimeMs: stats.mtimeMs };
}

const remove = (folder: string): Promise<void> => rmdir(folder).catch(ignoreMissing);

function ignoreMissing(error: unknown): undefined {
  if (codeOf(error) !== 'ENOENT') throw error;
}
