import { readdir, readFile, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { readStoredToken } from '../client/index.ts';
import { FileError } from '../errors/file-errors.ts';
import type { StoredToken, TokenStore } from '../index.ts';
import { withFileLock } from './file-lock.ts';
import {
  codeOf,
  filePath,
  makePrivateFolder,
  PRIVATE_FILE,
  replaceFile,
  resolveLinks,
  statRegular,
  syncFolder,
  unreadableFile,
  writing,
} from './file-system.ts';

/** Age in milliseconds at which a temporary file is removed, because its process was probably killed. */
const ABANDONED_MS = 60_000;

/** Matches the suffix that a temporary file's name adds to the name of the token file. */
const PART_SUFFIX = /^[\da-f-]{36}\.tmp$/;

/**
 * Creates a token store in a file, so that the processes of a machine share a token across restarts. The file is always
 * complete, and its mode allows only its owner to read it. The store creates the folder of the file if necessary. The
 * lock is a folder beside the file, named like the file with `.lock` added. Ten seconds after a process was killed,
 * another process can take over its lock. If the path is a symbolic link, the store writes to its target.
 *
 * The methods of the store reject with a {@link FileError}: `file-unreadable`, `file-unwritable` or `disk-full`.
 *
 * @throws {ConfigurationError} for an empty or invalid path.
 *
 * @example
 * const store = fileTokenStore('/var/lib/my-service/audience-token.json');
 * const client = new AudienceClient({ baseUrl, token: apiToken(credentials, { store }) });
 */
export function fileTokenStore(path: string | URL): TokenStore {
  const file = filePath(path, 'fileTokenStore');
  return {
    load: () => load(file),
    save: (token) => writing(file, () => save(file, token)),
    withLock: (work) => withFileLock(file, () => work()),
  };
}

async function load(path: string): Promise<StoredToken | undefined> {
  let text: string;
  try {
    await statRegular(path);
    text = await readFile(path, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw unreadableFile(path, error);
  }
  const token = readStoredToken(text);
  if (token) return token;
  // Omit the `cause`, because the parser's error would quote the token.
  const message = `${path} contains no token, or only a part of a token.`;
  throw new FileError(message, { code: 'file-unreadable', path, advice: 'Delete the file, or restore its content.' });
}

async function save(path: string, token: StoredToken | undefined): Promise<void> {
  const target = await resolveLinks(path);
  const folder = dirname(target);
  await makePrivateFolder(folder);
  await removeAbandonedParts(target);
  if (token) await replaceFile(target, 'tmp', (file) => file.writeFile(JSON.stringify(token)), PRIVATE_FILE);
  else await rm(target, { force: true });
  await syncFolder(folder);
}

/** Removes temporary files of killed processes, because these files also contain tokens. */
async function removeAbandonedParts(target: string): Promise<void> {
  const prefix = `.${basename(target)}.`;
  const names = await readdir(dirname(target)).catch(() => []);
  for (const name of names) {
    if (!name.startsWith(prefix) || !PART_SUFFIX.test(name.slice(prefix.length))) continue;
    const part = join(dirname(target), name);
    // Another process may rename or remove the file at the same time.
    const { mtimeMs } = await stat(part).catch(() => ({ mtimeMs: Number.POSITIVE_INFINITY }));
    if (mtimeMs < Date.now() - ABANDONED_MS) await rm(part, { force: true }).catch(() => {});
  }
}
