import { randomUUID } from 'node:crypto';
import type { Stats } from 'node:fs';
import { type FileHandle, mkdir, open, readlink, realpath, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { AudienceError, ConfigurationError } from '../errors/audience-error.ts';
import { FileError } from '../errors/file-errors.ts';
import { isReason } from '../util/call-site.ts';
import { messageOf } from '../util/callbacks.ts';
import { formatValue } from '../util/input-checks.ts';

/** Returns the `code` of a system error, such as `ENOENT`. Returns `undefined` for other errors. */
export const codeOf = (error: unknown): unknown => (error instanceof Error && 'code' in error ? error.code : undefined);

/** Mode of a file that only its owner can read. */
export const PRIVATE_FILE = 0o600;

/** Returns the absolute path of a file that a caller has passed to a function. */
export function filePath(path: unknown, caller: string): string {
  if (path instanceof URL && path.protocol === 'file:') return fileURLToPath(path);
  // Resolve the path now, because the working directory may change later.
  if (typeof path === 'string' && path.trim() !== '' && !path.includes('\0')) return resolve(path);
  throw new ConfigurationError(
    `The path of \`${caller}\` must be a \`file:\` URL or a non-empty string without NUL characters, not ${formatValue(path)}.`,
  );
}

/**
 * Returns the state of a file to read.
 *
 * @throws {Error} for a folder, a device or a pipe. Opening a pipe would wait for its writer, which may never open it.
 */
export async function statRegular(path: string): Promise<Stats> {
  const stats = await stat(path);
  if (!stats.isFile()) throw new Error('it is not a regular file');
  return stats;
}

/** Returns the error for a file that cannot be read. */
export function unreadableFile(path: string, error: unknown): FileError {
  if (FileError.isInstance(error)) return error;
  return new FileError(`${path} cannot be read: ${messageOf(error)}`, { code: 'file-unreadable', path, cause: error });
}

const DISK_FULL: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT']);

/**
 * Runs a step that writes to `path`. Converts errors to {@link FileError}, except errors of this package and the reason
 * of `signal`.
 */
export async function writing<T>(path: string, step: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  try {
    return await step();
  } catch (error) {
    if (AudienceError.isInstance(error) || isReason(error, [signal])) throw error;
    const isFull = DISK_FULL.has(codeOf(error));
    const code = isFull ? 'disk-full' : 'file-unwritable';
    const reason = isFull ? 'The disk is full.' : messageOf(error);
    const advice = isFull ? 'Free some space and try again.' : undefined;
    throw new FileError(`${path} could not be written. ${reason}`, { code, path, cause: error, advice });
  }
}

/** Writes a temporary file beside `path` and renames it, so that the file at `path` is complete even after a crash. */
export async function replaceFile<T>(
  path: string,
  /** Last part of the temporary name, `.<name>.<uuid>.<suffix>`. */
  suffix: string,
  write: (file: FileHandle) => Promise<T>,
  mode?: number,
): Promise<T> {
  const part = join(dirname(path), `.${basename(path)}.${randomUUID()}.${suffix}`);
  let file: FileHandle | undefined;
  try {
    file = await open(part, 'wx', mode);
    const result = await write(file);
    await file.sync();
    await file.close();
    await rename(part, path);
    return result;
  } catch (error) {
    await file?.close().catch(() => {});
    await rm(part, { force: true }).catch(() => {});
    throw error;
  }
}

/** Maximum number of symbolic links to follow, as on Linux. */
const MAX_LINKS = 40;

/** Follows the symbolic links of a path, and returns the path of their target, which might not exist. */
export async function resolveLinks(path: string, links = 0): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if (codeOf(error) !== 'ENOENT' || links === MAX_LINKS) throw error;
  }
  const next = await readlink(path).catch(() => undefined);
  if (next === undefined) return path;
  const folder = await realpath(dirname(path));
  return resolveLinks(resolve(folder, next), links + 1);
}

/** Mode of a new folder for tokens: accessible only to its owner. */
const PRIVATE_FOLDER = 0o700;

/** Creates a folder that only its owner can access, and its parents, unless they exist. */
export async function makePrivateFolder(folder: string, canCreateParents = true): Promise<void> {
  // Do not use `recursive`, which reports a read-only disk as a missing folder, and never ends in /proc.
  try {
    await mkdir(folder, { mode: PRIVATE_FOLDER });
  } catch (error) {
    const code = codeOf(error);
    // `mkdir` also fails with EEXIST for a dangling symbolic link. Then `stat` throws the reason.
    if (code === 'EEXIST') return void (await stat(folder));
    if (code !== 'ENOENT' || !canCreateParents || dirname(folder) === folder) throw error;
    await makePrivateFolder(dirname(folder));
    await makePrivateFolder(folder, false);
  }
}

/**
 * Flushes a folder to the disk, if the system supports this, so that creating, renaming or removing a file survives a
 * crash.
 */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder).catch(() => undefined);
  await handle?.sync().catch(() => {});
  await handle?.close().catch(() => {});
}
