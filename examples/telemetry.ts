/**
 * Traces the build of an audience: a create that is retried, a wait with its polls, and the webhook that ends it. Prints
 * the traces as trees. `node examples/telemetry.ts` runs it against a sandbox in this process.
 *
 * A program that exports to a collector registers the SDK as usual, such as by `@opentelemetry/sdk-node`: `openTelemetry()`
 * without options uses what is registered. `examples/telemetry/` has a dashboard and an alert rule for its metrics.
 */
import { createServer } from 'node:http';
import { context, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { AudienceClient } from 'audience-activation';
import { toNodeListener } from 'audience-activation/node';
import { openTelemetry } from 'audience-activation/otel';
import { createSandbox } from 'audience-activation/sandbox';
import { createWebhookReceiver } from 'audience-activation/webhooks';
import { printTraces } from './support/print-traces.ts';

context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
const exporter = new InMemorySpanExporter();
const tracerProvider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] });
trace.setGlobalTracerProvider(tracerProvider);

// The first create fails, as it would during a deployment of the service.
const sandbox = createSandbox({ clock: { speed: 120 }, faults: [{ on: 'audiences.create', status: 503, times: 1 }] });
const account = sandbox.accounts.create({ email: 'demo@example.com', password: 'a password of the sandbox' });
const service = await sandbox.listen();

const telemetry = openTelemetry();
const client = new AudienceClient({ baseUrl: service.url, token: account.token('api'), telemetry });

const secrets: string[] = [];
const handled = Promise.withResolvers<void>();
const receiver = createWebhookReceiver({
  secrets,
  now: () => sandbox.now(),
  on: {
    'audience.completed': ({ data }) =>
      trace.getTracer('example').startActiveSpan('save result', (span) => {
        console.log(`Audience ${data.id} holds ${data.results_count} devices.\n`);
        span.end();
        handled.resolve();
      }),
  },
  telemetry,
});
receiver.attach(client.waits);
const server = createServer(toNodeListener(receiver)).listen(0, '127.0.0.1');
await new Promise((resolve) => server.once('listening', resolve));
const address = server.address();
const port = typeof address === 'object' && address !== null ? address.port : 0;
const events = ['audience.completed'];
const url = `http://127.0.0.1:${port}/webhooks`;
secrets.push(sandbox.webhooks.create({ account, name: 'Example', url, events }).secret);

await trace.getTracer('example').startActiveSpan('order audience', async (span) => {
  await client.audiences.createAndWait({ name: 'Visitors of the last month' });
  span.end();
});
// The wait ends before the event is handled.
await handled.promise;

await client.close();
await new Promise((resolve) => server.close(resolve));
await service.close();
printTraces(exporter.getFinishedSpans());
