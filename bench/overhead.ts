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

/** CPU microseconds a call, of this process. */
async function measure(call: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  for (let at = 0; at < CALLS; at++) await call();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / CALLS;
}

const times = new Map(Object.keys(contenders).map((name) => [name, [] as number[]]));
for (let round = 0; round <= ROUNDS; round++) {
  for (const [name, call] of Object.entries(contenders)) {
    const time = await measure(call);
    // The first round warms up.
    if (round > 0) times.get(name)?.push(time);
  }
}

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;
const base = median(times.get('bare fetch') ?? []);
for (const [name, values] of times) {
  console.log(
    `${name.padEnd(22)} ${median(values).toFixed(0).padStart(5)} µs  ${(median(values) / base).toFixed(2)} x`,
  );
}
await client.close();
child.kill();
