import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AudienceClient } from '../../src/index.ts';
import { downloadTo, openFile } from '../../src/node/index.ts';

/**
 * Transfers a file, and reports the maximum size of array buffers in use after garbage collections during the transfer.
 */
const [, , direction = '', baseUrl = '', directory = '', size = '0'] = process.argv;
const client = new AudienceClient({ baseUrl, token: 'test-token', logLevel: 'error' });

const INTERVAL_MS = 15;
let most = 0;
let steps = 0;
const measure = (): void => {
  steps++;
  globalThis.gc?.();
  most = Math.max(most, process.memoryUsage().arrayBuffers);
};

let timer: NodeJS.Timeout;
if (direction === 'upload') {
  const path = join(directory, 'file');
  await writeFile(path, Buffer.alloc(Number(size), 'a line\n'));
  globalThis.gc?.();
  const data = await openFile(path);
  timer = setInterval(measure, INTERVAL_MS);
  await client.uploads.upload({ kind: 'cohort', data });
} else {
  timer = setInterval(measure, INTERVAL_MS);
  await downloadTo(client, 7, directory);
}
clearInterval(timer);
process.send?.({ most, steps });
process.disconnect?.();
