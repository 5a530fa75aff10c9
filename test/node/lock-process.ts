import { once } from 'node:events';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { lock } from 'proper-lockfile';
import { withFileLock } from '../../src/node/file-lock.ts';

/**
 * Uses the lock of a file, once for each message: the lock of this package, or `earlier`, that of its versions before
 * 0.3, which used proper-lockfile.
 */
const [, , kind = '', way = '', path = '', argument = ''] = process.argv;

/** Runs work under the lock as versions before 0.3 do. */
async function withEarlierLock(work: (lost?: AbortSignal) => Promise<void>): Promise<void> {
  const options = { realpath: false, stale: 10_000, update: 2_000, onCompromised: () => {} };
  for (;;) {
    const release = await lock(path, options).catch((error: unknown) => {
      if (!['ELOCKED', 'ENOENT'].includes(Object(error).code)) throw error;
    });
    if (release) return work().finally(() => release().catch(() => {}));
    await pause(20 + Math.random() * 80);
  }
}

const withLock = (work: (lost?: AbortSignal) => Promise<void>): Promise<void> =>
  kind === 'earlier' ? withEarlierLock(work) : withFileLock(path, work);

const WAYS: Readonly<Record<string, () => Promise<void>>> = {
  /** Adds to the number in the file, so that an addition is lost if two processes do it at the same time. */
  async count() {
    const [times = 0, between] = argument.split(',').map(Number);
    for (let at = 0; at < times; at++) {
      await withLock(async () => {
        const count = Number(await readFile(path, 'utf8'));
        await pause(between);
        // A process that is killed while it writes must not leave a part.
        await writeFile(`${path}.${process.pid}`, String(count + 1));
        await rename(`${path}.${process.pid}`, path);
        process.send?.('added');
      });
    }
  },
  /** Holds the lock until the next message. */
  hold: () =>
    withLock(async (lost) => {
      lost?.addEventListener('abort', () => process.send?.(String(lost.reason)));
      process.send?.('held');
      await once(process, 'message');
    }),
};

process.on('message', async (message) => {
  if (message !== 'go') return;
  await WAYS[way]?.();
  process.send?.('done');
});
process.send?.('ready');
