import { createHash } from 'node:crypto';
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { type Journal, parseEntry } from './check/index.ts';
import { CommandError } from './exit-codes.ts';
import { readIfExists, replacePrivately } from './private-file.ts';
import { configFolder } from './profiles.ts';
import { isRunning } from './running-sandboxes.ts';

/**
 * Returns the file that keeps what a check has created and not deleted yet: one for each address and token, because
 * another account can neither see nor delete it.
 */
export function journalPath(env: NodeJS.ProcessEnv, baseUrl: string, token: string): string {
  const account = `${baseUrl.replace(/\/+$/, '')}\n${token}`;
  const hash = createHash('sha256').update(account).digest('hex').slice(0, 16);
  return join(configFolder(env), 'checks', `${hash}.json`);
}

/** Returns a journal in a file that only its owner can read. */
export function fileJournal(path: string): Journal {
  return {
    async load() {
      const text = await readIfExists(path);
      if (text === undefined) return undefined;
      const entry = parseEntry(text);
      if (entry) return entry;
      throw new Error(`${path} was not written by a check: remove it.`);
    },
    async save(entry) {
      if (!entry) return rm(path, { force: true });
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      await replacePrivately(path, JSON.stringify(entry));
    },
  };
}

/**
 * Reserves a journal for this process, by an empty file beside it that is named by the process. Returns a function that
 * removes it.
 *
 * @throws {CommandError} if another process has reserved it.
 */
export async function reserveJournal(path: string): Promise<() => Promise<void>> {
  const folder = dirname(path);
  const prefix = `${basename(path)}.process-`;
  const own = `${prefix}${process.pid}`;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await writeFile(join(folder, own), '', { mode: 0o600 });
  const release = (): Promise<void> => rm(join(folder, own), { force: true });
  // Its own file is written before others are searched: of two processes, at least one sees the other.
  for (const name of await readdir(folder)) {
    if (!name.startsWith(prefix) || name === own) continue;
    const file = join(folder, name);
    const pid = Number(name.slice(prefix.length));
    if (isRunning(pid)) {
      await release();
      const message = `Another check with this token is writing (process ${pid}): wait for its end. If that process is none, remove ${file}.`;
      throw new CommandError(message, { code: 'check-running' });
    }
    await rm(file, { force: true });
  }
  return release;
}
