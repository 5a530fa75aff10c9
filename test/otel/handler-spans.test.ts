import { SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { describe, expect, it } from 'vitest';
import { createWebhookReceiver, type ReceiverOptions } from '../../src/webhooks/index.ts';
import { delivery, recordingLogger, SECRET, wireEvent } from '../support/deliveries.ts';
import { idOf, parentOf, startTelemetry, withOpenTelemetry } from './support/telemetry.ts';

const undici = withOpenTelemetry();

function start(options: Partial<ReceiverOptions> = {}) {
  const sdk = startTelemetry(undici());
  const { telemetry } = sdk;
  const receiver = createWebhookReceiver({ secrets: SECRET, logger: recordingLogger(), telemetry, ...options });
  const send = async (event: object, init?: RequestInit) => receiver.handle(await delivery(event, init));
  return { send, ...sdk };
}

describe('a handled delivery', () => {
  it('is a consumer span, within which the handler runs', async () => {
    const { send, spans, named, tracerProvider } = start({
      on: {
        'audience.completed': async () => {
          await new Promise(setImmediate);
          tracerProvider.getTracer('test').startSpan('save').end();
        },
      },
    });
    await send(wireEvent('evt_1'));
    const [span] = named('process audience.completed');
    expect(span).toMatchObject({ kind: SpanKind.CONSUMER, status: { code: SpanStatusCode.UNSET } });
    expect(span?.attributes).toEqual({
      'messaging.system': 'audience_activation',
      'messaging.operation.name': 'process',
      'messaging.operation.type': 'process',
      'messaging.destination.name': 'audience.completed',
      'messaging.message.id': 'evt_1',
    });
    expect(named('save').map(parentOf)).toEqual([span && idOf(span)]);
    expect(spans()).toHaveLength(2);
  });

  it('is below the span of the server that received it', async () => {
    const { send, named, tracerProvider } = start();
    await tracerProvider.getTracer('test').startActiveSpan('POST /webhooks', async (server) => {
      await send(wireEvent('evt_1'));
      server.end();
      expect(trace.getActiveSpan()).toBe(server);
    });
    expect(named(/^process/).map(parentOf)).toEqual(named('POST /webhooks').map(idOf));
  });

  it('a handled delivery whose handler fails has a span with an error', async () => {
    const { send, named } = start({ on: { 'audience.completed': () => Promise.reject(new Error('canary-message')) } });
    expect((await send(wireEvent('evt_1'))).status).toBe(500);
    expect(named(/^process/)).toMatchObject([
      { status: { code: SpanStatusCode.ERROR }, attributes: { 'error.type': '_OTHER' } },
    ]);
  });

  it('is the only one with a span: duplicates and refused deliveries have none', async () => {
    const { send, spans } = start();
    await send(wireEvent('evt_1'));
    await send(wireEvent('evt_1'));
    await send(wireEvent('evt_2'), { headers: { 'service-signature': 't=1,v1=0' } });
    expect(spans()).toHaveLength(1);
  });
});
