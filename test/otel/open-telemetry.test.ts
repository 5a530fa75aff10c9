import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-http';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openTelemetry } from '../../src/otel/index.ts';
import { createWebhookReceiver } from '../../src/webhooks/index.ts';
import { delivery, recordingLogger, SECRET, wireEvent } from '../support/deliveries.ts';
import { everything } from '../support/everything.ts';
import { clientOf, failureOf, startServer } from '../support/server.ts';
import { bytesOf, SIGNATURE, startStorage, wireActivation } from '../support/storage.ts';
import { wireAudience } from '../support/wire-audience.ts';
import { startTelemetry, withOpenTelemetry } from './support/telemetry.ts';

const undici = withOpenTelemetry();

describe('a secret', () => {
  const CANARY = 'canary';
  const [TOKEN, PASSWORD, ISSUED, BODY, REPLY] = ['token', 'password', 'issued', 'body', 'reply'].map(
    (name) => `${CANARY}-${name}-0123456789`,
  );

  it('is in no field of any span or metric, nor is a body or a presigned query', async () => {
    const { telemetry, everything: recorded, spans } = startTelemetry(undici());
    const logs: string[] = [];
    const log = (...line: unknown[]): void => void logs.push(everything(line));
    const logger = { error: log, warn: log, info: log, debug: log };
    const events: unknown[] = [];
    const note = (event: unknown): void => void events.push(event);
    const watched = { telemetry, logger, logLevel: 'debug', onRequest: note, onResponse: note, onRetry: note } as const;
    const errors: unknown[] = [];
    const server = await startServer([
      { status: 422, message: `${REPLY} ${TOKEN} ${BODY}`, errors: { name: [`${BODY}`] } },
      { data: { token: ISSUED } },
      { status: 401, text: `${REPLY} ${PASSWORD}` },
      { status: 503, text: `${REPLY}`, headers: { 'set-cookie': `${CANARY}=1`, 'x-echo': `Bearer ${TOKEN}` } },
      { data: wireAudience(7), message: `${REPLY}` },
      { text: `${REPLY}` },
      { fault: 'cut' },
    ]);
    const options = { token: `${TOKEN}`, ...watched, maxRetries: 1 };
    const client = clientOf(server, options);
    const login = { email: 'ann@example.com', password: `${PASSWORD}` };
    errors.push(await failureOf(client.audiences.create({ name: `${BODY}` })));
    await client.auth.login(login);
    errors.push(await failureOf(client.auth.login(login)));
    await client.audiences.get(7);
    errors.push(await failureOf(client.audiences.get(8)));
    errors.push(await failureOf(client.request('GET', `/api/v2/anything?token=${TOKEN}`)));
    const storage = await startStorage([{ status: 403, text: `${REPLY}` }, {}], options);
    errors.push(await failureOf(storage.client.uploads.send(storage.reservation, new Uint8Array(8))));
    await storage.client.uploads.send(storage.reservation, new Uint8Array(8));
    const files = await startServer([{ text: `${BODY}` }, { status: 403, text: `${REPLY}` }]);
    const activations = await startServer([
      { data: wireActivation(`${files.url}/results/devices.csv?X-Signature=${SIGNATURE}`) },
    ]);
    for await (const download of clientOf(activations, options).activations.download(7)) {
      await bytesOf(await download.open());
      errors.push(await failureOf(download.open()));
    }
    const receiver = createWebhookReceiver({
      secrets: SECRET,
      logger: recordingLogger(),
      telemetry,
      on: { 'audience.completed': ({ data }) => Promise.reject(new Error(`${REPLY} ${data.name}`)) },
    });
    await receiver.handle(await delivery(wireEvent('evt_1', { data: { ...wireAudience(), name: BODY } })));

    expect(errors).toHaveLength(6);
    expect(new Set(spans().map(({ name }) => name))).toEqual(
      new Set([
        'audiences.create',
        'POST /api/v2/audiences/create',
        'auth.login',
        'POST /api/v2/auth/login',
        'audiences.get',
        'GET /api/v2/audiences/{id}',
        'request',
        'uploads.send',
        'PUT',
        'activations.get',
        'GET /api/v2/activations/{id}',
        'activations.download',
        'GET',
        'process audience.completed',
      ]),
    );
    expect(await recorded()).not.toMatch(/canary/i);
    const seen = [...logs, ...events.map((event) => everything(event)), ...errors.map((error) => everything(error))];
    for (const secret of [TOKEN, PASSWORD, ISSUED, SIGNATURE, SECRET]) expect(seen.join('\n')).not.toContain(secret);
  });
});

describe('a collector', () => {
  it('receives spans and metrics by OTLP', async () => {
    const received = new Map<string, unknown[]>();
    const collector = createServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk);
      const path = request.url ?? '';
      received.set(path, [...(received.get(path) ?? []), JSON.parse(Buffer.concat(chunks).toString())]);
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
    await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void collector.close());
    const url = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`;
    const tracerProvider = new TracerProvider({
      spanProcessors: [new BatchSpanProcessor({ exporter: new OTLPTraceExporter({ url: `${url}/v1/traces` }) })],
    });
    const exporter = new OTLPMetricExporter({ url: `${url}/v1/metrics` });
    const meterProvider = new MeterProvider({ readers: [new PeriodicExportingMetricReader({ exporter })] });
    undici().setTracerProvider(tracerProvider);
    const server = await startServer([{ status: 503 }, { data: [] }]);
    await clientOf(server, { telemetry: openTelemetry({ tracerProvider, meterProvider }) }).webhooks.list();
    await tracerProvider.shutdown();
    await meterProvider.shutdown();

    const [traces] = received.get('/v1/traces') ?? [];
    const [metrics] = received.get('/v1/metrics') ?? [];
    const spans = Object(traces)
      .resourceSpans.flatMap((one: { scopeSpans: object[] }) => one.scopeSpans)
      .filter(({ scope }: { scope: { name: string } }) => scope.name === 'audience-activation')
      .flatMap((one: { spans: object[] }) => one.spans);
    const [call] = spans.filter(({ name }: { name: string }) => name === 'webhooks.list');
    const attempts = spans.filter(({ parentSpanId }: { parentSpanId?: string }) => parentSpanId === call.spanId);
    expect(spans).toHaveLength(3);
    expect(attempts.map(({ name }: { name: string }) => name)).toEqual(Array(2).fill('GET /api/v2/webhooks/index'));
    expect(attempts[1].attributes).toContainEqual({ key: 'http.request.resend_count', value: { intValue: 1 } });
    const names = Object(metrics).resourceMetrics.flatMap((one: { scopeMetrics: { metrics: { name: string }[] }[] }) =>
      one.scopeMetrics.flatMap((scope) => scope.metrics.map(({ name }) => name)),
    );
    expect(names).toEqual(
      expect.arrayContaining([
        'http.client.request.duration',
        'audience_activation.call.duration',
        'audience_activation.permit.wait',
        'audience_activation.bucket.use',
        'audience_activation.retries',
      ]),
    );
  });
});

describe('openTelemetry', () => {
  it('refuses options that it does not have', () => {
    const options: object = { tracer: {} };
    expect(() => openTelemetry(options)).toThrow(
      '`tracer` is not an option of openTelemetry: use tracerProvider, meterProvider, propagate.',
    );
  });

  it.each([
    [null, 'The options of openTelemetry must be an object.'],
    [3, 'The options of openTelemetry must be an object.'],
    [[], 'The options of openTelemetry must be an object.'],
    [{ tracerProvider: 1 }, '`tracerProvider` must be a `TracerProvider`, but is a number.'],
    [{ meterProvider: {} }, '`meterProvider` must be a `MeterProvider`.'],
  ])('refuses %j', (options, message) => {
    expect(() => openTelemetry(options as object)).toThrow(message);
  });

  it('reports the calls that the close of their client has ended', async () => {
    const server = await startServer([{ fault: 'stall' }]);
    const { telemetry, spans } = startTelemetry(undici());
    const client = clientOf(server, { telemetry });
    const failing = failureOf(client.webhooks.list());
    await expect.poll(async () => (await server.seen()).length).toBe(1);
    await client.close();
    expect(spans().map(({ name }) => name)).toContain('webhooks.list');
    await failing;
  });

  it('does nothing where no SDK is registered', async () => {
    const server = await startServer([{ data: [] }]);
    expect(await clientOf(server, { telemetry: openTelemetry() }).webhooks.list()).toEqual([]);
  });
});
