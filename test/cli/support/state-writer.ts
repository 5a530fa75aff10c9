import { writeStateFile } from '../../../src/cli/local-sandbox/state-file.ts';

/** Writes states to a file until the process is killed; prints the number of each one that is written. */
const [path = ''] = process.argv.slice(2);
const data = Array.from({ length: 20_000 }, (_, index) => `value ${index}`);
for (let version = 1; ; version++) {
  await writeStateFile(path, { version: 1, seed: 1, now: new Date().toISOString(), data, token: String(version) });
  console.log(version);
}
