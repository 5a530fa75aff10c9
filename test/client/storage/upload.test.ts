import { describe, expect, it } from 'vitest';
import { readErrorText } from '../../../src/client/storage/storage-errors.ts';
import { ApiError, CLAIM_WINDOW, type EndEvent, type UploadProgress } from '../../../src/index.ts';
import { eventually } from '../../support/eventually.ts';
import { everything } from '../../support/everything.ts';
import { quickly } from '../../support/quickly.ts';
import { pattern } from '../../support/script.ts';
import { clientOf, failureOf, startServer } from '../../support/server.ts';
import { inBrowser, SIGNATURE, startStorage } from '../../support/storage.ts';
import { latin1, streamOf } from './support/streams.ts';

const SIZE = 300_000;
const data = pattern(SIZE);

describe('an upload', () => {
  it.each([
    ['a Blob', () => ({ data: new Blob([data], { type: 'text/csv' }) })],
    ['a File', () => ({ data: new File([data], 'a.csv', { type: 'text/csv' }) })],
    ['a Uint8Array', () => ({ data })],
    ['a stream', () => ({ data: streamOf(data).stream, size: SIZE })],
  ])('sends all of %s with its length, and no headers of the client', async (_, input) => {
    const { client, storage, api } = await startStorage([{}]);
    const startedAt = Date.now();
    const upload = await client.uploads.upload({ kind: 'cohort', ...input() });
    expect(upload.reference).toBe('upl_1');
    expect(upload.claimBefore.getTime()).toBeGreaterThanOrEqual(startedAt + CLAIM_WINDOW);
    expect(upload.claimBefore.getTime() - Date.now()).toBeLessThanOrEqual(CLAIM_WINDOW);
    const [put] = await storage.seen();
    expect(put?.method).toBe('PUT');
    expect(put?.url).toContain(SIGNATURE);
    expect(put?.body === latin1(data)).toBe(true);
    expect(put?.headers['content-length']).toBe(String(SIZE));
    expect(put?.headers['transfer-encoding']).toBeUndefined();
    for (const name of ['authorization', 'idempotency-key', 'content-type', 'cookie'])
      expect(put?.headers).not.toHaveProperty(name);
    expect(put?.headers['user-agent']).not.toContain('audience-activation');
    const [reserve] = await api.seen();
    expect(JSON.parse(reserve?.body ?? '')).toEqual({ kind: 'cohort', size: SIZE });
  });

  it('takes its options last; the earlier form has them in the first argument, which they override', async () => {
    const { client, storage } = await startStorage([{}]);
    const seen: string[] = [];
    const report = (name: string) => (): void => void seen.push(name);
    await client.uploads.upload({ kind: 'cohort', data }, { onProgress: report('last'), headers: { 'x-extra': '1' } });
    await client.uploads.upload({ kind: 'cohort', data, onProgress: report('first'), headers: { 'x-extra': '2' } });
    await client.uploads.upload(
      { kind: 'cohort', data, onProgress: report('first'), headers: { 'x-extra': '3' } },
      { onProgress: report('both') },
    );
    expect([...new Set(seen)]).toEqual(['last', 'first', 'both']);
    expect((await storage.seen()).map(({ headers }) => headers['x-extra'])).toEqual(['1', '2', '3']);
  });

  it('is aborted by the signal of either argument', async () => {
    const { client, storage } = await startStorage([{}]);
    const signal = AbortSignal.abort(new Error('stop'));
    await expect(client.uploads.upload({ kind: 'cohort', data }, { signal })).rejects.toThrow('stop');
    await expect(client.uploads.upload({ kind: 'cohort', data, signal }, {})).rejects.toThrow('stop');
    expect(await storage.seen()).toEqual([]);
  });

  it('refuses a second argument that is not an object, and options that belong to the first', async () => {
    const { client, api } = await startStorage([{}]);
    for (const options of ['x', { data }, { kind: 'cohort' }]) {
      const upload = client.uploads.upload({ kind: 'cohort', data }, options as object);
      await expect(upload).rejects.toMatchObject({ name: 'ConfigurationError' });
    }
    expect(await api.seen()).toEqual([]);
  });

  it('refuses empty data before anything is sent', async () => {
    const { client, api, reservation } = await startStorage([{}]);
    const stream = new ReadableStream<Uint8Array>({ start: (out) => out.close() });
    const kind = 'cohort';
    for (const upload of [
      () => client.uploads.upload({ kind, data: new Blob([]) }),
      () => client.uploads.upload({ kind, data: new Uint8Array(0) }),
      () => client.uploads.upload({ kind, data: stream, size: 0 }),
      () => client.uploads.send(reservation, new Blob([])),
      () => client.cohorts.import(new Blob([]), { name: 'Nobody' }),
    ])
      expect(await failureOf(upload())).toMatchObject({ name: 'ValidationError', local: true });
    expect(await api.seen()).toEqual([]);
  });

  it('sends the headers that its URL was signed for', async () => {
    const { client, reservation, storage } = await startStorage([{}]);
    await client.uploads.send(reservation, data, { headers: { 'Content-Type': 'text/csv' } });
    expect((await storage.seen())[0]?.headers['content-type']).toBe('text/csv');
  });

  it('reports progress that never decreases and reaches the total once storage has the file', () =>
    quickly(async () => {
      const { client, storage } = await startStorage([{ status: 503 }, { upload: 'cut' }, { upload: 'stall' }]);
      // More than sockets buffer, and a browser.
      const file = new Blob([new Uint8Array((inBrowser ? 24 : 8) * 2 ** 20)]);
      const { size } = file;
      const seen: UploadProgress[] = [];
      let stored = false;
      const onProgress = (progress: UploadProgress): void => {
        seen.push(progress);
        if (progress.loaded === size) expect(stored).toBe(false);
      };
      await client.uploads.upload({ kind: 'cohort', data: file }, { onProgress });
      stored = true;
      expect(await storage.seen()).toHaveLength(3);
      const loaded = seen.map((progress) => progress.loaded);
      expect(loaded).toEqual([...new Set(loaded)].sort((a, b) => a - b));
      expect(seen.at(-1)).toEqual({ loaded: size, total: size });
      expect(loaded.length).toBeGreaterThan(1);
    }));

  it('reports progress immediately, then at most every 50 ms, and at the end', async () => {
    const { client } = await startStorage([{}]);
    const seen: UploadProgress[] = [];
    const file = new Blob([new Uint8Array(8 * 2 ** 20)]);
    const onProgress = (progress: UploadProgress): number => seen.push(progress);
    const began = performance.now();
    await client.uploads.upload({ kind: 'cohort', data: file, onProgress });
    const duration = performance.now() - began;
    expect(seen.at(-1)).toEqual({ loaded: file.size, total: file.size });
    // The first report and the last one are due at any time.
    expect(seen.length).toBeLessThanOrEqual(2 + duration / 50);
  });

  it.each(['#part', '&x=%2b', '&x=%7E%41', '&x=ü y|z#'])('an upload to a URL with %j is stored', async (end) => {
    const { client, reservation, storage } = await startStorage([{}]);
    const slot = { ...reservation, url: `${reservation.url}${end}` };
    await expect(client.uploads.send(slot, new Blob([data]))).resolves.toMatchObject({ reference: 'upl_1' });
    expect(await storage.seen()).toHaveLength(1);
  });

  it('continues when its progress callback throws', async () => {
    const { client } = await startStorage([{}]);
    const onProgress = (): void => {
      throw new Error('no');
    };
    await expect(client.uploads.upload({ kind: 'cohort', data }, { onProgress })).resolves.toMatchObject({
      reference: 'upl_1',
    });
  });

  it('runs within `around`, and reports its end once', async () => {
    const ends: EndEvent[] = [];
    const operations: string[] = [];
    const { client } = await startStorage([{ status: 503 }, {}], {
      onEnd: (event) => ends.push(event),
      around: ({ operation }, next) => {
        operations.push(operation);
        return next();
      },
    });
    await client.uploads.upload({ kind: 'cohort', data: pattern(10) });
    expect(operations).toEqual(['uploads.reserve', 'uploads.send']);
    expect(ends).toMatchObject([
      { operation: 'uploads.reserve', outcome: 'success' },
      { operation: 'uploads.send', outcome: 'success', attempt: 2, status: 200, path: '/slots/1' },
    ]);
    expect(JSON.stringify(ends)).not.toContain(SIGNATURE);
  });

  it('reports each attempt to hooks, without the query', async () => {
    const lines: string[] = [];
    const note = (event: unknown): void => void lines.push(JSON.stringify(event));
    const { client, reservation } = await startStorage([{ status: 500 }, {}], {
      onRequest: note,
      onResponse: note,
      onRetry: note,
    });
    await client.uploads.send(reservation, data);
    expect(lines).toHaveLength(5);
    expect(lines.join()).toContain('/slots/1');
    expect(lines.join()).not.toContain(SIGNATURE);
  });
});

describe('an upload that fails', () => {
  it.each([
    [
      'cut at half',
      { upload: 'cut' } as const,
      { name: 'ConnectionError', code: 'connection-failed', slot: 'usable' },
      3,
    ],
    [
      'stalled at half',
      { upload: 'stall' } as const,
      { name: 'TimeoutError', code: 'idle-timeout', slot: 'usable' },
      3,
    ],
    [
      'without a response',
      { fault: 'stall' } as const,
      { name: 'TimeoutError', code: 'idle-timeout', slot: 'usable' },
      3,
    ],
    ['by 503', { status: 503, text: 'busy' }, { name: 'ServerError', status: 503, slot: 'usable', body: '' }, 3],
    [
      'by 403',
      { status: 403, text: `<Error><Message>Request has expired</Message><Q>${SIGNATURE}</Q></Error>` },
      { name: 'PermissionError', slot: 'unusable', body: 'Request has expired' },
      1,
    ],
    ['by 404', { status: 404 }, { name: 'NotFoundError', slot: 'unusable' }, 1],
    ['by 400', { status: 400 }, { name: 'ApiError', slot: 'unknown' }, 1],
  ])('(%s) rejects with an error that says what can be done with the slot', async (_, step, expected, attempts) => {
    const lines: string[] = [];
    const write = (message: string, fields?: unknown): void => void lines.push(`${message} ${JSON.stringify(fields)}`);
    const logger = { error: write, warn: write, info: write, debug: write };
    const { client, reservation, storage } = await startStorage([step], { maxRetries: 2, logger, logLevel: 'debug' });
    // A short timeout only where nothing moves: a busy machine is slow.
    const stalls = Object.values(step).includes('stall');
    const idleTimeout = stalls ? 150 : 30_000;
    const error = await quickly(() => failureOf(client.uploads.send(reservation, new Blob([data]), { idleTimeout })));
    expect(error).toMatchObject({ ...expected, operation: 'uploads.send', attempts });
    expect(String(error)).toMatch(/[Tt]he slot/);
    // In a browser on a busy machine, an attempt may time out before storage has read its request.
    if (stalls) expect((await storage.seen()).length).toBeLessThanOrEqual(attempts);
    else await eventually(async () => expect(await storage.seen()).toHaveLength(attempts));
    const shown = [everything(error), ...lines].join('\n');
    for (const secret of [SIGNATURE, 'canary-token', 'X-Signature']) expect(shown).not.toContain(secret);
  });

  it('is retried until storage accepts it, after the wait that storage asks for', async () => {
    const { client, storage } = await startStorage([
      { upload: 'cut' },
      { status: 503, headers: { 'retry-after': '0' } },
      {},
    ]);
    await client.uploads.upload({ kind: 'cohort', data: new Blob([data]) });
    const seen = await storage.seen();
    expect(seen).toHaveLength(3);
    expect(seen[2]?.body === latin1(data)).toBe(true);
  });

  it('fails immediately when storage asks for a longer wait than `maxRetryWait`', async () => {
    const { client, reservation } = await startStorage([{ status: 503, headers: { 'retry-after': '900' } }]);
    const error = await failureOf(client.uploads.send(reservation, data));
    expect(error).toMatchObject({ attempts: 1, retryAfter: 900, slot: 'usable' });
  });

  it('an upload that is aborted rejects with the reason and leaves no connection', async () => {
    const { client, reservation, storage } = await startStorage([{ upload: 'stall' }]);
    await quickly(async () => {
      const controller = new AbortController();
      const sending = failureOf(client.uploads.send(reservation, new Blob([data]), { signal: controller.signal }));
      setTimeout(() => controller.abort('enough'), 100);
      expect(await sending).toBe('enough');
      // Until storage reads on.
      await new Promise((resolve) => setTimeout(resolve, 1_000));
    });
    // The server sees a stalled request only when its connection has ended.
    await eventually(async () => expect(await storage.seen()).toHaveLength(1));
  });

  it('an upload that is aborted before it begins sends nothing', async () => {
    const { client, reservation, storage } = await startStorage([{}]);
    const error = await failureOf(client.uploads.send(reservation, data, { signal: AbortSignal.abort('early') }));
    expect(error).toBe('early');
    expect(await storage.seen()).toEqual([]);
  });

  it('an upload of a closed client rejects with `client-closed`', () =>
    quickly(async () => {
      const { client, reservation } = await startStorage([{ fault: 'stall' }]);
      const sending = failureOf(client.uploads.send(reservation, data));
      setTimeout(() => void client.close(), 50);
      expect(await sending).toMatchObject({ code: 'client-closed' });
    }));

  it('an upload that is redirected is not sent to another address', async () => {
    const elsewhere = await startServer([{}]);
    const { client, reservation } = await startStorage([
      { status: 307, headers: { location: `${elsewhere.url}/taken` } },
    ]);
    const error = await failureOf(client.uploads.send(reservation, new Blob([data])));
    expect(error).toMatchObject({ code: 'redirect-refused', slot: 'unknown' });
    // Browsers follow redirects of an upload; it is refused afterwards.
    const followed = await elsewhere.seen();
    if (!inBrowser) expect(followed).toEqual([]);
    for (const { headers } of followed) expect(headers).not.toHaveProperty('authorization');
  });
});

it('an error of `fetch` never shows the presigned query', async () => {
  const fetch = (input: Request | URL | string): Promise<Response> =>
    Promise.reject(new TypeError('fetch failed', { cause: new Error(`no route to ${input}, signed ${SIGNATURE}`) }));
  const client = clientOf({ url: 'http://localhost' }, { fetch, maxRetries: 0 });
  const slot = { reference: 'r', url: `https://storage.example/slot?X-Signature=${SIGNATURE}`, expires_at: '' };
  const error = await failureOf(client.uploads.send(slot, data));
  expect(error).toMatchObject({ name: 'ConnectionError', message: expect.stringContaining('no route to') });
  expect(everything(error)).not.toContain(SIGNATURE);
});

describe('an error response of storage', () => {
  const BASE64 = 'AbCd+efGh/ijKlMnOp==';
  const encoded = encodeURIComponent(BASE64);

  it.each([
    ['the signature', `sig=${BASE64}`, BASE64],
    ['the signature, encoded', `sig=${BASE64}`, encoded],
    ['an encoded signature', `sig=${encoded}`, encoded],
    ['an encoded signature, decoded', `sig=${encoded}`, BASE64],
    ['a signature in lower-case escapes', `sig=${encoded.replace('%2B', '%2b')}`, encoded.replace('%2B', '%2b')],
    ['a query without a name', '0123456789abcdef-0123456789', '0123456789abcdef-0123456789'],
    ['the URL', `sig=${BASE64}`, `https://storage.example/slot?sig=${BASE64}`],
  ])('never shows the presigned query where it repeats %s', async (_, query, repeated) => {
    const { client, storage, reservation } = await startStorage([
      {
        status: 403,
        text: `<Error><Code>${repeated}</Code><Message>No: ${repeated}</Message></Error>`,
        headers: { 'x-echo': repeated, 'content-type': `text/plain;x=${repeated}` },
      },
    ]);
    const slot = { ...reservation, url: `${storage.url}/slot?${query}` };
    const shown = everything(await failureOf(client.uploads.send(slot, data)));
    expect(shown).not.toContain(repeated.slice(-20, -2));
    expect(shown).toContain('redacted');
  });

  it('shows only its code, its message and the headers that name the request, each cut', async () => {
    const message = 'x'.repeat(300);
    const text = `<?xml version="1.0"?><Error><Code>SlowDown</Code><Message>${message}</Message><Key>k</Key></Error>`;
    const { client, reservation } = await startStorage([
      { status: 400, text, headers: { 'x-amz-request-id': 'req-1', 'x-other': 'other' } },
    ]);
    const error = await failureOf(client.uploads.send(reservation, data));
    const body = `SlowDown: ${'x'.repeat(200)}… (cut)`;
    expect(error).toMatchObject({ body, message: expect.stringContaining(`storage responded with 400 (${body}).`) });
    if (!ApiError.isInstance(error)) throw error;
    expect(error.headers.get('x-other')).toBeNull();
    // Browsers hide it from other origins.
    if (!inBrowser) expect(error.headers.get('x-amz-request-id')).toBe('req-1');
  });

  it('is also shortened if it arrives in one chunk', async () => {
    const response = new Response('x'.repeat(200_000), { status: 403 });
    expect(await readErrorText(response, new AbortController().signal)).toHaveLength(2_048);
  });

  it('is read up to a limit and within the idle timeout; its status counts even if the rest does not arrive', async () => {
    const { client, reservation } = await startStorage([{ status: 403, bytes: 3_000_000, fault: 'stall-body' }]);
    const error = await failureOf(client.uploads.send(reservation, data, { idleTimeout: 5_000 }));
    expect(error).toMatchObject({ name: 'PermissionError', attempts: 1, slot: 'unusable' });
  });
});
