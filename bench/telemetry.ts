/**
 * Compares the CPU time per call of a client with OpenTelemetry with that of one without, against a server in another
 * process. Prints medians of interleaved rounds; a ratio is the median of the ratios of each round, with its range.
 *
 *   npm run bench:telemetry
 *   BASELINE=../other/dist/index.js npm run bench:telemetry    # with another build of the package, without telemetry
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { context } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import { BatchSpanProcessor, type SpanExporter, TracerProvider } from '@opentelemetry/sdk-trace';
import { AudienceClient, type ClientOptions } from 'audience-activation';
import { openTelemetry } from 'audience-activation/otel';
import { printTable, printTitle } from './support/report.ts';
import { cpuOf, median, ratioWithRange, valuesOfRounds } from './support/rounds.ts';

const WARM_UP = 1_000;
const ROUNDS = 40;
const CALLS = 500;

const child = fork(new URL('./support/echo-server.ts', import.meta.url));
const [url] = await once(child, 'message');
const options: ClientOptions = { baseUrl: url, token: 'token', rateLimits: false };

context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
const nowhere: SpanExporter = { export: (_, done) => done({ code: 0 }), shutdown: async () => {} };
const tracerProvider = new TracerProvider({ spanProcessors: [new BatchSpanProcessor({ exporter: nowhere })] });
const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
const meterProvider = new MeterProvider({ readers: [new PeriodicExportingMetricReader({ exporter })] });

const without = new AudienceClient(options);
const withTelemetry = new AudienceClient({ ...options, telemetry: openTelemetry({ tracerProvider, meterProvider }) });
const { BASELINE } = process.env;
const baseline = BASELINE === undefined ? undefined : new (await import(resolve(BASELINE))).AudienceClient(options);

const contenders: Readonly<Record<string, () => unknown>> = {
  'without telemetry': () => without.webhooks.list(),
  'with OpenTelemetry': () => withTelemetry.webhooks.list(),
  ...(baseline && { 'the other build': () => baseline.webhooks.list() }),
};

printTitle('CPU per call', ['@opentelemetry/sdk-trace', '@opentelemetry/sdk-metrics']);
for (const call of Object.values(contenders)) await cpuOf(call, WARM_UP);
const times = await valuesOfRounds(contenders, ROUNDS, (call) => cpuOf(call, CALLS));
const base = times.get('without telemetry') ?? [];
printTable(
  ['Client', 'µs', 'of without'],
  [...times].map(([name, each]) => [name, median(each).toFixed(0), ratioWithRange(each, base)]),
);
await Promise.all([without.close(), withTelemetry.close(), baseline?.close()]);
await Promise.all([tracerProvider.shutdown(), meterProvider.shutdown()]);
child.kill();
