import { fork } from 'node:child_process';
import { once } from 'node:events';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { temporaryDirectory } from '../support/directory.ts';
import { serve } from '../support/file-server.ts';
import { startServer } from '../support/server.ts';
import { wireActivation } from '../support/storage.ts';

const SIZE = 64 * 2 ** 20;

/** Maximum memory in use: a chunk of the file, pieces of it in buffers, and what is not collected yet. */
const IN_USE = SIZE / 3;

async function move(direction: 'upload' | 'download', baseUrl: string, directory: string) {
  const child = fork(new URL('./transfer-process.ts', import.meta.url), [direction, baseUrl, directory, String(SIZE)], {
    execArgv: ['--expose-gc'],
  });
  const [measured] = await once(child, 'message');
  return measured;
}

it('an upload of 64 MiB keeps only a few of them in memory', async () => {
  let arrived = 0;
  const storage = await serve((request, response) => {
    request.on('data', (chunk: Buffer) => {
      arrived += chunk.length;
    });
    request.once('end', () => response.end());
  });
  const api = await startServer([{ data: { reference: 'upl_1', url: `${storage.url}/slot`, expires_at: '' } }]);
  const { most, steps } = await move('upload', api.url, await temporaryDirectory());
  expect(arrived).toBe(SIZE);
  expect(steps).toBeGreaterThanOrEqual(15);
  expect(most).toBeLessThan(IN_USE);
});

it('a download of 64 MiB keeps only a few MiB in memory', async () => {
  const chunk = Buffer.alloc(2 ** 16, 'a line\n');
  const storage = await serve((_, response) => {
    response.writeHead(200, { 'content-length': SIZE });
    let left = SIZE;
    const more = (): void => {
      for (; left > 0; left -= chunk.length) {
        if (response.write(chunk)) continue;
        left -= chunk.length;
        response.once('drain', more);
        return;
      }
      response.end();
    };
    more();
  });
  const api = await startServer([{ data: [wireActivation(`${storage.url}/devices.csv`)] }]);
  const directory = await temporaryDirectory();
  const { most, steps } = await move('download', api.url, directory);
  expect((await stat(join(directory, 'devices.csv'))).size).toBe(SIZE);
  expect(steps).toBeGreaterThanOrEqual(15);
  expect(most).toBeLessThan(IN_USE);
});
