/**
 * CPU per call of the client over bare `fetch`, beside ky and ky with p-retry: interleaved rounds
 * against a server in a process of its own, medians as ratios.
 *
 *   npm run bench:overhead
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { AudienceClient } from 'audience-activation';
import ky from 'ky';
import pRetry from 'p-retry';
import { cpuOf, medianOfRounds } from './support/rounds.ts';

const ROUNDS = 15;
const CALLS = 400;

const child = fork(new URL('./support/echo-server.ts', import.meta.url));
const [url] = await once(child, 'message');
const path = `${url}/api/v2/webhooks/index`;
const headers = { accept: 'application/json', authorization: 'Bearer token' };
const client = new AudienceClient({ baseUrl: url, token: 'token', rateLimits: false });

const contenders: Readonly<Record<string, () => Promise<unknown>>> = {
  'bare fetch': async () => (await fetch(path, { headers })).json(),
  ky: () => ky(path, { headers }).json(),
  'ky with p-retry': () => pRetry(() => ky(path, { headers, retry: 0 }).json()),
  'audience-activation': () => client.webhooks.list(),
};

const times = await medianOfRounds(contenders, ROUNDS, (call) => cpuOf(call, CALLS));
const base = times.get('bare fetch') ?? 0;
for (const [name, time] of times) {
  console.log(`${name.padEnd(22)} ${time.toFixed(0).padStart(5)} µs  ${(time / base).toFixed(2)} x`);
}
await client.close();
child.kill();
