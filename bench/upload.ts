/**
 * Measures the upload of a gigabyte from disk and the download to disk, compared with `node:http` and streams. Each
 * transfer runs in its own process, in interleaved rounds. Prints medians of time and CPU time, their ratios, and the
 * maximum of peak memory.
 *
 *   npm run bench -- upload
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { median, ratioWithRange } from './support/rounds.ts';

const SIZE = Number(process.argv[2] ?? 2 ** 30);
const ROUNDS = 7;
const NAMES = ['upload node:http', 'upload audience-activation', 'download node:http', 'download audience-activation'];

interface Measured {
  readonly ms: number;
  readonly cpu: number;
  readonly peak: number;
}

const directory = await mkdtemp(join(tmpdir(), 'bench-upload-'));
const path = join(directory, 'file');
const file = await open(path, 'w');
const mebibyte = Buffer.alloc(2 ** 20, 'a line of a file\n');
for (let left = SIZE; left > 0; left -= mebibyte.length) await file.write(mebibyte, 0, Math.min(left, mebibyte.length));
await file.close();

const server = fork(new URL('./support/storage-server.ts', import.meta.url), [String(SIZE)]);
const [url] = await once(server, 'message');

async function measure(name: string): Promise<Measured> {
  const child = fork(new URL('./support/transfers.ts', import.meta.url), [name, String(url), path, directory]);
  const [measured] = await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(([code]) => Promise.reject(new Error(`${name} ended with ${code}.`))),
  ]);
  await rm(join(directory, 'devices'), { force: true });
  return measured;
}

const results = new Map(NAMES.map((name) => [name, [] as Measured[]]));
for (let round = 0; round < ROUNDS; round++) for (const name of NAMES) results.get(name)?.push(await measure(name));

const valuesOf = (name: string, value: keyof Measured): number[] => (results.get(name) ?? []).map((one) => one[value]);

const ratioOf = (name: string, base: string, value: keyof Measured): string =>
  ratioWithRange(valuesOf(name, value), valuesOf(base, value));

console.log(`${SIZE} bytes, ${ROUNDS} rounds: medians; ratios to node:http with the least and the greatest one`);
for (const name of NAMES) {
  const base = `${name.split(' ')[0]} node:http`;
  const [time, cpu] = [median(valuesOf(name, 'ms')), median(valuesOf(name, 'cpu'))].map((ms) => ms.toFixed(0));
  const peak = Math.max(...valuesOf(name, 'peak')).toFixed(0);
  // The speed is the inverse of the time.
  const ratios = name === base ? '' : `speed ${ratioOf(base, name, 'ms')}  CPU ${ratioOf(name, base, 'cpu')}`;
  console.log(`${name.padEnd(30)} ${time} ms  CPU ${cpu} ms  peak ${peak} MiB  ${ratios}`);
}
server.disconnect();
await rm(directory, { recursive: true });
