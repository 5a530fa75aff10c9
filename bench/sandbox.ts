/**
 * What a sandbox costs: to create one; a read in process and over HTTP, beside a bare `node:http` server that answers
 * the same bytes (interleaved rounds, medians); and memory over 100,000 requests and 2,000 sandboxes.
 *
 *   npm run bench:sandbox
 */
import { execFileSync } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createSandbox } from 'audience-activation/sandbox';
import { medianOfRounds } from './support/rounds.ts';

const ROUNDS = 9;
const CALLS = 500;

const created: number[] = [];
for (let at = 0; at < 1_000; at++) {
  const began = performance.now();
  createSandbox({ seed: at });
  created.push(performance.now() - began);
}
const sorted = created.toSorted((a, b) => a - b);
const at = (share: number): string => (sorted[Math.floor(share * (sorted.length - 1))] ?? 0).toFixed(2);
console.log(
  `creating one: ${(created[0] ?? 0).toFixed(2)} ms the first, then ${at(0.5)} ms (median), ${at(0.99)} ms (99 of 100)`,
);

const sandbox = createSandbox({ limits: { read: { limit: 1e9, interval: 60_000 } } });
const token = sandbox.accounts.create({ email: 'me@example.com', password: 'x' }).token('api');
const headers = { accept: 'application/json', authorization: `Bearer ${token}` };
const { url, close } = await sandbox.listen();
const path = '/api/v2/audiences/index';
const bytes = await (await fetch(`${url}${path}`, { headers })).text();
const bare = createServer((_, response) => response.setHeader('content-type', 'application/json').end(bytes));
await new Promise<void>((resolve) => bare.listen(0, '127.0.0.1', resolve));
const bareUrl = `http://127.0.0.1:${(bare.address() as AddressInfo).port}`;

const contenders: Readonly<Record<string, () => Promise<Response>>> = {
  'bare node:http': () => fetch(`${bareUrl}${path}`, { headers }),
  'sandbox over HTTP': () => fetch(`${url}${path}`, { headers }),
  'sandbox in process': () => sandbox.fetch(`${url}${path}`, { headers }),
};
const times = await medianOfRounds(contenders, ROUNDS, async (call) => {
  const began = performance.now();
  for (let count = 0; count < CALLS; count++) await (await call()).text();
  return (performance.now() - began) / CALLS;
});
const reference = times.get('bare node:http') ?? 0;
for (const [name, time] of times) {
  console.log(`${name.padEnd(18)} ${time.toFixed(3)} ms a read  ${(time / reference).toFixed(2)} x`);
}
await close();
bare.close();
bare.closeAllConnections();

interface Memory {
  readonly heaps: readonly number[];
  readonly before: number;
  readonly after: number;
}
const program = ['--expose-gc', 'test/support/sandbox-memory.ts', '100000'];
const { heaps, before, after }: Memory = JSON.parse(execFileSync(process.execPath, program, { encoding: 'utf8' }));
const mb = (size = 0): string => (size / 2 ** 20).toFixed(2);
console.log(
  `heap after 10,000, 50,000 and 100,000 requests: ${mb(heaps[1])}, ${mb(heaps[5])}, ${mb(heaps.at(-1))} MiB`,
);
console.log(`heap after 1,000 and 2,000 sandboxes: ${mb(before)}, ${mb(after)} MiB`);
