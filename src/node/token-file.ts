import { mkdir, open, readdir, readFile, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { StoredToken, TokenStore } from '../auth/index.ts';
import { readStoredToken } from '../auth/index.ts';
import { ConfigurationError } from '../errors/audience-error.ts';
import { FileError } from '../errors/file-errors.ts';
import { PRIVATE_FOLDER, withFileLock } from './file-lock.ts';
import { codeOf, replaceFile, resolveLinks, unreadableFile, writing } from './file-system.ts';

/** Tokens are readable only by their owner. */
const PRIVATE_FILE = 0o600;

/** Age at which a file that is being written belongs to a process that was killed. */
const ABANDONED_MS = 60_000;

/** The name of a file that is being written, after that of the file itself. */
const PART_SUFFIX = /^[\da-f-]{36}\.tmp$/;

/**
 * A store in a file, which the processes of a machine can share: the token outlives each of them, and is issued once for
 * all. The file is always complete and readable only by its owner. Its lock is a folder beside it, with `.lock` added to
 * its name; the lock of a killed process is taken over after ten seconds. A path that is a symbolic link stays one. The
 * folder of the file is created if necessary.
 *
 * Its methods reject with a {@link FileError}: `file-unreadable`, `file-unwritable` or `disk-full`.
 *
 * @throws {ConfigurationError} for a path that is empty, or not a path.
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
  // Resolved now, because the working directory may change.
  if (typeof path === 'string' && path.trim() !== '' && !path.includes('\0')) return resolve(path);
  throw new ConfigurationError('The path of `fileTokenStore` must be a non-empty string or a `file:` URL.');
}

async function load(path: string): Promise<StoredToken | undefined> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw unreadableFile(path, error);
  }
  const token = readStoredToken(text);
  if (token) return token;
  // Without a cause: the parser's error quotes the file.
  const message = `${path} does not contain a token, or only a part of one: delete it, or restore its content.`;
  throw new FileError(message, { code: 'file-unreadable', path });
}

async function save(path: string, token: StoredToken | undefined): Promise<void> {
  const target = await resolveLinks(path);
  const folder = dirname(target);
  await mkdir(folder, { recursive: true, mode: PRIVATE_FOLDER });
  await removeAbandonedParts(target);
  if (token) await replaceFile(target, 'tmp', (file) => file.writeFile(JSON.stringify(token)), PRIVATE_FILE);
  else await rm(target, { force: true });
  await syncFolder(folder);
}

/** A file that was never renamed contains a token, too: it must not outlive its killed process for long. */
async function removeAbandonedParts(target: string): Promise<void> {
  const prefix = `.${basename(target)}.`;
  const names = await readdir(dirname(target)).catch(() => []);
  for (const name of names) {
    if (!name.startsWith(prefix) || !PART_SUFFIX.test(name.slice(prefix.length))) continue;
    const part = join(dirname(target), name);
    // Another process may remove it at the same time.
    const { mtimeMs } = await stat(part).catch(() => ({ mtimeMs: Number.POSITIVE_INFINITY }));
    if (mtimeMs < Date.now() - ABANDONED_MS) await rm(part, { force: true }).catch(() => {});
  }
}

/** Makes a rename or a removal durable, on systems that can. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder).catch(() => undefined);
  await handle?.sync().catch(() => {});
  await handle?.close().catch(() => {});
}
