import { AsyncLocalStorage } from 'node:async_hooks';
import { describe, expect, it } from 'vitest';
import {
  createWebhookReceiver,
  type DeliveryEvent,
  type ReceiverOptions,
  WebhookVerificationError,
} from '../../src/webhooks/index.ts';
import { delivery, recordingLogger, SECRET, wireEvent } from '../support/deliveries.ts';

/** Creates a receiver that records the events of its deliveries. */
function start(options: Partial<ReceiverOptions> = {}) {
  const events: DeliveryEvent[] = [];
  const logger = recordingLogger();
  const receiver = createWebhookReceiver({
    secrets: SECRET,
    logger,
    onDelivery: (event) => events.push(event),
    ...options,
  });
  const send = async (event: object, init?: RequestInit): Promise<number> =>
    (await receiver.handle(await delivery(event, init))).status;
  const steps = () => events.map(({ type, eventId }) => `${type}${eventId === undefined ? '' : ` ${eventId}`}`);
  return { receiver, send, events, steps, lines: logger.lines };
}

describe('onDelivery', () => {
  it('reports that an event is received, verified and handled, and each delivery by its own id', async () => {
    const { send, events } = start();
    await send(wireEvent('evt_1'));
    await send(wireEvent('evt_2', { type: 'cohort.failed' }));
    const [first = '', second] = [...new Set(events.map(({ deliveryId }) => deliveryId))];
    const of = (deliveryId: unknown, eventId: string, eventType: string) =>
      ['received', 'verified', 'handled'].map((type) => ({
        type,
        deliveryId,
        duration: expect.any(Number),
        ...(type !== 'received' && { eventId, eventType }),
      }));
    expect(first).toMatch(/^delivery_\d+$/);
    expect(events).toEqual([...of(first, 'evt_1', 'audience.completed'), ...of(second, 'evt_2', 'cohort.failed')]);
  });

  it('reports why a delivery was refused', async () => {
    const { send, receiver, events } = start({ maxBytes: 1_000 });
    await send(wireEvent('evt_1'), { headers: { 'service-signature': 't=1,v1=0' } });
    await send(wireEvent('evt_1', { padding: 'x'.repeat(1_000) }));
    await receiver.handle(new Request('http://localhost/', { method: 'POST', body: '{}' }));
    expect(events.filter(({ type }) => type !== 'received')).toMatchObject([
      { type: 'refused', reason: 'malformed-header' },
      { type: 'refused', reason: 'too-large' },
      { type: 'refused', reason: 'missing-header' },
    ]);
  });

  it('reports an event that was handled before, and one that is being handled', async () => {
    const gate = Promise.withResolvers<void>();
    const { send, steps } = start({ on: { 'audience.completed': () => gate.promise } });
    const handling = send(wireEvent('evt_1'));
    expect(await send(wireEvent('evt_1'))).toBe(503);
    gate.resolve();
    await handling;
    expect(await send(wireEvent('evt_1'))).toBe(200);
    expect(steps().filter((step) => !/^(?:received|verified)/.test(step))).toEqual([
      'busy evt_1',
      'handled evt_1',
      'duplicate evt_1',
    ]);
  });

  it('reports what the handler threw, and a store that fails', async () => {
    const error = new Error('the database is away');
    const fails = () => Promise.reject(error);
    const failing = start({ on: { 'audience.completed': fails } });
    expect(await failing.send(wireEvent('evt_1'))).toBe(500);
    const storeless = start({ dedupe: { claim: fails, complete: fails, release: fails } });
    expect(await storeless.send(wireEvent('evt_1'))).toBe(503);
    for (const { events } of [failing, storeless]) {
      expect(events.map(({ type }) => type)).toEqual(['received', 'verified', 'failed']);
      expect(events.at(-1)).toMatchObject({ error });
    }
  });

  it('is not called for a request that is not a delivery', async () => {
    const { receiver, events } = start();
    await receiver.handle(new Request('http://localhost/'));
    expect(events).toEqual([]);
  });

  it('an `onDelivery` hook that throws is logged and harms no delivery', async () => {
    const broken = () => {
      throw new Error('broken');
    };
    const { send, lines } = start({ onDelivery: broken, aroundHandler: broken });
    expect(await send(wireEvent('evt_1'))).toBe(200);
    expect(lines.filter((line) => line.endsWith(' threw: broken'))).toEqual([
      'error audience-activation: `onDelivery` threw: broken',
      'error audience-activation: `onDelivery` threw: broken',
      'error audience-activation: `aroundHandler` threw: broken',
      'error audience-activation: `onDelivery` threw: broken',
    ]);
  });

  it('must be a function, and telemetry an object of functions', () => {
    const wrong: object = { onDelivery: 'log' };
    expect(() => start(wrong)).toThrow('`onDelivery` must be a function.');
    for (const telemetry of ['otel', null, [], () => ({}), wrong]) {
      const options: object = { telemetry };
      expect(() => start(options)).toThrow('`telemetry` must be `openTelemetry()`');
    }
  });
});

describe('aroundHandler', () => {
  it('runs the handler of an event in its context, once', async () => {
    const context = new AsyncLocalStorage<string>();
    const seen: (string | undefined)[] = [];
    const { send } = start({
      aroundHandler: ({ eventId = '' }, next) => context.run(eventId, next),
      on: { 'audience.completed': () => void seen.push(context.getStore()) },
    });
    await send(wireEvent('evt_1'));
    await send(wireEvent('evt_1'));
    expect(seen).toEqual(['evt_1']);
  });

  it('sees the error of the handler, which is answered by 500', async () => {
    const seen: unknown[] = [];
    const error = new WebhookVerificationError('of another delivery', { reason: 'no-match' });
    const { send } = start({
      aroundHandler: (_, next) => next().catch((failure) => seen.push(failure)),
      on: { 'audience.completed': () => Promise.reject(error) },
    });
    expect(await send(wireEvent('evt_1'))).toBe(500);
    expect(seen).toEqual([error]);
  });
});

describe('telemetry', () => {
  it('is another set of hooks, called first and outermost', async () => {
    const calls: string[] = [];
    const { send } = start({
      telemetry: {
        onDelivery: ({ type }) => calls.push(`telemetry ${type}`),
        aroundHandler: async (_, next) => {
          calls.push('telemetry around');
          await next();
        },
      },
      onDelivery: ({ type }) => calls.push(`own ${type}`),
      aroundHandler: async (_, next) => {
        calls.push('own around');
        await next();
      },
      on: { 'audience.completed': () => void calls.push('handler') },
    });
    await send(wireEvent('evt_1'));
    const each = (type: string) => [`telemetry ${type}`, `own ${type}`];
    expect(calls).toEqual([...each('received'), ...each('verified'), ...each('around'), 'handler', ...each('handled')]);
  });
});
