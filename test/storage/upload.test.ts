import { describe, expect, it } from 'vitest';
import { ApiError, AudienceError, CLAIM_WINDOW, type UploadProgress } from '../../src/index.ts';
import { readAnswer } from '../../src/storage/storage-request.ts';
import { eventually } from '../support/eventually.ts';
import { everything } from '../support/everything.ts';
import { pattern } from '../support/script.ts';
import { clientOf, failureOf, startServer } from '../support/server.ts';
import { inBrowser, SIGNATURE, startStorage } from '../support/storage.ts';
import { latin1, streamOf } from '../support/streams.ts';

const SIZE = 300_000;
const data = pattern(SIZE);

describe('an upload', () => {
  it.each([
    ['a Blob', () => ({ data: new Blob([data], { type: 'text/csv' }) })],
    ['a File', () => ({ data: new File([data], 'a.csv', { type: 'text/csv' }) })],
    ['a Uint8Array', () => ({ data })],
    ['a stream', () => ({ data: streamOf(data).stream, size: SIZE })],
  ])('sends %s whole, with its length, and nothing of the client', async (_, input) => {
    const { client, storage, api } = await startStorage([{}]);
    const upload = await client.uploads.upload({ kind: 'cohort', ...input() });
    expect(upload.reference).toBe('upl_1');
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

  it('sends nothing at all as nothing at all', async () => {
    const { client, storage } = await startStorage([{}]);
    const seen: UploadProgress[] = [];
    await client.uploads.upload({ kind: 'cohort', data: new Blob([]), onProgress: (progress) => seen.push(progress) });
    const [put] = await storage.seen();
    expect(put?.headers['content-length']).toBe('0');
    expect(seen).toEqual([{ loaded: 0, total: 0 }]);
  });

  it('sends the headers that its URL was signed for', async () => {
    const { client, reservation, storage } = await startStorage([{}]);
    await client.uploads.send(reservation, data, { headers: { 'Content-Type': 'text/csv' } });
    expect((await storage.seen())[0]?.headers['content-type']).toBe('text/csv');
  });

  it('reports progress that never goes back and ends at the total, once storage has the file', async () => {
    const { client, storage } = await startStorage([{ status: 503 }, { upload: 'cut' }, { upload: 'stall' }]);
    const part = pattern(2 ** 20);
    const file = new Blob(Array.from({ length: 24 }, () => part));
    const { size } = file;
    const seen: UploadProgress[] = [];
    let stored = false;
    const onProgress = (progress: UploadProgress): void => {
      seen.push(progress);
      if (progress.loaded === size) expect(stored).toBe(false);
    };
    await client.uploads.upload({ kind: 'cohort', data: file, onProgress });
    stored = true;
    expect(await storage.seen()).toHaveLength(3);
    const loaded = seen.map((progress) => progress.loaded);
    expect(loaded).toEqual([...new Set(loaded)].sort((a, b) => a - b));
    expect(seen.at(-1)).toEqual({ loaded: size, total: size });
    expect(loaded.length).toBeGreaterThan(1);
  });

  it('goes on when its progress callback throws', async () => {
    const { client } = await startStorage([{}]);
    const onProgress = (): void => {
      throw new Error('no');
    };
    await expect(client.uploads.upload({ kind: 'cohort', data, onProgress })).resolves.toMatchObject({
      reference: 'upl_1',
    });
  });

  it('tells hooks of each attempt, without the query', async () => {
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
      'without an answer',
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
  ])('%s says so, and what can be done with the slot', async (_, step, told, attempts) => {
    const lines: string[] = [];
    const write = (message: string, fields?: unknown): void => void lines.push(`${message} ${JSON.stringify(fields)}`);
    const logger = { error: write, warn: write, info: write, debug: write };
    const { client, reservation, storage } = await startStorage([step], { maxRetries: 2, logger, logLevel: 'debug' });
    // Only what stands still is given up: a busy machine is slow by itself.
    const idleTimeout = Object.values(step).includes('stall') ? 150 : 30_000;
    const error = await failureOf(client.uploads.send(reservation, new Blob([data]), { idleTimeout }));
    expect(error).toMatchObject({ ...told, operation: 'uploads.send', attempts });
    expect(AudienceError.isInstance(error) && error.message).toMatch(/[Tt]he slot/);
    await eventually(async () => expect(await storage.seen()).toHaveLength(attempts));
    const shown = [everything(error), ...lines].join('\n');
    for (const secret of [SIGNATURE, 'canary-token', 'X-Signature']) expect(shown).not.toContain(secret);
  });

  it('is repeated until storage takes it, as soon as storage asks', async () => {
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

  it('waits as long as storage asks, and no longer than it may', async () => {
    const { client, reservation } = await startStorage([{ status: 503, headers: { 'retry-after': '900' } }]);
    const error = await failureOf(client.uploads.send(reservation, data));
    expect(error).toMatchObject({ attempts: 1, retryAfter: 900, slot: 'usable' });
  });

  it('by an abort rejects with its reason and leaves no connection', async () => {
    const { client, reservation, storage } = await startStorage([{ upload: 'stall' }]);
    const controller = new AbortController();
    const sending = failureOf(client.uploads.send(reservation, new Blob([data]), { signal: controller.signal }));
    setTimeout(() => controller.abort('enough'), 100);
    expect(await sending).toBe('enough');
    // The server sees a stalled request only when its connection has ended.
    await eventually(async () => expect(await storage.seen()).toHaveLength(1));
  });

  it('before it begins sends nothing', async () => {
    const { client, reservation, storage } = await startStorage([{}]);
    const error = await failureOf(client.uploads.send(reservation, data, { signal: AbortSignal.abort('early') }));
    expect(error).toBe('early');
    expect(await storage.seen()).toEqual([]);
  });

  it('by a closed client says so', async () => {
    const { client, reservation } = await startStorage([{ fault: 'stall' }]);
    const sending = failureOf(client.uploads.send(reservation, data));
    setTimeout(() => void client.close(), 50);
    expect(await sending).toMatchObject({ code: 'client-closed' });
  });

  it('by a redirect is not sent elsewhere', async () => {
    const elsewhere = await startServer([{}]);
    const { client, reservation } = await startStorage([
      { status: 307, headers: { location: `${elsewhere.url}/taken` } },
    ]);
    const error = await failureOf(client.uploads.send(reservation, new Blob([data])));
    expect(error).toMatchObject({ code: 'redirect-refused', slot: 'unknown' });
    // Browsers follow redirects of an upload by themselves; there the refusal comes afterwards.
    const followed = await elsewhere.seen();
    if (!inBrowser) expect(followed).toEqual([]);
    for (const { headers } of followed) expect(headers).not.toHaveProperty('authorization');
  });
});

describe('what storage says', () => {
  const BASE64 = 'AbCd+efGh/ijKlMnOp==';

  it.each([
    BASE64,
    encodeURIComponent(BASE64),
    encodeURIComponent(BASE64).toLowerCase(),
    BASE64.replaceAll('+', ' '),
    BASE64.replaceAll('+', '&#43;').replaceAll('/', '&#x2F;').replaceAll('=', '&#61;'),
    BASE64.replaceAll('/', '\\/'),
    encodeURIComponent(BASE64).replace('%2F', '/'),
    encodeURIComponent(encodeURIComponent(BASE64)),
    BASE64.replaceAll('+', '\\u002b').replaceAll('/', '\\u002F'),
    BASE64.replaceAll('+', '&amp;#43;').replaceAll('/', '&sol;'),
  ])('never shows the signature, though storage repeats it as %s', async (spelling) => {
    const { client, storage, reservation } = await startStorage([
      {
        status: 403,
        text: `<Error><Code>${spelling}</Code><Message>No: ${spelling}</Message></Error>`,
        headers: { 'x-echo': spelling, 'content-type': `text/plain;x=${spelling}` },
      },
    ]);
    for (const query of [BASE64, encodeURIComponent(BASE64), encodeURIComponent(BASE64).toLowerCase()]) {
      const slot = { ...reservation, url: `${storage.url}/slot?sig=${query}` };
      const shown = everything(await failureOf(client.uploads.send(slot, data)));
      expect(shown).not.toContain(spelling);
      expect(shown).toContain('redacted');
    }
  });

  it('shows a code, a message and the headers that name the request, each once it is cut', async () => {
    const message = 'x'.repeat(300);
    const text = `<?xml version="1.0"?><Error><Code>SlowDown</Code><Message>${message}</Message><Key>k</Key></Error>`;
    const { client, reservation } = await startStorage([
      { status: 400, text, headers: { 'x-amz-request-id': 'req-1', 'x-other': 'other' } },
    ]);
    const error = await failureOf(client.uploads.send(reservation, data));
    const body = `SlowDown: ${'x'.repeat(200)}… (cut)`;
    expect(error).toMatchObject({ body, message: expect.stringContaining(`storage answered 400 (${body}).`) });
    if (!ApiError.isInstance(error)) throw error;
    expect(error.headers.get('x-other')).toBeNull();
    // Browsers hide it from other origins.
    if (!inBrowser) expect(error.headers.get('x-amz-request-id')).toBe('req-1');
  });

  it.each([
    ['a part of a value', 'X-Token=0123456789abcdefghijklmnopqrstuvwxyz', 'It is 6789-abcd-efgh-ijkl-mnop.'],
    ['a value of punctuation', 'sig=--__A.B--__C~~(D)', 'It is --__A.B--__C~~(D).'],
    ['a query without a name', '0123456789abcdef-0123456789', 'It is 0123456789abcdef-0123456789.'],
    ['an overlong query', `sig=${'ab'.repeat(40_000)}`, 'It is ab.'],
  ])('is hidden where it repeats %s', async (_, query, message) => {
    const fetch = async (): Promise<Response> =>
      new Response(`<Error><Message>${message}</Message></Error>`, { status: 403 });
    const client = clientOf({ url: 'http://localhost' }, { fetch });
    const slot = { reference: 'r', url: `https://storage.example/slot?${query}`, expires_at: '' };
    const error = await failureOf(client.uploads.send(slot, data));
    expect(error).toMatchObject({ name: 'PermissionError', body: '[redacted]' });
    expect(everything(error)).not.toContain(message.slice(6));
  });

  it('is cut also where it arrives in one chunk', async () => {
    const response = new Response('x'.repeat(200_000), { status: 403 });
    expect(await readAnswer(response, new AbortController().signal)).toHaveLength(2_048);
  });

  it('is read to a limit and in time; the status counts, whatever becomes of the rest', async () => {
    const { client, reservation } = await startStorage([{ status: 403, bytes: 3_000_000, fault: 'stall-body' }]);
    const error = await failureOf(client.uploads.send(reservation, data, { idleTimeout: 2_000 }));
    expect(error).toMatchObject({ name: 'PermissionError', attempts: 1, slot: 'unusable' });
  });
});
