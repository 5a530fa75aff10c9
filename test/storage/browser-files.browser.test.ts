import { describe, expect, it } from 'vitest';
import { failureOf } from '../support/server.ts';
import { startStorage } from '../support/storage.ts';

describe('a file of the browser', () => {
  it('that has changed since it was chosen is not sent', async () => {
    const { client } = await startStorage([{}]);
    const directory = await navigator.storage.getDirectory();
    const handle = await directory.getFileHandle('customers.csv', { create: true });
    const write = async (text: string): Promise<void> => {
      const writable = await handle.createWritable();
      await writable.write(text);
      await writable.close();
    };
    await write('a,b\n');
    const file = await handle.getFile();
    await write('something longer,b\n');
    const error = await failureOf(client.uploads.upload({ kind: 'cohort', data: file }));
    expect(error).toMatchObject({ name: 'FileError', code: 'file-unreadable', slot: 'usable' });
  });
});
