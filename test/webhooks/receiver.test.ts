import { createServer } from 'node:http';
import { afterEach, describe, expect, it, vi } from 'vitest';
import {
  createWebhookReceiver,
  memoryDedupe,
  type ReceiverOptions,
  type WebhookEvent,
} from '../../src/webhooks/index.ts';
import { delivery, recordingLogger, SECRET, wireEvent } from '../support/deliveries.ts';
import { eventually } from '../support/eventually.ts';
import { listenForTest } from '../support/loopback.ts';

afterEach(() => void vi.useRealTimers());

function start(options: Partial<ReceiverOptions> = {}) {
  const logger = recordingLogger();
  const receiver = createWebhookReceiver({ secrets: SECRET, logger, ...options });
  const send = async (event: object, init?: RequestInit): Promise<number> =>
    (await receiver.handle(await delivery(event, init))).status;
  return { receiver, send, lines: logger.lines };
}

describe('a receiver', () => {
  it('passes an event to the handler of its type and responds with 200 and no body', async () => {
    const seen: number[] = [];
    const { receiver } = start({ on: { 'audience.completed': async ({ data }) => void seen.push(data.id) } });
    const response = await receiver.handle(await delivery(wireEvent('evt_1')));
    expect([response.status, await response.text()]).toEqual([200, '']);
    expect(seen).toEqual([42]);
  });

  it('refuses an option that it does not know', () => {
    expect(() => start({ tolerence: 5 } as object)).toThrow(
      '`tolerence` is not an option of `createWebhookReceiver`: use secrets, on,',
    );
  });

  it('names `toNodeListener` for a request of node:http, and responds with 500, also without its object', async () => {
    const { receiver, lines } = start();
    const { handle } = receiver;
    const server = createServer(async (request, response) => {
      const { status } = await handle(request as never);
      response.writeHead(status).end();
    });
    const url = await listenForTest(server);
    expect((await fetch(url, { method: 'POST', body: '{}' })).status).toBe(500);
    expect(lines).toEqual([
      expect.stringMatching(/must be called with a `Request`\. .* use `toNodeListener\(receiver\)`/),
    ]);
  });

  it('responds with 405 to any method but POST', async () => {
    const { receiver, lines } = start();
    const response = await receiver.handle(new Request('http://localhost/'));
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST']);
    expect(lines).toEqual([expect.stringContaining('with 405, because deliveries are POST requests')]);
  });

  it('responds with 413 to a body that is too large, with and without content-length', async () => {
    const { send, receiver, lines } = start({ maxBytes: 100 });
    expect(await send(wireEvent('evt_1'))).toBe(413);
    const body = new Blob(['x'.repeat(101)]).stream();
    const request = new Request('http://localhost/', { method: 'POST', body, ...{ duplex: 'half' } });
    expect((await receiver.handle(request)).status).toBe(413);
    expect(lines).toEqual(Array(2).fill(expect.stringContaining('its body is larger than `maxBytes` (100 bytes)')));
  });

  it('responds with 400 to a delivery that is not genuine, and logs the reason', async () => {
    const { send, receiver, lines } = start();
    expect(await send(wireEvent('evt_1'), { headers: { 'service-signature': 't=1,v1=0' } })).toBe(400);
    const response = await receiver.handle(await delivery(wireEvent('evt_1'), { body: '{}' }));
    expect([response.status, await response.text()]).toEqual([400, '']);
    expect(lines).toEqual([
      expect.stringContaining('warn audience-activation: The receiver refused a delivery: The signature header'),
      expect.stringContaining('signature does not match'),
    ]);
  });

  it('responds with 500 and no body when the handler fails, and handles the event when it is retried', async () => {
    let fails = true;
    const handler = vi.fn(() => {
      if (fails) throw new Error('the database is away');
    });
    const { send, receiver, lines } = start({ on: { 'audience.completed': handler } });
    const response = await receiver.handle(await delivery(wireEvent('evt_1')));
    expect([response.status, await response.text()]).toEqual([500, '']);
    fails = false;
    expect(await send(wireEvent('evt_1'))).toBe(200);
    expect(await send(wireEvent('evt_1'))).toBe(200);
    expect(handler).toHaveBeenCalledTimes(2);
    expect(lines).toEqual([
      'error audience-activation: Event evt_1 (audience.completed): the handler failed. the database is away',
    ]);
  });

  it('runs a handler once for two concurrent deliveries', async () => {
    let finish = (): void => {};
    const handler = vi.fn(() => new Promise<void>((resolve) => (finish = resolve)));
    const { send, lines } = start({ on: { 'audience.completed': handler } });
    const first = send(wireEvent('evt_1'));
    await eventually(() => expect(handler).toHaveBeenCalled());
    expect(await send(wireEvent('evt_1'))).toBe(503);
    expect(lines).toEqual([
      expect.stringMatching(/Event evt_1 .*: a handler may still be processing another delivery of this event/),
    ]);
    finish();
    expect(await first).toBe(200);
    expect(await send(wireEvent('evt_1'))).toBe(200);
    expect(handler).toHaveBeenCalledTimes(1);
  });

  it('responds with 200 to duplicates of a handled event that arrive together', async () => {
    const { send } = start({ on: { 'audience.completed': () => {} } });
    expect(await send(wireEvent('evt_1'))).toBe(200);
    expect(await Promise.all(Array.from({ length: 20 }, () => send(wireEvent('evt_1'))))).toEqual(Array(20).fill(200));
  });

  it.each([
    ['succeeds', 200, 1],
    ['fails', 200, 2],
  ])(
    'responds with 503 after nine seconds while the handler continues; when it %s later, the next delivery gets %i after %i runs',
    async (how, status, runs) => {
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
      let settle = (): void => {};
      const handler = vi.fn(
        () =>
          new Promise<void>(
            (resolve, reject) => (settle = how === 'succeeds' ? resolve : () => reject(new Error('late'))),
          ),
      );
      const kept: Promise<unknown>[] = [];
      const { receiver, send } = start({ on: { 'audience.completed': handler } });
      const responded = receiver.handle(await delivery(wireEvent('evt_1')), {
        waitUntil: (work) => void kept.push(work),
      });
      await eventually(() => expect(handler).toHaveBeenCalled());
      await vi.advanceTimersByTimeAsync(9_000);
      expect((await responded).status).toBe(503);
      expect(await send(wireEvent('evt_1'))).toBe(503);
      settle();
      await Promise.all(kept);
      handler.mockImplementation(async () => {});
      expect(await send(wireEvent('evt_1'))).toBe(status);
      expect(handler).toHaveBeenCalledTimes(runs);
      expect(vi.getTimerCount()).toBe(0);
    },
  );

  it('acknowledges genuine unknown events with a warning, or passes them to `otherwise`', async () => {
    const unknown = [
      wireEvent('evt_1', { type: 'audience.renamed' }),
      wireEvent('evt_2', { schema_version: 2 }),
      wireEvent('evt_3', { data: null }),
    ];
    const plain = start();
    for (const event of unknown) expect(await plain.send(event)).toBe(200);
    expect(plain.lines).toHaveLength(3);
    const seen: WebhookEvent[] = [];
    const handler = vi.fn();
    const minded = start({ otherwise: (event) => void seen.push(event), on: { 'audience.completed': handler } });
    for (const event of unknown) expect(await minded.send(event)).toBe(200);
    expect(seen).toEqual(unknown);
    expect(handler).not.toHaveBeenCalled();
    expect(minded.lines).toEqual([]);
  });

  it('acknowledges `webhook.test`', async () => {
    const { send, lines } = start();
    expect(await send(wireEvent('evt_1', { type: 'webhook.test', data: { message: 'x' } }))).toBe(200);
    expect(lines).toEqual([]);
  });

  it('notifies attached listeners of each genuine event, even if handlers or other listeners fail', async () => {
    const seen: string[] = [];
    const { receiver, send, lines } = start({ on: { 'audience.completed': () => Promise.reject(new Error('no')) } });
    receiver.attach({
      notify() {
        throw new Error('broken');
      },
    });
    const detach = receiver.attach({ notify: ({ id }) => seen.push(id) });
    expect(await send(wireEvent('evt_1'))).toBe(500);
    detach();
    expect(await send(wireEvent('evt_2'))).toBe(500);
    expect(seen).toEqual(['evt_1']);
    expect(lines.filter((line) => line.includes('listener failed'))).toHaveLength(2);
  });

  it('responds with 503 when the store cannot claim, and with 200 when it cannot only complete', async () => {
    const store = memoryDedupe();
    const away = start({ dedupe: { ...store, claim: () => Promise.reject(new Error('redis is away')) } });
    expect(await away.send(wireEvent('evt_1'))).toBe(503);
    const failing = start({ dedupe: { ...store, complete: () => Promise.reject(new Error('redis is away')) } });
    expect(await failing.send(wireEvent('evt_1', { type: 'webhook.test' }))).toBe(200);
    expect(failing.lines).toEqual([expect.stringContaining('store could not be updated')]);
  });

  it('handles every delivery with `dedupe: false`', async () => {
    const handler = vi.fn();
    const { send } = start({ dedupe: false, on: { 'audience.completed': handler } });
    for (const _ of [1, 2]) expect(await send(wireEvent('evt_1'))).toBe(200);
    expect(handler).toHaveBeenCalledTimes(2);
  });

  it('responds with 500 to a body that was read before, and logs the reason', async () => {
    const { receiver, lines } = start();
    const request = await delivery(wireEvent('evt_1'));
    await request.text();
    expect((await receiver.handle(request)).status).toBe(500);
    expect(lines).toEqual([expect.stringContaining('body was already read')]);
  });

  it.each([
    [{ secrets: '' }, 'secret is missing'],
    [{ secrets: [undefined] }, 'secret is missing'],
    [{ on: { 'audience.complete': () => {} } }, '`on["audience.complete"]` must be a handler of a known event type'],
    [{ on: { 'audience.failed': 5 } }, '`on["audience.failed"]`'],
    [{ dedupe: new Map() }, '`dedupe` must be a store'],
    [{ leaseMs: Number.NaN }, '`leaseMs` must be a number'],
    [{ leaseMs: -1 }, '`leaseMs` must be a number'],
    [{ tolerance: -4 }, '`tolerance` must be a number'],
  ])('is not created with %o', (wrong, message) => {
    const untyped: object = { secrets: SECRET, ...wrong };
    const options: ReceiverOptions = Object.assign({ secrets: SECRET }, untyped);
    expect(() => createWebhookReceiver(options)).toThrow(message);
  });

  it('responds with 500 while the array of secrets is empty', async () => {
    const { send, lines } = start({ secrets: [] });
    expect(await send(wireEvent('evt_1'))).toBe(500);
    expect(lines).toEqual([expect.stringContaining('secret is missing')]);
  });

  it('runs no second handler for an event while the first is running, even after its lease', async () => {
    let finish = (): void => {};
    const handler = vi.fn(
      () =>
        new Promise<void>((resolve) => {
          finish = resolve;
        }),
    );
    const { send } = start({ leaseMs: 0, on: { 'audience.completed': handler } });
    const first = send(wireEvent('evt_1'));
    await eventually(() => expect(handler).toHaveBeenCalled());
    expect(await send(wireEvent('evt_1'))).toBe(503);
    finish();
    expect(await first).toBe(200);
    expect(handler).toHaveBeenCalledTimes(1);
  });

  it('responds within nine seconds when its store hangs or the body stalls', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const store = { ...memoryDedupe(), claim: () => new Promise<never>(() => {}) };
    const hanging = start({ dedupe: store });
    const endless = new ReadableStream({ start: (controller) => controller.enqueue(new Uint8Array(10)) });
    const stalled = new Request('http://localhost/', { method: 'POST', body: endless, ...{ duplex: 'half' } });
    const statuses = [hanging.send(wireEvent('evt_1')), hanging.receiver.handle(stalled).then(({ status }) => status)];
    await eventually(() => expect(vi.getTimerCount()).toBe(2));
    await vi.advanceTimersByTimeAsync(9_000);
    expect(await Promise.all(statuses)).toEqual([503, 503]);
  });

  it.each([
    [
      'throws',
      () => {
        throw new Error('the log is full');
      },
    ],
    ['rejects', () => Promise.reject(new Error('the log is full'))],
  ])('responds as usual if its logger %s', async (_, fail) => {
    const logger = { warn: fail, error: fail };
    const { send } = start({ logger, on: { 'audience.completed': () => Promise.reject(new Error('no')) } });
    expect(await send(wireEvent('evt_1'))).toBe(500);
  });

  it('responds with 200 when the store throws synchronously after the handler, and logs a listener that rejects', async () => {
    const complete = (): Promise<void> => {
      throw new Error('not connected');
    };
    const handler = vi.fn();
    const { receiver, send, lines } = start({
      dedupe: { ...memoryDedupe(), complete },
      on: { 'audience.completed': handler },
    });
    receiver.attach({ notify: () => Promise.reject(new Error('broken')) });
    expect(await send(wireEvent('evt_1'))).toBe(200);
    expect(lines).toEqual([
      expect.stringContaining('listener failed'),
      expect.stringContaining('store could not be updated'),
    ]);
  });

  it('calls `waitUntil` as a method of the platform’s context', async () => {
    class Context {
      readonly #kept: Promise<unknown>[] = [];
      waitUntil(work: Promise<unknown>): void {
        this.#kept.push(work);
      }
    }
    const { receiver } = start();
    const request = await delivery(wireEvent('evt_1', { type: 'webhook.test' }));
    expect((await receiver.handle(request, new Context())).status).toBe(200);
  });
});
