import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, open, readdir, readFile, writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { basename, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Activation, AudienceClient, DownloadProgress } from '../../src/index.ts';
import { downloadTo } from '../../src/node/index.ts';
import { openFilesBelow, temporaryDirectory } from '../support/directory.ts';
import { eventually } from '../support/eventually.ts';
import { type FileServer, serve } from '../support/file-server.ts';
import { pattern } from '../support/script.ts';
import { clientOf, failureOf, startServer } from '../support/server.ts';
import { wireActivation } from '../support/storage.ts';

const SIZE = 2_000_000;
const body = pattern(SIZE);

interface Results {
  readonly client: AudienceClient;
  readonly storage: FileServer;
  readonly apiUrl: string;
  readonly directory: string;
}

/** A client whose activation 7 has results of these names. */
async function startResults(
  respond: (response: ServerResponse) => void,
  names: readonly string[] = ['devices'],
): Promise<Results> {
  const storage = await serve((_, response) => respond(response));
  const activation = wireActivation('');
  const datastreams = names.map((name) => ({
    name,
    status: 'Delivered',
    results: { uri: `${storage.url}/r/x.csv.gz?s=1` },
  }));
  const api = await startServer([{ data: [{ ...activation, datastreams }] }]);
  return { client: clientOf(api), storage, apiUrl: api.url, directory: await temporaryDirectory() };
}

const complete = (response: ServerResponse): void => void response.writeHead(200, { 'content-length': SIZE }).end(body);
const half = (response: ServerResponse): void =>
  void response.writeHead(200, { 'content-length': SIZE }).write(body.subarray(0, SIZE / 2));

/** Storage that responds with parts of one file: status, from, to, and the total it reports; 0 for none. A 200 is cut at half. */
async function startParts(responses: readonly (readonly [number, number, number, number])[]): Promise<Results> {
  let next = 0;
  return startResults((response) => {
    const [status, from, to, total] = responses[Math.min(next++, responses.length - 1)] ?? [500, 0, 0, 0];
    const range = status === 416 ? `bytes */${total}` : `bytes ${from}-${to - 1}/${total}`;
    response.writeHead(status, {
      etag: '"v1"',
      ...(status !== 200 && { 'content-range': range }),
      ...(status === 200 && total > 0 && { 'content-length': total }),
    });
    const part = body.subarray(from, status === 200 ? to / 2 : to);
    if (status === 200) response.write(part, () => setTimeout(() => response.destroy(), 20));
    else response.end(part);
  });
}

describe('results downloaded to a directory', () => {
  it('are complete files, in a directory that is created', async () => {
    const { client, directory } = await startResults(complete);
    const target = join(directory, 'new', 'results');
    const seen: DownloadProgress[] = [];
    const files = await downloadTo(client, 7, target, { onProgress: (progress) => seen.push(progress) });
    expect(files).toEqual([{ name: 'devices', path: join(target, 'devices.csv.gz'), size: SIZE }]);
    expect(new Uint8Array(await readFile(files[0]?.path ?? ''))).toEqual(body);
    expect(await readdir(target)).toEqual(['devices.csv.gz']);
    expect(seen.at(-1)).toEqual({ name: 'devices', loaded: SIZE, total: SIZE });
    expect(await openFilesBelow(directory)).toEqual([]);
  });

  it('replace the files of an earlier download', async () => {
    const { client, directory } = await startResults(complete);
    await writeFile(join(directory, 'devices.csv.gz'), 'old');
    await downloadTo(client, 7, directory);
    expect(await readdir(directory)).toEqual(['devices.csv.gz']);
    expect(await readFile(join(directory, 'devices.csv.gz'))).toHaveLength(SIZE);
  });

  it('downloaded results without content or a length are empty files', async () => {
    const { client, directory } = await startResults((response) => void response.writeHead(200).end());
    const seen: DownloadProgress[] = [];
    const [file] = await downloadTo(client, 7, directory, { onProgress: (progress) => seen.push(progress) });
    expect(file).toMatchObject({ size: 0 });
    expect(seen).toEqual([{ name: 'devices', loaded: 0, total: 0 }]);
  });

  it.each(['gzip', 'X-GZIP'])(
    'lose the extension of a compression that `Content-Encoding: %s` makes `fetch` remove',
    async (encoding) => {
      const { client, storage, directory } = await startResults(
        (response) => void response.writeHead(200, { 'content-encoding': encoding }).end(gzipSync(body)),
      );
      const datastreams = ['x.csv.gz', 'x.csv'].map((file) => ({
        name: 'devices',
        status: 'Delivered',
        results: { uri: `${storage.url}/${file}` },
      }));
      const activation = { ...wireActivation(''), datastreams } as unknown as Activation;
      const files = await downloadTo(client, activation, directory);
      expect(files.map(({ path }) => basename(path))).toEqual(['devices-2.csv', 'devices.csv']);
      for (const { path } of files) expect(new Uint8Array(await readFile(path))).toEqual(body);
    },
  );

  it('never leave the directory, whatever their names', async () => {
    const names = [
      '../../etc/passwd',
      'a/b',
      '..',
      '',
      'CON',
      'com¹',
      'lpt3 .x',
      'devices',
      'DEVICES',
      'x'.repeat(300),
      'Geräte 1',
      'a\0b',
      'devices.csv.gz',
    ];
    const { client, directory } = await startResults(complete, names);
    const files = await downloadTo(client, 7, join(directory, 'in'));
    expect(files.map(({ name }) => name)).toEqual(names);
    expect(await readdir(directory)).toEqual(['in']);
    const entries = await readdir(join(directory, 'in'));
    expect(entries).toHaveLength(names.length);
    expect(new Set(entries.map((name) => name.toLowerCase())).size).toBe(names.length);
    expect(entries).toEqual(
      expect.arrayContaining([
        '_CON.csv.gz',
        '_com¹.csv.gz',
        '_lpt3 .x.csv.gz',
        'devices.csv.gz',
        'Geräte 1.csv.gz',
        'results.csv.gz',
      ]),
    );
  });

  it.each([
    [
      'cut at half',
      (response: ServerResponse) => {
        half(response);
        setTimeout(() => response.destroy(), 20);
      },
      { name: 'ConnectionError' },
    ],
    ['stalled at half', half, { name: 'TimeoutError', code: 'idle-timeout' }],
    ['refused', (response: ServerResponse) => void response.writeHead(403).end(), { name: 'PermissionError' }],
  ])('downloaded results that are %s leave no file and nothing open', async (_, respond, expected) => {
    const { client, directory, storage } = await startResults(respond);
    expect(await failureOf(downloadTo(client, 7, directory, { idleTimeout: 200 }))).toMatchObject(expected);
    expect(await readdir(directory)).toEqual([]);
    expect(await openFilesBelow(directory)).toEqual([]);
    await eventually(() => expect(storage.busy()).toBe(0));
  });

  it.each([
    ['a part of the file first', [[206, 0, 1_000, SIZE]]],
    ['nothing, as 204', [[204, 0, 0, 0]]],
    [
      'another part than asked for',
      [
        [200, 0, SIZE, SIZE],
        [206, 5, SIZE, SIZE],
      ],
    ],
    [
      'a file of another length',
      [
        [200, 0, SIZE, SIZE],
        [206, SIZE / 2, SIZE, SIZE + 500],
      ],
    ],
    [
      'the entire file again',
      [
        [200, 0, SIZE, SIZE],
        [200, 0, SIZE, SIZE],
      ],
    ],
  ] satisfies [string, [number, number, number, number][]][])(
    'downloads for which storage responds with %s reject, and leave no file',
    async (_, responses) => {
      const { client, directory } = await startParts(responses);
      expect(await failureOf(downloadTo(client, 7, directory))).toMatchObject({ name: 'ResponseError' });
      expect(await readdir(directory)).toEqual([]);
    },
  );

  it('a downloaded file whose length only its parts report is complete', async () => {
    const { client, directory } = await startParts([
      [200, 0, SIZE, 0],
      [206, SIZE / 2, SIZE / 2 + 1_000, SIZE],
      [206, SIZE / 2 + 1_000, SIZE, SIZE],
    ]);
    const [file] = await downloadTo(client, 7, directory);
    expect(new Uint8Array(await readFile(file?.path ?? ''))).toEqual(body);
  });

  it('a download is complete if it received all bytes and only the end of the response was lost', async () => {
    const { client, directory } = await startParts([
      [200, 0, SIZE * 2, 0],
      [416, 0, 0, SIZE],
    ]);
    const [file] = await downloadTo(client, 7, directory);
    expect(file?.size).toBe(SIZE);
  });

  it('stop at a disk error also where a `fetch` keeps a copy of the response', async () => {
    const { apiUrl, directory, storage } = await startResults(half);
    const kept: Response[] = [];
    const keeping = async (input: Request | URL | string, init?: RequestInit): Promise<Response> => {
      const response = await fetch(input, init);
      kept.push(response.clone());
      return response;
    };
    await writeFile(join(directory, 'a-file'), '');
    const client = clientOf({ url: apiUrl }, { fetch: keeping });
    expect(await failureOf(downloadTo(client, 7, join(directory, 'a-file')))).toMatchObject({
      code: 'file-unwritable',
    });
    for await (const { open: start } of client.activations.download(7)) {
      for await (const chunk of await start()) if (chunk.length > 0) break;
    }
    await eventually(() => expect(storage.busy()).toBe(0));
  });

  it.each([0, 5, 50])('a download that is aborted after %i ms leaves no file and nothing open', async (after) => {
    const { client, directory, storage } = await startResults(half);
    const error = await failureOf(downloadTo(client, 7, directory, { signal: AbortSignal.timeout(after) }));
    expect(error).toMatchObject({ name: 'TimeoutError' });
    expect(await readdir(directory)).toEqual([]);
    expect(await openFilesBelow(directory)).toEqual([]);
    await eventually(() => expect(storage.busy()).toBe(0));
  });

  it('saves the other results when one has no link or fails, and names both', async () => {
    const { client, directory } = await startResults(complete, ['google', 'meta', 'tiktok', 'x']);
    const activation = await client.activations.get(7);
    const [google, meta, tiktok, x] = activation.datastreams;
    const datastreams = [google, { ...meta, results: null }, tiktok, { ...x, results: { uri: 'http://127.0.0.1:1/' } }];
    const error = await failureOf(
      downloadTo(client.withOptions({ maxRetries: 0 }), { ...activation, datastreams } as Activation, directory),
    );
    expect(error).toMatchObject({
      name: 'DownloadError',
      code: 'download-incomplete',
      message: expect.stringContaining('2 of 4 results were saved. "meta": '),
      saved: [
        { name: 'google', size: SIZE },
        { name: 'tiktok', size: SIZE },
      ],
      failed: [
        { name: 'meta', reason: expect.stringContaining('missing') },
        { name: 'x', reason: expect.stringContaining('could not reach storage') },
      ],
      cause: { code: 'response-invalid' },
    });
    expect((await readdir(directory)).sort()).toEqual(['google.csv.gz', 'tiktok.csv.gz']);
  });

  it('a download to a disk that fills up rejects with `disk-full`', async () => {
    const { client, directory, storage } = await startResults(complete);
    const probe = await open(join(directory, 'probe'), 'w');
    const handles: { writev(chunks: readonly Uint8Array[]): Promise<unknown> } = Object.getPrototypeOf(probe);
    await probe.close();
    // As the kernel does it: what fits is written, then nothing more.
    const real = handles.writev;
    let bytesLeft = 700_000;
    const writev = vi.spyOn(handles, 'writev').mockImplementation(function (this: unknown, chunks) {
      const fits = chunks.reduce((sum, { length }) => sum + length, 0) <= bytesLeft;
      if (!fits)
        return Promise.reject(Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' }));
      bytesLeft -= chunks.reduce((sum, { length }) => sum + length, 0);
      return real.call(this, chunks);
    });
    onTestFinished(() => writev.mockRestore());
    const error = await failureOf(downloadTo(client, 7, directory));
    expect(error).toMatchObject({ name: 'FileError', code: 'disk-full', path: join(directory, 'devices.csv.gz') });
    expect(await readdir(directory)).toEqual(['probe']);
    expect(await openFilesBelow(directory)).toEqual([]);
    await eventually(() => expect(storage.busy()).toBe(0));
  });

  it('a download that cannot be written rejects with the reason', async () => {
    const { client, directory, storage } = await startResults(complete);
    await writeFile(join(directory, 'a-file'), '');
    const inFile = await failureOf(downloadTo(client, 7, join(directory, 'a-file')));
    expect(inFile).toMatchObject({ name: 'FileError', code: 'file-unwritable' });
    await mkdir(join(directory, 'devices.csv.gz'));
    const overDirectory = await failureOf(downloadTo(client, 7, directory));
    expect(overDirectory).toMatchObject({ name: 'FileError', code: 'file-unwritable' });
    expect((await readdir(directory)).sort()).toEqual(['a-file', 'devices.csv.gz']);
    await eventually(() => expect(storage.busy()).toBe(0));
  });

  it('a file that a killed process was downloading does not have its final name', async () => {
    const { apiUrl, directory, storage } = await startResults(half);
    const child = fork(new URL('./download-process.ts', import.meta.url), [apiUrl, directory]);
    const exited = once(child, 'exit');
    await eventually(() => expect(storage.busy()).toBe(1));
    await eventually(async () => expect(await readdir(directory)).toHaveLength(1));
    child.kill('SIGKILL');
    await exited;
    expect(await readdir(directory)).toEqual([expect.stringMatching(/^\..*\.part$/)]);
  });
});
