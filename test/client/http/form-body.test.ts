import { expect, it } from 'vitest';
import { clientOf, startServer } from '../../support/server.ts';

it('a form is sent as the platform would send it', async () => {
  const form = new FormData();
  form.set('na"me\r\n', 'one\ntwo\rthree\r\nfour');
  form.set('ä', 'ö');
  form.append('file', new File(['a,b\n1,2'], 'ro"ws\n.csv', { type: 'text/csv' }));
  form.append('file', new Blob([new Uint8Array([0, 255, 13, 10])]));
  const server = await startServer([{ data: {} }]);
  await clientOf(server).request('POST', '/api/v2/things', { body: form });
  await fetch(server.url, { method: 'POST', body: form });
  const [ours, platforms] = (await server.seen()).map(({ headers, body }) => {
    const [, boundary = ''] = /^multipart\/form-data; boundary=(.+)$/.exec(headers['content-type'] ?? '') ?? [];
    return body.replaceAll(boundary, '…').trim().split('\r\n');
  });
  expect(ours).toEqual(platforms);
});
