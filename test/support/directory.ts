import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readlink, rm, stat, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** Where each `fsync` is immediate: tests await thousands of them. */
const MEMORY = '/dev/shm';

/** Creates an empty directory, which is removed after the running test. */
export async function temporaryDirectory(): Promise<string> {
  const path = await mkdtemp(join(existsSync(MEMORY) ? MEMORY : tmpdir(), 'audience-activation-'));
  onTestFinished(() => rm(path, { recursive: true, force: true }));
  return path;
}

/** Returns the paths of open files of this process below a directory. */
export async function openFilesBelow(directory: string): Promise<string[]> {
  const links = (await readdir('/proc/self/fd')).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => ''));
  return (await Promise.all(links)).filter((path) => path.startsWith(directory));
}

/** Moves the times of a file or a folder into the past. */
export async function makeOlder(path: string, ms: number): Promise<void> {
  const then = new Date((await stat(path)).mtimeMs - ms);
  await utimes(path, then, then);
}
