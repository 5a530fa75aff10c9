import { expect, it, onTestFinished, vi } from 'vitest';
import { startStorage } from '../../support/storage.ts';

it('the response to an upload is not parsed as XML, because Firefox would log its URL', async () => {
  const send = vi.spyOn(XMLHttpRequest.prototype, 'send');
  onTestFinished(() => send.mockRestore());
  const { client } = await startStorage([{ text: '' }]);
  await client.uploads.upload({ kind: 'cohort', data: new Blob(['a,b\n']) });
  expect(send.mock.contexts.map((xhr) => Object(xhr).responseType)).toEqual(['text']);
});
