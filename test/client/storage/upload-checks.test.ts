import { describe, expect, it, vi } from 'vitest';
import { pieceSize } from '../../../src/client/storage/upload-source.ts';
import { CLAIM_WINDOW, UPLOAD_SIZES, type UploadReservation } from '../../../src/index.ts';
import { everything } from '../../support/everything.ts';
import { pattern } from '../../support/script.ts';
import { failureOf, startServer } from '../../support/server.ts';
import { startStorage } from '../../support/storage.ts';

const SIZE = 300_000;
const data = pattern(SIZE);

function locked(): ReadableStream<Uint8Array> {
  const stream = new ReadableStream<Uint8Array>();
  stream.getReader();
  return stream;
}

describe('an upload that the service would refuse', () => {
  it.each([
    ['cohort', UPLOAD_SIZES.cohort],
    ['poi_submission', UPLOAD_SIZES.poi_submission],
  ] as const)('an upload of too large a %s is not sent', async (kind, largest) => {
    const { client, api } = await startStorage([{}]);
    const error = await failureOf(client.uploads.reserve({ kind, size: largest + 1 }));
    expect(error).toMatchObject({
      name: 'ValidationError',
      local: true,
      errors: { size: [expect.stringContaining('Split the file')] },
    });
    expect(await api.seen()).toEqual([]);
    await client.uploads.reserve({ kind, size: largest });
    expect(await api.seen()).toHaveLength(1);
  });

  it.each([undefined, '9', 1.5, -1])('a reservation of the size %s is not sent', async (size) => {
    const { client, api } = await startStorage([{}]);
    const error = await failureOf(client.uploads.reserve({ kind: 'cohort', size: size as number }));
    expect(error).toMatchObject({
      local: true,
      errors: {
        size: [`must be the size of the file in bytes, an integer of at least 1, but is ${JSON.stringify(size)}.`],
      },
    });
    expect(await api.seen()).toEqual([]);
  });

  it.each([
    ['a stream without size', { data: new ReadableStream<Uint8Array>() }, 'size'],
    ['a size that differs from that of the data', { data, size: 1 }, 'size'],
    ['a size that is not a number', { data: new Blob([data]).stream(), size: Number.NaN }, 'size'],
    ['a stream that is already being read', { data: locked(), size: 10 }, 'data'],
    ['a view that is not a Uint8Array', { data: new Uint16Array(4) as unknown as Blob }, 'data'],
    ['a string', { data: 'text' as unknown as Blob }, 'data'],
    ['a header that no request can have', { data, headers: { 'x-a': 'a\nb' } }, 'headers'],
  ])('an upload with %s is not sent', async (_, input, field) => {
    const { client, api, storage } = await startStorage([{}]);
    const error = await failureOf(client.uploads.upload({ kind: 'cohort', ...input }));
    expect(error).toMatchObject({ local: true, errors: { [field]: [expect.any(String)] } });
    expect([...(await api.seen()), ...(await storage.seen())]).toEqual([]);
  });

  it.each([
    ['an object with a stream', { stream: new Blob([data]).stream(), size: SIZE }, 'Pass the stream as `data`'],
    [
      'a file of React Native',
      { uri: 'file:///a.csv', name: 'a.csv', type: 'text/csv' },
      'Send it with PUT to the `url`',
    ],
    ['a File of jsdom', { slice: () => {}, arrayBuffer: () => {}, size: SIZE, type: '' }, 'a File of jsdom'],
  ])('an upload of %s is refused with what to pass instead', async (_, wrong, advice) => {
    const { client, api } = await startStorage([{}]);
    const error = await failureOf(client.uploads.upload({ kind: 'cohort', data: wrong as unknown as Blob }));
    expect(error).toMatchObject({ local: true, errors: { data: [expect.stringContaining(advice)] } });
    expect(await api.seen()).toEqual([]);
  });

  it.each(['authorization', 'Content-Length', 'cookie', 'Transfer-Encoding', 'expect'])(
    'an upload with a header %s is not sent',
    async (name) => {
      const { client, reservation } = await startStorage([{}]);
      const error = await failureOf(client.uploads.send(reservation, data, { headers: { [name]: 'x' } }));
      expect(error).toMatchObject({ name: 'ConfigurationError' });
    },
  );

  it('an upload to a slot that was reserved for another size is not sent', async () => {
    const { client, storage } = await startStorage([{}]);
    const reservation = await client.uploads.reserve({ kind: 'cohort', size: 5 });
    const error = await failureOf(client.uploads.send(reservation, data));
    expect(error).toMatchObject({ local: true, errors: { size: [expect.stringContaining('reserved for 5')] } });
    expect(await storage.seen()).toEqual([]);
  });

  it('an upload to a slot that was reserved more than 15 minutes ago is not sent, whatever the wall clock says', async () => {
    const { client, api, storage } = await startStorage([{}]);
    const reservation = await client.uploads.reserve({ kind: 'cohort', size: SIZE });
    const body = { upload_reference: reservation.reference };
    const now = performance.now();
    const monotonic = vi.spyOn(performance, 'now').mockReturnValue(now + CLAIM_WINDOW - 1_000);
    try {
      expect(await failureOf(client.cohorts.create(body))).not.toMatchObject({ local: true });
      monotonic.mockReturnValue(now + CLAIM_WINDOW + 1);
      const requests = (await api.seen()).length;
      const late = { local: true, errors: { upload_reference: [expect.stringContaining('upload the file again')] } };
      expect(await failureOf(client.cohorts.create(body))).toMatchObject(late);
      expect(await failureOf(client.request('POST', '/api/v2/poi', { body }))).toMatchObject(late);
      expect(await failureOf(client.uploads.send(reservation, data))).toMatchObject({ local: true });
      expect([(await api.seen()).length, (await storage.seen()).length]).toEqual([requests, 0]);
    } finally {
      monotonic.mockRestore();
    }
  });

  it.each([
    { reference: '', url: 'https://storage.example/x' },
    { reference: 'r', url: 'ftp://storage.example/x' },
    { url: 'https://storage.example/x' },
  ])('an upload with an unusable reservation rejects: %j', async (row) => {
    const api = await startServer([{ data: row }]);
    const { client } = await startStorage([], { baseUrl: api.url });
    expect(await failureOf(client.uploads.reserve({ kind: 'cohort', size: 1 }))).toMatchObject({
      code: 'response-invalid',
    });
  });

  it('a string instead of data is not sent to a slot', async () => {
    const { client, reservation } = await startStorage([{}]);
    const error = await failureOf(client.uploads.send(reservation, 'text' as unknown as Blob));
    expect(error).toMatchObject({ local: true, errors: { data: [expect.any(String)] } });
  });

  it.each([
    undefined,
    'upl_1',
    { reference: 'r', url: 'not-a-url?sig=canary', expires_at: '' },
    { reference: 'r', url: 'ftp://h.example/?sig=canary', expires_at: '' },
    { reference: 'r', url: 'https://user:canary@h.example/', expires_at: '' },
  ])('an upload with an invalid reservation is not sent, and the error does not show it: %j', async (reservation) => {
    const { client } = await startStorage([{}]);
    const error = await failureOf(client.uploads.send(reservation as unknown as UploadReservation, data));
    expect(error).toMatchObject({ local: true, errors: { reservation: [expect.any(String)] } });
    expect(everything(error)).not.toContain('canary');
  });
});

describe('the size of an upload’s pieces', () => {
  it.each([
    ['at the beginning', 0, 0, 65_536],
    ['while buffers may have taken all', 15 * 2 ** 20, 1, 65_536],
    ['on a fast connection', 16 * 2 ** 20, 1_600, 1_048_576],
    ['on a slower one', 16 * 2 ** 20, 1_601, 65_536],
    ['on one that has become slow', 2 ** 30, 200_000, 65_536],
  ])('depends on the bytes sent and the speed: %s', (_, bytes, ms, size) => {
    expect(pieceSize(bytes, ms)).toBe(size);
  });
});
