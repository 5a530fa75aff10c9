import {
  chmod,
  type FileHandle,
  lstat,
  mkdir,
  open,
  readdir,
  readlink,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { fileTokenStore } from '../../src/node/index.ts';
import { makeOlder, openFilesBelow, temporaryDirectory } from '../support/directory.ts';
import { failureOf } from '../support/server.ts';

const TOKEN = { token: 'a-secret-token', expiresAt: '2027-01-01T00:00:00+00:00', mintedAt: 'x', more: { of: ['it'] } };
const MINUTE = 60_000;

const newPath = async (): Promise<string> => join(await temporaryDirectory(), 'token.json');
const modeOf = async (path: string): Promise<number> => (await stat(path)).mode & 0o777;

describe('a token file', () => {
  it('keeps all fields of a token, readable only by its owner', async () => {
    const directory = await temporaryDirectory();
    const path = join(directory, 'new', 'folder', 'token.json');
    const store = fileTokenStore(path);
    expect(await store.load()).toBeUndefined();
    await store.save(TOKEN);
    expect(await store.load()).toEqual(TOKEN);
    expect(await fileTokenStore(pathToFileURL(path)).load()).toEqual(TOKEN);
    expect(await modeOf(path)).toBe(0o600);
    expect(await modeOf(join(directory, 'new'))).toBe(0o700);
    expect(await modeOf(join(directory, 'new', 'folder'))).toBe(0o700);
    expect(await readdir(join(directory, 'new', 'folder'))).toEqual(['token.json']);
    expect(await openFilesBelow(directory)).toEqual([]);
  });

  it('a token file that others could read is readable only by its owner after a save', async () => {
    const path = await newPath();
    await writeFile(path, JSON.stringify({ token: 'old' }));
    await chmod(path, 0o644);
    await fileTokenStore(path).save(TOKEN);
    expect(await modeOf(path)).toBe(0o600);
  });

  it('is removed by saving `undefined`', async () => {
    const path = await newPath();
    const store = fileTokenStore(path);
    await store.save(undefined);
    await store.save(TOKEN);
    await store.save(undefined);
    expect(await store.load()).toBeUndefined();
    expect(await readdir(join(path, '..'))).toEqual([]);
  });

  it('keeps a record with an empty token', async () => {
    const store = fileTokenStore(await newPath());
    await store.save({ token: '', verifier: 'v' });
    expect(await store.load()).toEqual({ token: '', verifier: 'v' });
  });

  it('stays where it is when the working directory changes', async () => {
    const directory = await temporaryDirectory();
    const cwd = vi.spyOn(process, 'cwd').mockReturnValue(directory);
    const store = fileTokenStore('token.json');
    cwd.mockRestore();
    await store.save(TOKEN);
    expect(await readdir(directory)).toEqual(['token.json']);
  });

  it.each(['', 'a-secret', '{"token":"a-secr', '{"token":7}', '{}', 'null', '[]', '"a-secret"'])(
    'a token file with the content %j rejects, and the error does not show it',
    async (text) => {
      const path = await newPath();
      await writeFile(path, text);
      const error = await failureOf(fileTokenStore(path).load());
      expect(error).toMatchObject({ name: 'FileError', code: 'file-unreadable', path });
      expect(String(error)).toMatch(/Delete the file, or restore its content/);
      expect(Object(error).cause).toBeUndefined();
      expect(JSON.stringify(error) + String(error)).not.toContain('a-secr');
    },
  );

  it('a token file that cannot be read or written rejects with the reason', async () => {
    const directory = await temporaryDirectory();
    const folder = join(directory, 'folder');
    await mkdir(join(folder, 'in it'), { recursive: true });
    expect(await failureOf(fileTokenStore(folder).load())).toMatchObject({ code: 'file-unreadable', path: folder });
    expect(await failureOf(fileTokenStore(folder).save(TOKEN))).toMatchObject({
      code: 'file-unwritable',
      path: folder,
    });
    await writeFile(join(directory, 'a-file'), '');
    const below = fileTokenStore(join(directory, 'a-file', 'token.json'));
    expect(await failureOf(below.save(TOKEN))).toMatchObject({ name: 'FileError', code: 'file-unwritable' });
    expect(await failureOf(below.withLock(async () => {}))).toMatchObject({ code: 'file-unwritable' });
    expect((await readdir(directory)).sort()).toEqual(['a-file', 'folder']);
  });

  it.each([[''], [' '], ['a\0b'], [undefined], [7], [new URL('https://example.com/token.json')]])(
    'must have a path, not %j',
    (path) => {
      const make: (path: never) => unknown = fileTokenStore;
      expect(() => Reflect.apply(make, undefined, [path])).toThrow(
        expect.objectContaining({ name: 'ConfigurationError' }),
      );
    },
  );
});

describe('a symbolic link to a token file', () => {
  it.each(['file', 'file-not-there', 'folder'])('stays a link: %s', async (kind) => {
    const directory = await temporaryDirectory();
    const real = join(directory, 'real', 'token.json');
    await mkdir(join(directory, 'real'));
    if (kind !== 'file-not-there') await fileTokenStore(real).save({ token: 'old' });
    const link = join(directory, 'link');
    await symlink(kind === 'folder' ? 'real' : join('real', 'token.json'), link);
    const store = fileTokenStore(kind === 'folder' ? join(link, 'token.json') : link);
    await store.withLock(async () => {
      expect((await readdir(join(directory, 'real'))).filter((name) => name.endsWith('.lock'))).toHaveLength(1);
      await store.save(TOKEN);
    });
    expect((await lstat(link)).isSymbolicLink()).toBe(true);
    expect(await readlink(link)).toMatch(/^real/);
    expect(await fileTokenStore(real).load()).toEqual(TOKEN);
    await store.save(undefined);
    expect(await readdir(join(directory, 'real'))).toEqual([]);
    expect(await store.load()).toBeUndefined();
    expect((await readdir(directory)).sort()).toEqual(['link', 'real']);
  });

  it('a symbolic link to a token file that leads to itself rejects', async () => {
    const path = await newPath();
    await symlink(path, path);
    expect(await failureOf(fileTokenStore(path).load())).toMatchObject({ code: 'file-unreadable' });
    expect(await failureOf(fileTokenStore(path).save(TOKEN))).toMatchObject({ code: 'file-unwritable' });
  });
});

describe('a token file on a full disk', () => {
  it.each([
    ['ENOSPC', 'writeFile', 'disk-full'],
    ['EDQUOT', 'sync', 'disk-full'],
    ['EIO', 'sync', 'file-unwritable'],
  ] as const)('(%s at %s) keeps the old token', async (code, step, expected) => {
    const path = await newPath();
    const store = fileTokenStore(path);
    await store.save(TOKEN);
    const probe = await open(path);
    const handles: FileHandle = Object.getPrototypeOf(probe);
    await probe.close();
    const failing = vi.spyOn(handles, step).mockRejectedValue(Object.assign(new Error(`${code}: simulated`), { code }));
    onTestFinished(() => failing.mockRestore());
    expect(await failureOf(store.save({ token: 'new' }))).toMatchObject({ name: 'FileError', code: expected, path });
    expect(await store.load()).toEqual(TOKEN);
    expect(await readdir(join(path, '..'))).toEqual(['token.json']);
    expect(await openFilesBelow(join(path, '..'))).toEqual([]);
  });
});

describe('a save of a token file', () => {
  it('leaves files of other names alone', async () => {
    const path = await newPath();
    const directory = join(path, '..');
    const others = [
      '.token.json.tmp',
      '.token.json.backup.tmp',
      '.token.json.x.123e4567-e89b-42d3-a456-426614174000.tmp',
    ];
    for (const name of others) await writeFile(join(directory, name), '');
    for (const name of others) await makeOlder(join(directory, name), 10 * MINUTE);
    await fileTokenStore(path).save(TOKEN);
    expect((await readdir(directory)).sort()).toEqual([...others, 'token.json'].sort());
  });
});

describe('the lock of a token file', () => {
  it('is held by one caller at a time, in the order of the calls, and released when the work fails', async () => {
    const path = await newPath();
    const store = fileTokenStore(path);
    const boom = new Error('boom');
    const order: string[] = [];
    const names = Array.from({ length: 10 }, (_, at) => `call ${at}`);
    const works = names.map((name) =>
      store.withLock(async () => {
        order.push(`${name} begins`);
        await store.save(TOKEN);
        order.push(`${name} ends`);
        throw boom;
      }),
    );
    expect(await Promise.all(works.map(failureOf))).toEqual(names.map(() => boom));
    expect(order).toEqual(names.flatMap((name) => [`${name} begins`, `${name} ends`]));
    const throwing = (): Promise<never> => {
      throw boom;
    };
    expect(await failureOf(store.withLock(throwing))).toBe(boom);
    expect(await readdir(join(path, '..'))).toEqual(['token.json']);
  });

  it('waiting for the lock of a token file rejects with its path when another process holds it for two minutes', async () => {
    const path = await newPath();
    await mkdir(`${path}.lock`);
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const work = vi.fn();
    const failed = failureOf(fileTokenStore(path).withLock(work));
    const queued = failureOf(fileTokenStore(path).withLock(work));
    vi.advanceTimersByTime(2 * MINUTE);
    for (const error of [await failed, await queued]) {
      expect(error).toMatchObject({ name: 'FileError', code: 'file-unwritable', path: `${path}.lock` });
      expect(String(error)).toContain(`delete ${path}.lock and try again`);
    }
    expect(work).not.toHaveBeenCalled();
  });
});
