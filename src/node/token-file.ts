import { randomUUID } from 'node:crypto';
import { type FileHandle, mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { StoredToken, TokenStore } from '../auth/token-source.ts';
import { readStoredToken } from '../auth/token-source.ts';
import { ConfigurationError } from '../errors/audience-error.ts';
import { FileError } from '../errors/file-errors.ts';
import { PRIVATE_FOLDER, withFileLock } from './file-lock.ts';
import { targetOf } from './target.ts';
import { codeOf, writing } from './writing.ts';

/** A token is for its owner only. */
const PRIVATE_FILE = 0o600;

/** A file being written is left alone for so long; an older one is of a process that was killed. Milliseconds. */
const LEFT_OVER = 60_000;

/** A name that is made up for a file being written, after that of the file itself. */
const MADE_UP = /^[\da-f-]{36}\.tmp$/;

/**
 * A store in a file, which several processes of a machine may share: the token outlives each of
 * them, and is minted once for all. The file is readable by its owner only, and always whole. Its
 * lock is a folder beside it, of the same name with `.lock`; that of a process which was killed is
 * taken over after ten seconds. A path that is a symbolic link stays one.
 *
 * What is kept cannot be read or written: {@link FileError}, with `file-unreadable`,
 * `file-unwritable` or `disk-full`. The folder is made if need be.
 *
 * @throws {ConfigurationError} for a path that is empty or none.
 *
 * @example
 * const store = fileTokenStore('/var/lib/my-service/audience-token.json');
 * const client = new AudienceClient({ baseUrl, token: apiToken(credentials, { store }) });
 */
export function fileTokenStore(path: string | URL): TokenStore {
  const file = checkPath(path);
  return {
    load: () => load(file),
    save: (token) => writing(file, () => save(file, token)),
    withLock: (work) => withFileLock(file, work),
  };
}

function checkPath(path: unknown): string {
  if (path instanceof URL && path.protocol === 'file:') return fileURLToPath(path);
  // Resolved now: the working directory may be another one later.
  if (typeof path === 'string' && path.trim() !== '' && !path.includes('\0')) return resolve(path);
  throw new ConfigurationError(
    '`fileTokenStore` needs the path of a file: a text that is not empty, or a `file:` URL.',
  );
}

async function load(path: string): Promise<StoredToken | undefined> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    const reason = error instanceof Error ? error.message : String(error);
    throw new FileError(`${path} cannot be read: ${reason}`, { code: 'file-unreadable', path, cause: error });
  }
  const token = readStoredToken(text);
  if (token) return token;
  // Without the parser's own error, which quotes what it has read.
  const message = `${path} holds no token, or only a part of one: delete it, or put back what was in it.`;
  throw new FileError(message, { code: 'file-unreadable', path });
}

async function save(path: string, token: StoredToken | undefined): Promise<void> {
  const target = await targetOf(path);
  const folder = dirname(target);
  await mkdir(folder, { recursive: true, mode: PRIVATE_FOLDER });
  await removeLeftOvers(target);
  if (token) await replace(target, JSON.stringify(token));
  else await rm(target, { force: true });
  await syncFolder(folder);
}

/** Writes beside a file, then renames: whoever reads it meanwhile, or after a crash, sees the old or the new one. */
async function replace(target: string, text: string): Promise<void> {
  const part = join(dirname(target), `${partPrefix(target)}${randomUUID()}.tmp`);
  let file: FileHandle | undefined;
  try {
    file = await open(part, 'wx', PRIVATE_FILE);
    await file.writeFile(text);
    await file.sync();
    await file.close();
    await rename(part, target);
  } catch (error) {
    await file?.close().catch(() => {});
    await rm(part, { force: true }).catch(() => {});
    throw error;
  }
}

const partPrefix = (target: string): string => `.${basename(target)}.`;

/** What is written, and not yet renamed, holds a token, too: it does not stay when its process was killed. */
async function removeLeftOvers(target: string): Promise<void> {
  const folder = dirname(target);
  const prefix = partPrefix(target);
  const names = await readdir(folder).catch(() => []);
  const parts = names.filter((name) => name.startsWith(prefix) && MADE_UP.test(name.slice(prefix.length)));
  for (const part of parts.map((name) => join(folder, name))) {
    // Another process may be at it, too.
    const written = await stat(part).catch(() => undefined);
    if (written && written.mtimeMs < Date.now() - LEFT_OVER) await rm(part, { force: true }).catch(() => {});
  }
}

/** Makes a rename or a removal last. As well as the system can: some have no such thing. */
async function syncFolder(folder: string): Promise<void> {
  let handle: FileHandle | undefined;
  try {
    handle = await open(folder);
    await handle.sync();
  } catch {
    // What was written is there, if not for certain after a power cut.
  } finally {
    await handle?.close().catch(() => {});
  }
}
