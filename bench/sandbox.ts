/**
 * Measures the sandbox: the time to create one; a read in process and over HTTP, compared with a bare `node:http` server
 * that returns the same bytes (medians of interleaved rounds), also while the console is open; the pages of the console
 * after 10,000 requests; and memory over 100,000 requests and 2,000 sandboxes.
 *
 *   npm run bench -- sandbox
 */
import { execFileSync, fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createSandbox } from 'audience-activation/sandbox';
import { medianOfRounds } from './support/rounds.ts';

const ROUNDS = 9;
const CALLS = 500;

const durations: number[] = [];
for (let seed = 0; seed < 1_000; seed++) {
  const start = performance.now();
  createSandbox({ seed });
  durations.push(performance.now() - start);
}
const sorted = durations.toSorted((a, b) => a - b);
const percentile = (share: number): string => (sorted[Math.floor(share * (sorted.length - 1))] ?? 0).toFixed(2);
console.log(
  `create: first ${(durations[0] ?? 0).toFixed(2)} ms, median ${percentile(0.5)} ms, p99 ${percentile(0.99)} ms`,
);

const options = { limits: { read: { limit: 1e9, interval: 60_000 } } };
const sandbox = createSandbox(options);
const token = sandbox.accounts.create({ email: 'me@example.com', password: 'x' }).token('api');
const headers = { accept: 'application/json', authorization: `Bearer ${token}` };
const { url, close } = await sandbox.listen();
const observed = createSandbox(options);
observed.accounts.create({ email: 'me@example.com', password: 'x' }).token('api');
const { url: observedUrl, consoleUrl = '' } = await observed.listen({ console: true });
const page = fork('bench/support/console-page.ts', [consoleUrl]);
await once(page, 'message');
const path = '/api/v2/audiences/index';
const bytes = await (await fetch(`${url}${path}`, { headers })).text();
const bare = createServer((_, response) => response.setHeader('content-type', 'application/json').end(bytes));
await new Promise<void>((resolve) => bare.listen(0, '127.0.0.1', resolve));
const bareUrl = `http://127.0.0.1:${(bare.address() as AddressInfo).port}`;

const contenders: Readonly<Record<string, () => Promise<Response>>> = {
  'bare node:http': () => fetch(`${bareUrl}${path}`, { headers }),
  'sandbox over HTTP': () => fetch(`${url}${path}`, { headers }),
  'with the console': () => fetch(`${observedUrl}${path}`, { headers }),
  'sandbox in process': () => sandbox.fetch(`${url}${path}`, { headers }),
};
const times = await medianOfRounds(contenders, ROUNDS, async (call) => {
  const start = performance.now();
  for (let count = 0; count < CALLS; count++) await (await call()).text();
  return (performance.now() - start) / CALLS;
});
const reference = times.get('bare node:http') ?? 0;
for (const [name, time] of times) {
  console.log(`${name.padEnd(18)} ${time.toFixed(3)} ms per read  ${(time / reference).toFixed(2)} x`);
}
const open = times.get('with the console') ?? 0;
console.log(`with the console, against without: ${(open / (times.get('sandbox over HTTP') ?? 0)).toFixed(2)} x`);
page.kill();
await observed.close();
await close();
bare.close();
bare.closeAllConnections();

const busy = createSandbox({ ...options, clock: 'manual', deliver: async () => new Response() });
const get = async (target: string): Promise<string> =>
  (await busy.console(new Request(`http://localhost${target}`))).text();
// The recording begins with the first request to the console.
const home = await get('/start');
const busyToken = busy.accounts.create({ email: 'me@example.com', password: 'x' }).token('api');
for (let id = 0; id < 10_000; id++) {
  await busy.fetch(`${url}/api/v2/audiences/${id}`, { headers: { ...headers, authorization: `Bearer ${busyToken}` } });
}
const endpoint = busy.webhooks.create({ url: 'https://example.com/' });
for (let count = 0; count < 5_000; count++) busy.webhooks.test(endpoint.id);
await busy.advance(0);
const links = new Set([...home.matchAll(/href="(\/[a-z]*)"/g)].map(([, link = '/']) => link));
const pages = await medianOfRounds(
  Object.fromEntries([...links, '/requests?q=audience', '/deliveries?q=test'].map((link) => [link, link])),
  ROUNDS,
  async (link) => {
    const start = performance.now();
    await get(link);
    return performance.now() - start;
  },
);
const [[slowest, ms] = ['', 0]] = [...pages].toSorted(([, a], [, b]) => b - a);
console.log(
  `slowest of ${pages.size} pages after 10,000 requests and 5,000 deliveries: ${slowest}, ${ms.toFixed(0)} ms`,
);

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
