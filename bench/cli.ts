/**
 * Measures the cold start of the command against a bare Node process and against programs that do the same: `--help`,
 * completion, and a wait for a job that has ended. Prints medians of interleaved rounds; a ratio is the median of the
 * ratios of each round, with its range.
 *
 *   npm run bench:cli
 */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { createSandbox } from 'audience-activation/sandbox';
import { printTable, printTitle } from './support/report.ts';
import { median, ratioWithRange, valuesOfRounds } from './support/rounds.ts';

const ROUNDS = 25;
const COMMAND = 'dist/cli.js';

const sandbox = createSandbox({ jobs: { duration: 0 }, limits: { read: { limit: 10_000, interval: 60_000 } } });
const { url } = await sandbox.listen();
const token = sandbox.accounts.create({ email: 'bench@example.com', password: 'bench' }).token('api');
const headers = { accept: 'application/json', 'content-type': 'application/json', authorization: `Bearer ${token}` };
const created = await fetch(`${url}/api/v2/audiences/create`, { method: 'POST', headers, body: '{"name":"x"}' });
const { data } = await created.json();
const id = String(data[0].id);

const PROGRAM = `
  import { AudienceClient } from 'audience-activation';
  const client = new AudienceClient();
  const { status } = await client.audiences.wait(${id});
  console.log(status.name);
  await client.close();`;

const contenders = {
  'bare process': ['--eval', '0'],
  '`--help`': [COMMAND, '--help'],
  completion: [COMMAND, 'complete', '--', 'wa'],
  'a program that waits': ['--input-type=module', '--eval', PROGRAM],
  '`wait`': [COMMAND, 'wait', id],
} as const;

/** Returns the milliseconds that a process takes, from start to exit. */
async function milliseconds(args: readonly string[]): Promise<number> {
  const began = performance.now();
  await promisify(execFile)(process.execPath, args, {
    env: { ...process.env, AUDIENCE_BASE_URL: url, AUDIENCE_TOKEN: token },
  });
  return performance.now() - began;
}

printTitle('Cold start of the command', ['audience-activation']);
const times = await valuesOfRounds(contenders, ROUNDS, milliseconds);
const of = (name: keyof typeof contenders): readonly number[] => times.get(name) ?? [];
const bare = median(of('bare process'));
const rows = Object.entries(Object.fromEntries(times)).map(([name, values]) => [
  name,
  median(values).toFixed(0),
  (median(values) - bare).toFixed(0),
  name === '`wait`' ? ratioWithRange(values, of('a program that waits')) : '',
]);
printTable(['', 'ms', 'over bare, ms', 'of the program'], rows);
await sandbox.close();
