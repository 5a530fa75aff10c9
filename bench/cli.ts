/**
 * Measures processes of the command against a bare Node process and against programs that do the same: `--help`,
 * completion, a list, and a wait for a job that has ended. Prints medians of interleaved rounds; a ratio is the median of
 * the ratios of each round, with its range.
 *
 *   npm run bench:cli
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
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

const FETCH = `await (await fetch(process.env.AUDIENCE_BASE_URL + '/openapi.json')).text();`;
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
  'a bare `fetch`': ['--input-type=module', '--eval', FETCH],
  '`audiences list`': [COMMAND, 'audiences', 'list'],
  'a program that waits': ['--input-type=module', '--eval', PROGRAM],
  '`wait`': [COMMAND, 'wait', id],
} as const;

const CPU_AT_EXIT = join(import.meta.dirname, 'support/cpu-at-exit.cjs');
const cpu = new Map<readonly string[], number[]>();

/** Returns the milliseconds that a process takes, from start to exit, and notes those of its CPU time. */
async function milliseconds(args: readonly string[]): Promise<number> {
  const began = performance.now();
  const child = spawn(process.execPath, ['--require', CPU_AT_EXIT, ...args], {
    env: { ...process.env, AUDIENCE_BASE_URL: url, AUDIENCE_TOKEN: token },
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
  });
  const pipe = child.stdio[3];
  if (!(pipe instanceof Readable)) throw new Error('The process has no pipe for its CPU time.');
  const [used, [code]] = await Promise.all([text(pipe), once(child, 'close')]);
  if (code !== 0) throw new Error(`\`${args.join(' ')}\` ended with ${code}.`);
  const elapsed = performance.now() - began;
  cpu.set(args, [...(cpu.get(args) ?? []), Number(used)]);
  return elapsed;
}

printTitle('Cold start of the command', ['audience-activation']);
const times = await valuesOfRounds(contenders, ROUNDS, milliseconds);
const of = (name: keyof typeof contenders): readonly number[] => times.get(name) ?? [];
const cpuOf = (args: readonly string[]): number => median((cpu.get(args) ?? []).slice(1));
const bare = median(of('bare process'));
const bareCpu = cpuOf(contenders['bare process']);
const rows = Object.entries(contenders).map(([name, args]) => {
  const values = times.get(name) ?? [];
  return [
    name,
    median(values).toFixed(0),
    (median(values) - bare).toFixed(0),
    (cpuOf(args) - bareCpu).toFixed(0),
    name === '`wait`' ? ratioWithRange(values, of('a program that waits')) : '',
  ];
});
printTable(['', 'ms', 'over bare, ms', 'CPU over bare, ms', 'of the program'], rows);
await sandbox.close();
