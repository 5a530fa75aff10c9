import '../support/nothing-left.ts';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { WebhookVerificationError } from '../../src/errors/webhook-errors.ts';
import { toNodeListener } from '../../src/node/index.ts';
import {
  createWebhookReceiver,
  type DedupeStore,
  signWebhook,
  verifyWebhook,
  type WebhookReceiver,
} from '../../src/webhooks/index.ts';
import { delivery, recordingLogger, SECRET, wireEvent } from '../support/deliveries.ts';
import { startBench } from '../support/sandbox.ts';
import { seeded } from '../support/seeded.ts';
import { runs } from '../support/volume.ts';

const random = seeded('webhooks');
const upTo = (most: number): number => Math.floor(random() * most);

/** Changes one random place: replaces, removes or inserts a character, or rotates or cuts the text. */
function mutated(text: string): string {
  const at = upTo(text.length);
  const other = String.fromCodePoint(upTo(4) === 0 ? upTo(0x2000) : 32 + upTo(95));
  const ways = [
    () => text.slice(0, at) + other + text.slice(at + 1),
    () => text.slice(0, at) + text.slice(at + 1),
    () => text.slice(0, at) + other + text.slice(at),
    () => text.slice(at) + text.slice(0, at),
    () => text.slice(0, at),
  ];
  return ways[upTo(ways.length)]?.() ?? text;
}

describe('a changed delivery', () => {
  it('is never accepted, and refused with a WebhookVerificationError only', async () => {
    const now = 1_790_000_000;
    const body = JSON.stringify(wireEvent('evt_1'));
    const header = await signWebhook(body, SECRET, { timestamp: now });
    const genuine = { body, header, time: now };
    // Changes of the case of digits, of spaces and of unknown keys do not change the meaning of a header.
    const meaning = (text: string): string | undefined => /(?:^|,) *t=(\d+) *(?=,|$)/.exec(text)?.[1];
    let refused = 0;
    for (let round = 0; round < runs(1_000, 10_000, 1_000_000); round++) {
      const part = (['body', 'header', 'time'] as const)[upTo(3)];
      const sent = { ...genuine };
      if (part === 'body') sent.body = mutated(body);
      if (part === 'header') sent.header = mutated(header);
      if (part === 'time') sent.time = now + (random() < 0.5 ? -1 : 1) * (301 + upTo(1e9));
      const outcome = await verifyWebhook(sent.body, sent.header, SECRET, { now: () => sent.time * 1_000 }).catch(
        (error: unknown) => error,
      );
      if (outcome instanceof Error) {
        expect(outcome).toBeInstanceOf(WebhookVerificationError);
        refused++;
        continue;
      }
      expect(sent.body).toBe(body);
      expect(sent.time).toBe(now);
      expect(meaning(sent.header)).toBe(String(now));
      expect(sent.header.toLowerCase()).toContain(header.slice(-64));
    }
    expect(refused).toBeGreaterThan(runs(900, 9_000, 900_000));
  });
});

/** Starts a store that outlives receivers, as a database does, with a journal of work in the same transaction. */
function startDatabase() {
  const events = new Map<string, { lease?: string; until: number }>();
  const done: string[] = [];
  let time = 0;
  let leases = 0;
  const store: DedupeStore = {
    async claim(id, leaseMs) {
      const existing = events.get(id);
      if (existing && existing.lease === undefined) return 'done';
      if (existing && existing.until > time) return 'busy';
      const lease = String(++leases);
      events.set(id, { lease, until: time + leaseMs });
      return { lease };
    },
    async complete(id, lease) {
      if (events.get(id)?.lease === lease) events.set(id, { until: Number.POSITIVE_INFINITY });
    },
    async release(id, lease) {
      if (events.get(id)?.lease === lease) events.delete(id);
    },
  };
  /** Idempotent work, recorded in its own transaction. */
  const transact = (id: string): void => {
    if (!done.includes(id)) done.push(id);
  };
  return { store, done, transact, pass: (ms: number) => (time += ms) };
}

describe('thousands of deliveries in random order, with retries, failures and restarts', () => {
  it.each([
    ['if no process dies', 0],
    ['by a transaction, and at least once without, if processes die before they complete the event', 0.05],
  ])('lose no event, and each is handled once %s', async (_, deaths) => {
    const count = runs(650, 6_500);
    const database = startDatabase();
    const handled = new Map<string, number>();
    const uncompleted = new Set<string>();
    const store: DedupeStore = {
      ...database.store,
      complete(id, lease) {
        if (random() >= deaths) return database.store.complete(id, lease);
        uncompleted.add(id);
        return Promise.resolve();
      },
    };
    const start = (): WebhookReceiver =>
      createWebhookReceiver({
        secrets: SECRET,
        dedupe: store,
        leaseMs: 60_000,
        logger: recordingLogger(),
        on: {
          async 'audience.completed'({ id }) {
            if (random() < 0.2) throw new Error('the database is away');
            await Promise.resolve();
            database.transact(id);
            handled.set(id, (handled.get(id) ?? 0) + 1);
          },
        },
      });
    let receiver = start();
    // Sends every event, 30 % of them twice, in random order, and retries refused ones later.
    const ids = Array.from({ length: count }, (_, at) => `evt_${at}`);
    let waiting = [...ids, ...ids.filter(() => random() < 0.3)].sort(() => random() - 0.5);
    let sent = 0;
    while (waiting.length > 0) {
      const again: string[] = [];
      for (let at = 0; at < waiting.length; at += 20) {
        const batch = waiting.slice(at, at + 20);
        const statuses = await Promise.all(
          batch.map(async (id) => (await receiver.handle(await delivery(wireEvent(id)))).status),
        );
        sent += batch.length;
        for (const [index, status] of statuses.entries()) {
          const id = batch[index] ?? '';
          // The sender also retries when the response is lost.
          if (status !== 200 || uncompleted.delete(id) || random() < 0.1) again.push(id);
        }
        database.pass(1_000);
        if (random() < 0.02) receiver = start();
      }
      database.pass(60_000);
      waiting = again.sort(() => random() - 0.5);
    }
    expect(sent).toBeGreaterThan(1.5 * count);
    expect(new Set(database.done)).toEqual(new Set(ids));
    expect(database.done).toHaveLength(count);
    // If every handled event is completed, the store alone prevents a second run.
    if (deaths === 0) expect(Math.max(...handled.values())).toBe(1);
    else expect(Math.max(...handled.values())).toBeGreaterThan(1);
  });

  it('after the lease has ended, a receiver handles the event of another receiver that was killed', async () => {
    const database = startDatabase();
    const start = (handler: () => Promise<void>): WebhookReceiver =>
      createWebhookReceiver({
        secrets: SECRET,
        dedupe: database.store,
        leaseMs: 60_000,
        logger: recordingLogger(),
        on: { 'audience.completed': handler },
      });
    let die = (): void => {};
    const killed = start(
      () =>
        new Promise((_, reject) => {
          die = () => reject(new Error('killed'));
        }),
    );
    const unanswered = killed.handle(await delivery(wireEvent('evt_1')));
    await new Promise((resolve) => setImmediate(resolve));
    let handled = 0;
    const next = start(async () => void handled++);
    while ((await next.handle(await delivery(wireEvent('evt_1')))).status === 503) database.pass(10_000);
    expect(handled).toBe(1);
    die();
    await unanswered;
  });
});

describe('a wait', () => {
  it('ends with the webhook event that a receiver gets by the third attempt, after it missed two', async () => {
    const { connect, sandbox, account } = await startBench();
    // With two reads in ten minutes, only the event can end the wait.
    const client = connect({ token: account.token('api'), rateLimits: { read: { limit: 2, interval: 600_000 } } });
    const receiver = createWebhookReceiver({ secrets: 'unknown yet', logger: recordingLogger() });
    let served: Server | undefined;
    const listen = async (listener: ReturnType<typeof toNodeListener>, port = 0): Promise<number> => {
      served = createServer(listener);
      await new Promise<void>((resolve) => served?.listen(port, '127.0.0.1', resolve));
      return (served.address() as AddressInfo).port;
    };
    const stop = (): Promise<void> =>
      new Promise((resolve) => {
        served?.close(() => resolve());
        served?.closeAllConnections();
      });
    const port = await listen(toNodeListener(receiver));
    await stop();
    const url = `http://127.0.0.1:${port}/`;
    const { secret } = sandbox.webhooks.create({ account, name: 'Mine', url, events: ['audience.completed'] });
    const { id } = await client.audiences.create({ name: 'Visitors' });
    const sources: string[] = [];
    const wait = client.audiences.wait(id, { onUpdate: (_, { source }) => sources.push(source) });
    while (sources.length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
    sandbox.jobs.finish('audience', id, 104);
    await sandbox.advance(60_000);
    expect(sandbox.webhooks.deliveries.map(({ status }) => status)).toEqual([undefined, undefined]);
    const listening = createWebhookReceiver({ secrets: secret, now: () => sandbox.now(), logger: recordingLogger() });
    listening.attach(client.waits);
    await listen(toNodeListener(listening), port);
    await sandbox.advance(300_000);
    expect(sandbox.webhooks.deliveries.at(-1)).toMatchObject({ attempt: 3, status: 200 });
    expect(await wait).toMatchObject({ id, status: { id: 104 } });
    expect(sources.at(-1)).toBe('webhook');
    await stop();
  });
});
