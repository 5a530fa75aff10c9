import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AudienceClient } from '../../src/index.ts';
import { downloadTo, openFile } from '../../src/node/index.ts';

/**
 * Transfers a file, and reports the maximum size of array buffers in use after garbage collections during the transfer.
 */
const [, , direction = '', baseUrl = '', directory = '', size = '0'] = process.argv;
const client = new AudienceClient({ baseUrl, token: 'test-token', logLevel: 'error' });

const STEP = 4 * 2 ** 20;
let next = STEP;
let most = 0;
let steps = 0;
const onProgress = ({ loaded }: { readonly loaded: number }): void => {
  if (loaded < next) return;
  next += STEP;
  steps++;
  globalThis.gc?.();
  most = Math.max(most, process.memoryUsage().arrayBuffers);
};

if (direction === 'upload') {
  const path = join(directory, 'file');
  await writeFile(path, Buffer.alloc(Number(size), 'a line\n'));
  globalThis.gc?.();
  await client.uploads.upload({ kind: 'cohort', data: await openFile(path) }, { onProgress });
} else {
  await downloadTo(client, 7, directory, { onProgress });
}
process.send?.({ most, steps });
process.disconnect?.();
