/**
 * Compares the CPU time per call of this client, of ky, of ky with p-retry and of other clients with that of bare
 * `fetch`, against a server in another process. Prints medians of interleaved rounds; a ratio is the median of the
 * ratios of each round, with its range.
 *
 *   npm run bench:overhead
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { AudienceClient } from 'audience-activation';
import ky from 'ky';
import pRetry from 'p-retry';
import { clientImports, packagesOf } from './support/imports.ts';
import { peerCalls } from './support/peers.ts';
import { printTable, printTitle } from './support/report.ts';
import { cpuOf, median, ratioWithRange, valuesOfRounds } from './support/rounds.ts';

const WARM_UP = 1_000;
const ROUNDS = 60;
const CALLS = 100;

const child = fork(new URL('./support/echo-server.ts', import.meta.url));
const [url] = await once(child, 'message');
const path = `${url}/api/v2/webhooks/index`;
const headers = { accept: 'application/json', authorization: 'Bearer token' };
const client = new AudienceClient({ baseUrl: url, token: 'token', rateLimits: false });

const contenders: Readonly<Record<string, () => unknown>> = {
  'bare fetch': async () => (await fetch(path, { headers })).json(),
  ky: () => ky(path, { headers }).json(),
  'ky with p-retry': () => pRetry(() => ky(path, { headers, retry: 0 }).json()),
  'audience-activation': () => client.webhooks.list(),
  ...peerCalls(url),
};

printTitle('CPU per call', ['ky', 'p-retry', ...packagesOf(clientImports), 'svix']);
for (const call of Object.values(contenders)) await cpuOf(call, WARM_UP);
const times = await valuesOfRounds(contenders, ROUNDS, (call) => cpuOf(call, CALLS));
const base = times.get('bare fetch') ?? [];
const rows = [...times].map(([name, each]) => [name, median(each).toFixed(0), ratioWithRange(each, base)]);
printTable(['Client', 'µs', 'of bare fetch'], rows);
await client.close();
child.kill();
