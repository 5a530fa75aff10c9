import { describe, expect, it } from 'vitest';
import { redisDedupe } from '../../src/redis/index.ts';
import { signWebhook } from '../../src/webhooks/index.ts';
import { SECRET, wireEvent } from '../support/deliveries.ts';
import { KINDS } from '../support/redis-clients.ts';
import { startRedis, suiteRedis } from '../support/redis-server.ts';
import { seeded } from '../support/seeded.ts';
import { failureOf } from '../support/server.ts';
import { runs } from '../support/volume.ts';
import { type ReceiverProcess, sendUntilTaken, startReceiver } from './webhook-processes.ts';

const LONG = 60_000;
const SENDERS = 64;
const EVENTS = runs(1_400, 7_000, 35_000);
const DELIVERIES = Math.round(EVENTS / 0.7);

describe.each(KINDS)('redisDedupe on %s', (kind) => {
  const redis = suiteRedis();
  const storeOf = async (window?: number, prefix = `of-${kind}`) =>
    redisDedupe(await redis().connect(kind), { prefix, window });

  it('lets one of many receivers claim an event, and none after its completion', async () => {
    const stores = await Promise.all([storeOf(), storeOf(), storeOf()]);
    const claims = await Promise.all(stores.flatMap((store) => [store.claim('a', LONG), store.claim('a', LONG)]));
    const [claim] = claims.filter((result) => typeof result === 'object');
    expect(claims.filter((result) => result === 'busy')).toHaveLength(5);
    if (!claim) throw new Error('No receiver has claimed it.');
    await stores[0]?.complete('a', claim.lease);
    expect(await stores[1]?.claim('a', LONG)).toBe('done');
    expect(await stores[1]?.claim('b', LONG)).toEqual({ lease: expect.any(String) });
    expect(await (await storeOf(undefined, 'another')).claim('a', LONG)).toEqual({ lease: expect.any(String) });
  });

  it('lets another receiver claim an event that was released, or whose claim has expired', async () => {
    const store = await storeOf();
    const first = await store.claim('c', LONG);
    if (typeof first === 'string') throw new Error(first);
    await store.release('c', 'of another');
    expect(await store.claim('c', LONG)).toBe('busy');
    await store.release('c', first.lease);
    expect(await store.claim('c', 0.5)).toEqual({ lease: expect.any(String) });
    await expect.poll(() => store.claim('c', LONG)).toEqual({ lease: expect.any(String) });
  });

  it('ignores completion and release by a receiver whose claim was taken over', async () => {
    const store = await storeOf();
    const first = await store.claim('d', 1);
    if (typeof first === 'string') throw new Error(first);
    await expect.poll(() => store.claim('d', LONG)).toEqual({ lease: expect.any(String) });
    await store.complete('d', first.lease);
    await store.release('d', first.lease);
    expect(await store.claim('d', LONG)).toBe('busy');
  });

  it('completes an event after its claim has expired, if no other receiver has claimed it', async () => {
    const store = await storeOf();
    const claim = await store.claim('e', 1);
    if (typeof claim === 'string') throw new Error(claim);
    const probe = await redis().connect('redis');
    await expect.poll(() => probe.exists(`of-${kind}:e`)).toBe(0);
    await store.complete('e', claim.lease);
    expect(await store.claim('e', LONG)).toBe('done');
  });

  it('remembers a completed event for its window, a day by default', async () => {
    const probe = await redis().connect('redis');
    for (const [window, expected] of [
      [undefined, 86_400_000],
      [5_000, 5_000],
    ] as const) {
      const store = await storeOf(window);
      const claim = await store.claim(`f${expected}`, LONG);
      if (typeof claim === 'string') throw new Error(claim);
      await store.complete(`f${expected}`, claim.lease);
      const left = await probe.pTTL(`of-${kind}:f${expected}`);
      expect(left).toBeGreaterThan(expected - 5_000);
      expect(left).toBeLessThanOrEqual(expected);
    }
  });

  it('retries during a restart, and rejects when its client was closed', async () => {
    const server = await startRedis();
    const client = await server.connect(kind);
    const store = redisDedupe(client, { prefix: 'p' });
    await store.claim('g', LONG);
    await server.kill();
    const again = store.claim('g', LONG);
    await server.restart();
    expect(await again).toEqual({ lease: expect.any(String) });
    await client.quit();
    expect(await failureOf(store.claim('g', LONG))).toMatchObject({
      name: 'ConnectionError',
      code: 'connection-failed',
      operation: 'redisDedupe',
    });
  });
});

/** Ids of events, three of ten of them twice: immediately, or some time later. */
function deliveriesOf(events: number, random: () => number): string[] {
  const ids = Array.from({ length: events }, (_, at) => `evt_${at}`);
  const doubled = Array.from({ length: Math.round((events * 3) / 7) }, () => ids[Math.floor(random() * events)] ?? '');
  const placed = [...ids, ...doubled].map((id, at) => {
    const position = at < events ? at : Number(id.slice(4));
    return { id, at: position + (at < events ? 0 : random() < 0.5 ? 0.5 : random() * 500) };
  });
  return placed.sort((a, b) => a.at - b.at).map(({ id }) => id);
}

describe(`${DELIVERIES} deliveries to four receivers`, () => {
  it('handle each event once, though two receivers are killed meanwhile', async () => {
    const random = seeded('deliveries to receivers that are killed');
    const redis = await startRedis();
    const options = { redisUrl: redis.url, port: 0, leaseMs: 2_000, sum: 'sum', runs: 'runs' };
    const receivers = await Promise.all(
      [0, 1, 2, 3].map((at) => startReceiver({ ...options, kind: KINDS[at % 2 ? 0 : 1] })),
    );
    const pick = (): ReceiverProcess => receivers[Math.floor(random() * 4)] ?? pick();
    const ids = deliveriesOf(EVENTS, random);
    const kills = [0.3, 0.6].map((share, at) => ({ at: Math.floor(ids.length * share), receiver: receivers[at] }));
    const replaced: Promise<void>[] = [];
    let next = 0;
    let accepted = 0;
    let lost = 0;
    const sender = async (): Promise<void> => {
      for (let id = ids[next++]; id !== undefined; id = ids[next++]) {
        const body = JSON.stringify(wireEvent(id));
        const sign = async () => ({ body, headers: { 'service-signature': await signWebhook(body, SECRET) } });
        const sent = await sendUntilTaken(pick, sign);
        lost += sent;
        accepted++;
        for (const { at, receiver } of kills) if (accepted === at && receiver) replaced.push(receiver.replace());
      }
    };
    await Promise.all(Array.from({ length: SENDERS }, sender));
    await Promise.all(replaced);
    expect(replaced).toHaveLength(2);
    expect(lost).toBeGreaterThan(0);
    const probe = await redis.connect('redis');
    const { sum, ...done } = await probe.hGetAll('sum');
    expect(ids).toHaveLength(DELIVERIES);
    expect(Number(sum)).toBe(EVENTS);
    expect(Object.keys(done)).toHaveLength(EVENTS);
    // Only handlers that a kill has interrupted run again.
    const started = Object.values(await probe.hGetAll('runs')).map(Number);
    const again = started.filter((runs) => runs > 1).length;
    expect(again).toBeLessThanOrEqual(2 * SENDERS);
    expect(Math.max(...started)).toBeLessThanOrEqual(3);
    console.info(`${ids.length} deliveries, ${lost} requests lost, ${again} events handled again`);
  });
});
