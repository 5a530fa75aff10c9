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

/** Returns the paths of open files of a process below a directory. @param process @default this process */
export async function openFilesBelow(directory: string, process: number | 'self' = 'self'): Promise<string[]> {
  const folder = `/proc/${process}/fd`;
  const links = (await readdir(folder)).map((fd) => readlink(join(folder, fd)).catch(() => ''));
  return (await Promise.all(links)).filter((path) => path.startsWith(directory));
}

/** Moves the times of a file or a folder into the past. */
export async function makeOlder(path: string, ms: number): Promise<void> {
  const then = new Date((await stat(path)).mtimeMs - ms);
  await utimes(path, then, then);
}
