/**
 * Compares the CPU time per call of this client, of ky, of ky with p-retry and of other clients with the CPU time of
 * bare `fetch`, against a server in another process: calls one after the other, and sixteen at a time. Then compares the
 * client with and without OpenTelemetry. Prints medians of interleaved rounds. A ratio is the median of the ratios of
 * each round, with the range without the lowest and the highest tenth.
 *
 *   npm run bench -- overhead
 *   BASELINE=../other/dist/index.js npm run bench -- overhead    # with another build of the package
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { AudienceClient, type ClientOptions } from 'audience-activation';
import ky from 'ky';
import pRetry from 'p-retry';
import { clientImports, packagesOf } from './support/imports.ts';
import { peerCalls } from './support/peers.ts';
import { printTable, printTitle } from './support/report.ts';
import { cpuOf, median, ratioWithRange, valuesOfRounds } from './support/rounds.ts';
import { startTelemetry } from './support/telemetry.ts';

const WARM_UP = 1_000;
const ROUNDS = 60;
const CALLS = 100;
const CONCURRENCY = 16;
/** Spans are exported in batches: a round contains several. */
const TELEMETRY = { rounds: 40, calls: 500 } as const;

type Calls = Readonly<Record<string, () => unknown>>;

const child = fork(new URL('./support/echo-server.ts', import.meta.url));
const [url] = await once(child, 'message');
const path = `${url}/api/v2/webhooks/index`;
const headers = { accept: 'application/json', authorization: 'Bearer token' };
const options: ClientOptions = { baseUrl: url, token: 'token', rateLimits: false };
const client = new AudienceClient(options);
const { BASELINE } = process.env;
const baseline = BASELINE === undefined ? undefined : new (await import(resolve(BASELINE))).AudienceClient(options);

const contenders: Calls = {
  'bare fetch': async () => (await fetch(path, { headers })).json(),
  ky: () => ky(path, { headers }).json(),
  'ky with p-retry': () => pRetry(() => ky(path, { headers, retry: 0 }).json()),
  'audience-activation': () => client.webhooks.list(),
  ...(baseline && { 'the other build': () => baseline.webhooks.list() }),
  ...peerCalls(url),
};

/** Prints a table of clients and of their ratios to the first one. */
async function compare(
  heading: string,
  calls: Calls,
  rounds: number,
  measure: (call: () => unknown) => Promise<number>,
) {
  const times = await valuesOfRounds(calls, rounds, measure);
  const [base = '', timesOfBase = []] = [...times][0] ?? [];
  const rows = [...times].map(([name, each]) => [name, median(each).toFixed(0), ratioWithRange(each, timesOfBase)]);
  printTable([heading, 'µs', `of ${base}`], rows);
}

printTitle('CPU per call', ['ky', 'p-retry', ...packagesOf(clientImports), 'svix']);
for (const call of Object.values(contenders)) await cpuOf(call, WARM_UP, CONCURRENCY);
await compare('One after the other', contenders, ROUNDS, (call) => cpuOf(call, CALLS));
await compare(`${CONCURRENCY} at a time`, contenders, ROUNDS, (call) => cpuOf(call, CALLS, CONCURRENCY));

printTitle('Telemetry', ['@opentelemetry/sdk-trace', '@opentelemetry/sdk-metrics']);
const { telemetry, shutdown } = startTelemetry();
const traced = new AudienceClient({ ...options, telemetry });
const withAndWithout: Calls = {
  'without telemetry': () => client.webhooks.list(),
  'with OpenTelemetry': () => traced.webhooks.list(),
};
for (const call of Object.values(withAndWithout)) await cpuOf(call, WARM_UP);
await compare('Client', withAndWithout, TELEMETRY.rounds, (call) => cpuOf(call, TELEMETRY.calls));
await Promise.all([client.close(), traced.close(), baseline?.close(), shutdown()]);
child.kill();
