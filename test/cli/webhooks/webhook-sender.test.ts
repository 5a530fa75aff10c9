import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createEvent, createSender, type DeliveryAttempt } from '../../../src/cli/webhooks/webhook-sender.ts';

const sentAt: number[] = [];
const attempts: DeliveryAttempt[] = [];

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
  vi.stubGlobal('fetch', async () => {
    sentAt.push(Date.now());
    return new Response();
  });
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
  sentAt.length = attempts.length = 0;
});

function senderOf(rate: number, signal = new AbortController().signal) {
  const onAttempt = (attempt: DeliveryAttempt): void => void attempts.push(attempt);
  return createSender({ url: 'http://localhost:3000', secret: 'secret', speed: 0, rate, signal, onAttempt });
}

it('a sender spreads a burst of events evenly, at its rate and in their order', async () => {
  const deliver = senderOf(20);
  const began = Date.now();
  const events = Array.from({ length: 100 }, (_, id) => createEvent('audience.completed', { id }, 1));
  const delivered = Promise.all(events.map(deliver));
  for (const [index] of events.entries()) {
    if (index > 0) await vi.advanceTimersByTimeAsync(50);
    // Deliveries are signed by WebCrypto, in real time.
    while (sentAt.length <= index) await setImmediate();
  }
  expect(await delivered).toEqual(events.map(() => true));
  expect(sentAt.map((at) => at - began)).toEqual(events.map((_, index) => index * 50));
  expect(attempts.map(({ event }) => event)).toEqual(events);
});

it('an abort ends every event that waits for its turn, and leaves no timer', async () => {
  const controller = new AbortController();
  const deliver = senderOf(1, controller.signal);
  const settled = Promise.allSettled(
    Array.from({ length: 10 }, (_, id) => deliver(createEvent('audience.completed', { id }, 1))),
  );
  while (sentAt.length === 0) await setImmediate();
  controller.abort(new Error('stopped'));
  await vi.advanceTimersByTimeAsync(0);
  const results = await settled;
  expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  for (const result of results.slice(1)) expect(result).toMatchObject({ reason: controller.signal.reason });
  expect(vi.getTimerCount()).toBe(0);
});
