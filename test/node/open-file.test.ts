import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { appendFile, rename, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openFile } from '../../src/node/index.ts';
import { openFilesBelow, temporaryDirectory } from '../support/directory.ts';
import { eventually } from '../support/eventually.ts';
import { serve } from '../support/file-server.ts';
import { quickly } from '../support/quickly.ts';
import { pattern } from '../support/script.ts';
import { clientOf, failureOf, startServer } from '../support/server.ts';
import { startStorage } from '../support/storage.ts';

const SIZE = 1_300_000;

async function someFile(content: Uint8Array | number = pattern(SIZE)): Promise<{ directory: string; path: string }> {
  const directory = await temporaryDirectory();
  const path = join(directory, 'customers.csv');
  await writeFile(path, typeof content === 'number' ? '' : content);
  // Bytes that are not written need no memory.
  if (typeof content === 'number') await truncate(path, content);
  return { directory, path };
}

describe('a file opened by its path', () => {
  it('is a Blob like any other', async () => {
    const { path } = await someFile();
    const file = await openFile(path);
    expect(file).toBeInstanceOf(Blob);
    expect(file.size).toBe(SIZE);
    expect(new Uint8Array(await file.slice(10, 20).arrayBuffer())).toEqual(pattern(20).slice(10));
    const form = new FormData();
    form.append('file', file, 'a.csv');
    expect((await new Response(form).arrayBuffer()).byteLength).toBeGreaterThan(SIZE);
  });

  it('a file in a form that is removed before the form is sent fails the call, which names the body', async () => {
    const { path } = await someFile();
    const server = await startServer([{ data: {} }]);
    const form = new FormData();
    form.append('file', await openFile(path), 'a.csv');
    await rm(path);
    const error = await failureOf(clientOf(server).request('POST', '/api/v2/things', { body: form }));
    expect(error).toMatchObject({ name: 'ValidationError', local: true, errors: { body: [expect.any(String)] } });
    expect(String(error)).toContain('cannot be read');
    expect(await server.seen()).toEqual([]);
  });

  it('is uploaded completely, also again after a cut, and closed', async () => {
    const { path, directory } = await someFile();
    const { client, storage } = await startStorage([{ upload: 'cut' }, {}]);
    const file = await openFile(path);
    await client.uploads.upload({ kind: 'cohort', data: file });
    const [, second] = await storage.seen();
    expect(second?.headers['content-length']).toBe(String(SIZE));
    expect(second?.body).toBe(`${SIZE} bytes`);
    expect(await openFilesBelow(directory)).toEqual([]);
  });

  it.each([
    ['grows', (path: string) => appendFile(path, 'more')],
    ['shrinks', (path: string) => truncate(path, SIZE - 1)],
    ['is rewritten', (path: string) => writeFile(path, pattern(SIZE).reverse())],
    [
      'is replaced',
      async (path: string) => {
        await writeFile(`${path}.new`, pattern(SIZE));
        await rename(`${path}.new`, path);
      },
    ],
  ])(
    'a file opened by its path that %s before it is sent fails the upload; the slot stays usable',
    async (_, change) => {
      const { path, directory } = await someFile();
      const { client, reservation } = await startStorage([{}]);
      const file = await openFile(path);
      await new Promise((resolve) => setTimeout(resolve, 5));
      await change(path);
      const error = await failureOf(client.uploads.send(reservation, file));
      expect(error).toMatchObject({ name: 'FileError', code: 'file-changed', path, slot: 'usable' });
      expect(await openFilesBelow(directory)).toEqual([]);
    },
  );

  it('a file opened by its path that changes while it is sent fails the upload', () =>
    quickly(async () => {
      const { path, directory } = await someFile(8_000_000);
      const { client, reservation } = await startStorage([{ upload: 'stall' }]);
      const file = await openFile(path);
      let changed = false;
      const onProgress = (): void => {
        if (changed) return;
        changed = true;
        void appendFile(path, 'more');
      };
      const error = await failureOf(client.uploads.send(reservation, file, { onProgress }));
      expect(error).toMatchObject({ code: 'file-changed', slot: 'usable' });
      expect(await openFilesBelow(directory)).toEqual([]);
    }));

  it.each<[string, (path: string) => void]>([
    ['removed', (path) => rmSync(path)],
    [
      'replaced',
      (path) => {
        writeFileSync(`${path}.new`, pattern(SIZE));
        renameSync(`${path}.new`, path);
      },
    ],
  ])('a file opened by its path that is %s while it is sent fails the upload', async (_, change) => {
    const { path } = await someFile(8_000_000);
    const { client, reservation } = await startStorage([{}]);
    let changed = false;
    const onProgress = (): void => {
      if (!changed) change(path);
      changed = true;
    };
    const error = await failureOf(client.uploads.send(reservation, await openFile(path), { onProgress }));
    expect(error).toMatchObject({ code: 'file-changed', path, slot: 'usable' });
  });

  it('a file opened by its path that is removed before it is sent fails the upload', async () => {
    const { path } = await someFile();
    const { client, reservation } = await startStorage([{}]);
    const file = await openFile(path);
    await rm(path);
    expect(await failureOf(client.uploads.send(reservation, file))).toMatchObject({
      code: 'file-unreadable',
      path,
      slot: 'usable',
    });
  });

  it('a refusal that arrives during the upload of a file closes the file and keeps its reason', async () => {
    const { path, directory } = await someFile(30_000_000);
    const text = '<Error><Code>AccessDenied</Code><Message>Request has expired</Message></Error>';
    const isClosed = () => eventually(async () => expect(await openFilesBelow(directory)).toEqual([]));
    const storage = await serve((request, response) => {
      request.once('data', () => {
        response.writeHead(403).flushHeaders();
        void isClosed().then(() => response.end(text));
      });
    });
    const { client, reservation } = await startStorage([]);
    const slot = { ...reservation, url: `${storage.url}/slot` };
    const error = await failureOf(client.uploads.send(slot, await openFile(path)));
    expect(error).toMatchObject({ status: 403, slot: 'unusable', body: 'AccessDenied: Request has expired' });
  });

  it.each([0, 1, 10, 100])(
    'a file opened by its path whose upload is aborted after %i ms leaves nothing open',
    async (after) => {
      const { path, directory } = await someFile(30_000_000);
      const storage = await serve((request) => void request.pause());
      const { client, reservation } = await startStorage([{}]);
      const file = await openFile(path);
      const slot = { ...reservation, url: `${storage.url}/slot` };
      const sending = failureOf(client.uploads.send(slot, file, { signal: AbortSignal.timeout(after) }));
      expect(await sending).toMatchObject({ name: 'TimeoutError' });
      await eventually(async () => expect(await openFilesBelow(directory)).toEqual([]));
    },
  );

  it('a file opened by its path that does not exist, or is not a file, rejects', async () => {
    const directory = await temporaryDirectory();
    expect(await failureOf(openFile(join(directory, 'missing')))).toMatchObject({
      name: 'FileError',
      code: 'file-unreadable',
    });
    expect(await failureOf(openFile(directory))).toMatchObject({ code: 'file-unreadable', path: directory });
  });
});
