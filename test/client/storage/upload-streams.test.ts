import { describe, expect, it } from 'vitest';
import { pattern } from '../../support/script.ts';
import { failureOf } from '../../support/server.ts';
import { inBrowser, startStorage } from '../../support/storage.ts';
import { latin1, streamOf } from './support/streams.ts';

const SIZE = 300_000;
const data = pattern(SIZE);

describe('a stream', () => {
  it.each([
    ['shorter', SIZE + 1, 'ended after 300000 bytes'],
    ['longer', SIZE - 1, 'has more bytes'],
  ])('a stream that is %s than announced rejects', async (_, size, actual) => {
    const { client } = await startStorage([{}]);
    const error = await failureOf(client.uploads.upload({ kind: 'cohort', data: streamOf(data).stream, size }));
    expect(error).toMatchObject({ name: 'FileError', code: 'size-mismatch' });
    expect(error).toMatchObject({ message: `\`size\` is ${size} bytes, but the data ${actual}.` });
  });

  it.skipIf(inBrowser)('a stream that is longer than announced is never sent to its announced end', async () => {
    let sent = 0;
    const fetch = async (_: unknown, init?: RequestInit): Promise<Response> => {
      const body = new Response(init?.body ?? null).body;
      for await (const chunk of body ?? []) sent += chunk.length;
      return new Response();
    };
    const { client } = await startStorage([], {
      fetch: (input, init) => (init?.method === 'PUT' ? fetch(input, init) : globalThis.fetch(input, init)),
    });
    const stream = streamOf(data, [100_000]).stream;
    const error = await failureOf(client.uploads.upload({ kind: 'cohort', data: stream, size: 200_000 }));
    expect(error).toMatchObject({ code: 'size-mismatch', slot: 'usable' });
    expect(sent).toBe(100_000);
  });

  it('is sent only once, and cancelled when that fails; browsers collect it first and can retry', async () => {
    const { client, storage } = await startStorage([{ upload: 'cut' }, {}]);
    // Far more than sockets buffer: at the cut, the stream is not at its end.
    const size = 48 * 2 ** 20;
    const { stream, state } = streamOf(new Uint8Array(size), [2 ** 20]);
    const upload = client.uploads.upload({ kind: 'cohort', data: stream, size });
    if (inBrowser) {
      expect(await upload).toMatchObject({ reference: 'upl_1' });
    } else {
      expect(await failureOf(upload)).toMatchObject({ name: 'ConnectionError', attempts: 1, slot: 'usable' });
      expect(state.cancelled).toBe(true);
    }
    expect(await storage.seen()).toHaveLength(inBrowser ? 2 : 1);
  });

  it('a stream whose producer fails ends the upload with its reason', async () => {
    const { client } = await startStorage([{}]);
    const stream = new ReadableStream<Uint8Array>({
      pull: () => Promise.reject(new Error('the database went away')),
    });
    const error = await failureOf(client.uploads.upload({ kind: 'cohort', data: stream, size: 10 }));
    expect(error).toMatchObject({ name: 'FileError', code: 'file-unreadable', slot: 'usable' });
    expect(String(error)).toContain('the database went away');
  });
});

describe('a stream that misbehaves', () => {
  const never = new Promise<void>(() => {});

  it.each([
    ['never yields', () => new ReadableStream<Uint8Array>({ pull: () => never })],
    ['is one of two branches', () => new ReadableStream<Uint8Array>({ pull: () => never }).tee()[0]],
    ['does not stop', () => new ReadableStream<Uint8Array>({ pull: () => never, cancel: () => never })],
    [
      'yields nothing but empty chunks',
      () => new ReadableStream<Uint8Array>({ pull: (out) => out.enqueue(new Uint8Array(0)) }),
    ],
  ])('(it %s) does not delay an abort of the upload', async (_, make) => {
    const { client } = await startStorage([{}]);
    const signal = AbortSignal.timeout(30);
    const error = await failureOf(client.uploads.upload({ kind: 'cohort', data: make(), size: 10 }, { signal }));
    expect(error).toMatchObject({ name: 'TimeoutError' });
  });

  it.each([
    ['fails without a reason', () => Promise.reject(undefined)],
    ['yields other views', (out: ReadableStreamDefaultController) => out.enqueue(new Uint16Array(5))],
    ['yields strings', (out: ReadableStreamDefaultController) => out.enqueue('0123456789')],
  ])('(it %s) rejects with an error about the data', async (_, pull) => {
    const { client } = await startStorage([{}]);
    const error = await failureOf(
      client.uploads.upload({ kind: 'cohort', data: new ReadableStream({ pull }), size: 10 }),
    );
    expect(error).toMatchObject({ name: 'FileError', code: 'file-unreadable', slot: 'usable' });
  });

  it('(its upload is not sent) is cancelled', async () => {
    const { client, reservation } = await startStorage([{}]);
    const { stream, state } = streamOf(data);
    await client.uploads.reserve({ kind: 'cohort', size: 5 });
    await failureOf(client.uploads.send(reservation, stream, { size: SIZE }));
    expect(state.cancelled).toBe(true);
  });
});

it('a stream without `size` is sent with the size that its slot was reserved for', async () => {
  const { client, storage } = await startStorage([{}]);
  const reservation = await client.uploads.reserve({ kind: 'cohort', size: SIZE });
  await client.uploads.send(reservation, streamOf(data).stream);
  expect((await storage.seen())[0]?.body === latin1(data)).toBe(true);
});
