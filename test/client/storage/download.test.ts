import { describe, expect, it } from 'vitest';
import type { AudienceClient, Download, DownloadProgress, EndEvent } from '../../../src/index.ts';
import { everything } from '../../support/everything.ts';
import { quickly } from '../../support/quickly.ts';
import { pattern, type Step } from '../../support/script.ts';
import { clientOf, failureOf, startServer, type TestServer } from '../../support/server.ts';
import { bytesOf, inBrowser, SIGNATURE, wireActivation } from '../../support/storage.ts';

const SIZE = 3_000_000;
const FILE: Step = { bytes: SIZE, headers: { etag: '"v1"' } };
const CONTENT = pattern(SIZE);

/** Returns whether bytes are the content of the file. `toEqual` takes a second for as many. */
const isContent = (bytes: Uint8Array): boolean =>
  bytes.length === SIZE && bytes.every((byte, at) => byte === CONTENT[at]);

/** A client whose activation 7 has its results in storage that responds by a script. */
async function startResults(
  steps: readonly Step[],
  status?: { id: number; name: string },
): Promise<{ client: AudienceClient; storage: TestServer; api: TestServer }> {
  const storage = await startServer(steps);
  const uri = `${storage.url}/results/7/devices.csv?X-Signature=${SIGNATURE}`;
  const api = await startServer([{ data: [wireActivation(uri, status)] }]);
  return { storage, api, client: clientOf(api, { token: 'canary-token' }) };
}

async function firstOf(downloads: AsyncIterable<Download>): Promise<Download> {
  for await (const download of downloads) return download;
  throw new Error('No downloads.');
}

describe('the end of a download', () => {
  const collect = async (steps: readonly Step[]) => {
    const { client, storage } = await startResults(steps);
    const ends: EndEvent[] = [];
    const observed = client.withOptions({ onEnd: (event) => ends.push(event), maxRetries: 0 });
    const stream = await (await firstOf(observed.activations.download(7))).open().catch(() => undefined);
    const of = () => ends.filter(({ operation }) => operation === 'activations.download');
    return { stream, of, storage };
  };

  it('is a success once all bytes have been read, and an abort if the stream is cancelled', async () => {
    const { stream, of } = await collect([FILE]);
    expect(of()).toEqual([]);
    if (stream) await bytesOf(stream);
    expect(of()).toMatchObject([{ outcome: 'success', attempt: 1, status: 200 }]);
    const second = await collect([FILE]);
    await second.stream?.cancel();
    expect(second.of()).toMatchObject([{ outcome: 'aborted' }]);
  });

  it('is the reason of an abort, and the error of a closed client', async () => {
    const ends: EndEvent[] = [];
    const arounds: unknown[] = [];
    for (const stop of ['abort', 'close'] as const) {
      const { client } = await startResults([FILE]);
      const controller = new AbortController();
      const observed = client.withOptions({
        onEnd: (event) => ends.push(event),
        around: (_, next) => next().catch((error) => arounds.push(error)),
      });
      const download = await firstOf(observed.activations.download(7, { signal: controller.signal }));
      ends.length = 0;
      const stream = await download.open();
      if (stop === 'abort') controller.abort();
      else await client.close();
      const error = await stream
        .getReader()
        .read()
        .catch((reason: unknown) => reason);
      const outcome = stop === 'abort' ? 'aborted' : 'failure';
      expect(ends).toMatchObject([{ operation: 'activations.download', outcome, error }]);
      await expect.poll(() => arounds.at(-1)).toBe(error);
    }
  });

  it('is reported if it is aborted before `around` begins it', async () => {
    const { client } = await startResults([FILE]);
    const ends: EndEvent[] = [];
    const controller = new AbortController();
    const observed = client.withOptions({
      onEnd: (event) => ends.push(event),
      around: ({ operation }, next) => (operation === 'activations.download' ? new Promise(() => {}) : next()),
    });
    const download = await firstOf(observed.activations.download(7, { signal: controller.signal }));
    const opening = download.open().catch((error: unknown) => error);
    controller.abort();
    expect(await opening).toBe(controller.signal.reason);
    expect(ends.at(-1)).toMatchObject({ operation: 'activations.download', outcome: 'aborted', attempt: 0 });
  });

  it('is a failure if storage refuses, with the error and without its query', async () => {
    const { of } = await collect([{ status: 403 }]);
    expect(of()).toMatchObject([{ outcome: 'failure', status: 403, error: expect.any(Error) }]);
    expect(JSON.stringify(of())).not.toContain(SIGNATURE);
  });
});

describe('results of an activation', () => {
  it('are names and URIs; an activation passed as completed needs no request', async () => {
    const { client, api } = await startResults([FILE]);
    const results = await client.activations.results(7);
    expect(results).toEqual([{ name: 'devices', uri: expect.stringContaining('/results/7/devices.csv') }]);
    const activation = await client.activations.get(7);
    expect(await client.activations.results(activation)).toEqual(results);
    expect(await api.seen()).toHaveLength(2);
  });

  it('are fetched where the activation passed was not completed yet', async () => {
    const { client } = await startResults([FILE]);
    const before = { ...(await client.activations.get(7)), status: { id: 105, name: 'DataStreaming' } };
    expect(await client.activations.results(before)).toHaveLength(1);
  });

  it.each([
    [105, 'DataStreaming', 'ResultsNotReadyError', 'results-not-ready'],
    [107, 'Additional Info', 'JobNeedsInfoError', 'job-needs-info'],
    [401, 'Failed', 'JobFailedError', 'job-failed'],
  ])('results of an activation at %i %s reject with the matching error', async (id, name, error, code) => {
    const { client, storage } = await startResults([FILE], { id, name });
    const expected = { name: error, code, kind: 'activation', id: 7, resource: { status: { id } } };
    expect(await failureOf(client.activations.results(7))).toMatchObject(expected);
    expect(await failureOf(firstOf(client.activations.download(7)))).toMatchObject(expected);
    expect(await storage.seen()).toEqual([]);
  });
});

describe('a download', () => {
  it('a download of a result without an http(s) link rejects, with at most 200 characters of its name', async () => {
    const row = wireActivation('ftp://storage.example/f');
    const stream = { name: 'n'.repeat(100_000), status: 'Delivered', results: { uri: 'ftp://storage.example/f' } };
    const api = await startServer([{ data: [{ ...row, datastreams: [stream] }] }]);
    const { open } = await firstOf(clientOf(api).activations.download(7));
    const error = await failureOf(open());
    expect(error).toMatchObject({ name: 'ResponseError', message: expect.stringContaining('a ftp: link') });
    expect(String(error).length).toBeLessThan(500);
  });

  it('reads the file, and sends no token to storage', async () => {
    const { client, storage } = await startResults([FILE]);
    const seen: DownloadProgress[] = [];
    const download = await firstOf(client.activations.download(7, { onProgress: (progress) => seen.push(progress) }));
    expect(download).toMatchObject({ name: 'devices', fileName: 'devices.csv' });
    expect(isContent(await bytesOf(await download.open()))).toBe(true);
    const [get] = await storage.seen();
    for (const name of ['authorization', 'cookie', 'idempotency-key', 'range'])
      expect(get?.headers).not.toHaveProperty(name);
    const loaded = seen.map((progress) => progress.loaded);
    expect(loaded).toEqual([...loaded].sort((a, b) => a - b));
    expect(seen.at(-1)).toEqual({ name: 'devices', loaded: SIZE, total: SIZE });
  });

  it('reports progress immediately, then at most every 50 ms, and at the end', async () => {
    const { client } = await startResults([FILE]);
    const times: number[] = [];
    const onProgress = (): void => void times.push(performance.now());
    const { open } = await firstOf(client.activations.download(7, { onProgress }));
    await (await open()).pipeTo(new WritableStream());
    const gaps = times.slice(1, -1).map((time, at) => time - (times[at] ?? 0));
    expect(times.length).toBeGreaterThan(1);
    for (const gap of gaps) expect(gap).toBeGreaterThan(45);
  });

  it('can be opened again', async () => {
    const { client } = await startResults([FILE]);
    const { open } = await firstOf(client.activations.download(7));
    await (await open()).cancel();
    expect(isContent(await bytesOf(await open()))).toBe(true);
  });

  it('resumes where it was cut or stalled, as long as the file is the same', () =>
    quickly(async () => {
      const cut: Step = { ...FILE, fault: 'cut-body' };
      const { client, storage } = await startResults(
        inBrowser ? [cut] : [cut, { ...FILE, fault: 'stall-body' }, { status: 503 }, FILE],
      );
      const { open } = await firstOf(client.activations.download(7));
      const stream = await open();
      if (inBrowser) {
        // Browsers do not show whether the file is still the same, in the same encoding.
        expect(await failureOf(bytesOf(stream))).toMatchObject({ name: 'ConnectionError' });
        return;
      }
      expect(isContent(await bytesOf(stream))).toBe(true);
      expect((await storage.seen()).map(({ headers }) => headers.range)).toEqual([
        undefined,
        ...[SIZE / 2, SIZE * 0.75, SIZE * 0.75].map((from) => `bytes=${from}-`),
      ]);
    }));

  it('a download that cannot be opened is retried', async () => {
    const { client, storage } = await startResults([{ fault: 'cut' }, { status: 503 }, FILE]);
    const { open } = await firstOf(client.activations.download(7));
    expect(await bytesOf(await open())).toHaveLength(SIZE);
    expect((await storage.seen()).length).toBeGreaterThanOrEqual(3);
  });

  it.each([
    ['without a version', [{ bytes: SIZE, fault: 'cut-body' }], { name: 'ConnectionError' }],
    [
      'that has changed',
      [
        { ...FILE, fault: 'cut-body' },
        // Cut again: a browser may see the first cut before it has read a byte, and start over.
        { ...FILE, headers: { etag: '"v2"' }, ...(inBrowser && { fault: 'cut-body' }) },
      ],
      inBrowser ? { name: 'ConnectionError' } : { name: 'ResponseError' },
    ],
    ['that stalls', [{ bytes: SIZE, fault: 'stall-body' }], { name: 'TimeoutError', code: 'idle-timeout' }],
  ] satisfies [string, Step[], object][])('a download of a file %s, cut at half, rejects', (_, steps, expected) =>
    quickly(async () => {
      const { client } = await startResults(steps);
      const { open } = await firstOf(client.activations.download(7, { idleTimeout: 5_000 }));
      const error = await failureOf((await open()).pipeTo(new WritableStream()));
      expect(error).toMatchObject({ ...expected, operation: 'activations.download' });
      expect(everything(error)).not.toContain(SIGNATURE);
    }),
  );

  /** A client whose links expire, at the given reads of the activation, to storage that responds by a script. */
  async function startExpiring(steps: readonly Step[], links: readonly string[]) {
    const storage = await startServer(steps);
    const reads = links.map((link) => ({ data: [wireActivation(`${storage.url}${link}?X-Signature=${SIGNATURE}`)] }));
    const api = await startServer(reads);
    return { storage, api, client: clientOf(api) };
  }

  it.each([400, 403, 404, 410])('a link that storage refuses with %i is read again once', async (status) => {
    const { client, storage, api } = await startExpiring([{ status }, FILE], ['/old.csv', '/new.csv']);
    const { open } = await firstOf(client.activations.download(7));
    expect(await bytesOf(await open())).toHaveLength(SIZE);
    expect((await storage.seen()).map(({ url }) => url.split('?')[0])).toEqual(['/old.csv', '/new.csv']);
    expect(await api.seen()).toHaveLength(2);
  });

  it('a new link that storage refuses, too, is the end', async () => {
    const { client, storage, api } = await startExpiring([{ status: 403 }], ['/1.csv', '/2.csv', '/3.csv']);
    const { open } = await firstOf(client.activations.download(7));
    expect(await failureOf(open())).toMatchObject({ name: 'PermissionError' });
    expect([(await storage.seen()).length, (await api.seen()).length]).toEqual([2, 2]);
  });

  it.runIf(!inBrowser)('a cut download whose link has expired resumes with a new link', () =>
    quickly(async () => {
      const cut: Step = { ...FILE, fault: 'cut-body' };
      const { client, storage } = await startExpiring([cut, { status: 403 }, FILE], ['/old.csv', '/new.csv']);
      const { open } = await firstOf(client.activations.download(7));
      expect(isContent(await bytesOf(await open()))).toBe(true);
      expect((await storage.seen()).at(-1)).toMatchObject({ headers: { range: `bytes=${SIZE / 2}-` } });
    }),
  );

  it.each([
    [
      { status: 403, text: `<Error><Message>Request has expired</Message><Q>${SIGNATURE}</Q></Error>` },
      { name: 'PermissionError', message: expect.stringContaining('Request has expired') },
    ],
    [{ status: 404 }, { name: 'NotFoundError' }],
    [{ status: 500 }, { name: 'ServerError', attempts: 5 }],
    [{ fault: 'stall' } as const, { name: 'TimeoutError', code: 'idle-timeout' }],
  ])('a download that storage refuses by %j rejects, without the query', (step, expected) =>
    quickly(async () => {
      const { client } = await startResults([step]);
      const idleTimeout = 'fault' in step ? 100 : 30_000;
      const { open } = await firstOf(client.activations.download(7, { idleTimeout }));
      const error = await failureOf(open());
      expect(error).toMatchObject(expected);
      expect(everything(error)).not.toContain(SIGNATURE);
    }),
  );

  it('a download that is redirected rejects, and is not sent to the other address', async () => {
    const elsewhere = await startServer([{}]);
    const { client } = await startResults([{ status: 302, headers: { location: elsewhere.url } }]);
    const { open } = await firstOf(client.activations.download(7));
    expect(await failureOf(open())).toMatchObject({ code: 'redirect-refused' });
    expect(await elsewhere.seen()).toEqual([]);
  });

  it('rejects with the reason of an abort, also between two reads', async () => {
    const { client } = await startResults([FILE]);
    const { open } = await firstOf(client.activations.download(7));
    expect(await failureOf(open(AbortSignal.abort('early')))).toBe('early');
    const controller = new AbortController();
    const reader = (await open(controller.signal)).getReader();
    await reader.read();
    controller.abort('enough');
    expect(await failureOf(reader.closed)).toBe('enough');
  });

  it('is ended by closing the client', async () => {
    const { client } = await startResults([{ ...FILE, fault: 'stall-body' }]);
    const { open } = await firstOf(client.activations.download(7));
    const reading = failureOf(bytesOf(await open()));
    await client.close();
    expect(await reading).toMatchObject({ code: 'client-closed' });
  });

  it('a download that is not read does not time out', () =>
    quickly(async () => {
      const { client } = await startResults([FILE]);
      const { open } = await firstOf(client.activations.download(7, { idleTimeout: 1_500 }));
      const reader = (await open()).getReader();
      await reader.read();
      await new Promise((resolve) => setTimeout(resolve, 2_000));
      await expect(reader.read()).resolves.toMatchObject({ done: false });
      await reader.cancel();
    }));

  it.each(['s3://bucket/key?secret=1', 'file:///etc/passwd', 'no uri', ''])(
    'a download of %j, which is not an http(s) link, rejects',
    async (uri) => {
      const api = await startServer([{ data: wireActivation(uri) }]);
      const { open } = await firstOf(clientOf(api).activations.download(7));
      const error = await failureOf(open());
      expect(error).toMatchObject({ name: 'ResponseError', code: 'response-invalid' });
      expect(String(error)).toContain('http(s)');
      expect(String(error)).not.toContain('secret');
    },
  );
});
