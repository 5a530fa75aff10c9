import { describe, expect, it } from 'vitest';
import { randomOf } from '../support/seeded.ts';
import { failureOf } from '../support/server.ts';
import { type Fleet, ideal, READ, sleep, startFleet, suiteVirtualRedis } from './support/virtual-fleet.ts';

const suite = suiteVirtualRedis();

/** Maximum latency of a request, which the margin allows for. Milliseconds. */
const MARGIN_OF_LATENCY = 120;

/** Expects that all requests arrived, and that the limit was kept. */
function expectKept({ service }: Fleet, total: number): void {
  expect(service.refused()).toBe(0);
  expect(service.most()).toBeLessThanOrEqual(READ.limit);
  expect(service.arrivals).toHaveLength(total);
}

describe('six processes that share 60 per 3 s', () => {
  it('never send more, and use at least 90 % of the limit', async () => {
    const { redis, time } = suite();
    const fleet = startFleet(redis);
    await time.until(fleet.calls(241));
    expectKept(fleet, 241);
    expect(fleet.service.took()).toBeLessThanOrEqual(ideal(241) / 0.9);
  });

  it('never send more when replies of Redis take up to a second, each another time', async () => {
    const { redis, time } = suite();
    const random = randomOf(1);
    const link = { request: () => sleep(random() * 400), reply: () => sleep(random() * 590) };
    const fleet = startFleet(redis, { link });
    await time.until(fleet.calls(241));
    expectKept(fleet, 241);
  });

  it('never send more when requests arrive in another order than they left in', async () => {
    const { redis, time } = suite();
    const random = randomOf(2);
    const fleet = startFleet(redis, { latency: () => random() * MARGIN_OF_LATENCY });
    await time.until(fleet.calls(241));
    expectKept(fleet, 241);
  });

  it('never send more in bursts before and after the end of a window', async () => {
    const { redis, time } = suite();
    const fleet = startFleet(redis);
    const first = fleet.calls(1);
    await time.pass(READ.interval - 50);
    const before = fleet.calls(READ.limit);
    await time.pass(100);
    await time.until(Promise.all([first, before, fleet.calls(READ.limit)]));
    expectKept(fleet, 1 + 2 * READ.limit);
  });

  it('never send more when one ends that has reserved permits', async () => {
    const { redis, time } = suite();
    const fleet = startFleet(redis);
    const ended = failureOf(fleet.callsOf(0, READ.limit + 20));
    await time.untilTrue(() => fleet.service.arrivals.length === READ.limit);
    // Permits are reserved a second ahead.
    await time.pass(READ.interval - 500);
    await fleet.clients[0]?.close();
    await time.until(Promise.all([ended, ...[1, 2, 3, 4, 5].map((at) => fleet.callsOf(at, 10))]));
    expect(fleet.service.refused()).toBe(0);
    expect(fleet.service.most()).toBeLessThanOrEqual(READ.limit);
  });

  it('never send more when the machine sleeps while their permits become due', async () => {
    const { redis, time } = suite();
    const fleet = startFleet(redis);
    const calls = fleet.calls(241);
    await time.untilTrue(() => fleet.service.arrivals.length === READ.limit);
    await time.pass(READ.interval - 500);
    await time.sleepThrough(READ.interval);
    await time.until(calls);
    expectKept(fleet, 241);
  });

  it('continue when Redis loses their scripts', async () => {
    const { redis, time } = suite();
    const fleet = startFleet(redis);
    const calls = fleet.calls(241);
    await time.untilTrue(() => fleet.service.arrivals.length === READ.limit);
    await redis.inspect((server) => server.script('FLUSH'));
    await time.until(calls);
    expectKept(fleet, 241);
    expect(fleet.service.took()).toBeLessThanOrEqual(ideal(241) / 0.9);
  });

  it('complete their calls when Redis loses its data', async () => {
    const { redis, time } = suite();
    const fleet = startFleet(redis);
    const calls = fleet.calls(241);
    await time.untilTrue(() => fleet.service.arrivals.length === READ.limit);
    await redis.inspect((server) => server.flushall());
    await time.until(calls);
    expect(fleet.service.arrivals.length - fleet.service.refused()).toBe(241);
    // One window more for permits that nobody uses, and one for a pause after a 429.
    expect(fleet.service.took()).toBeLessThanOrEqual(ideal(241) + 2 * (READ.interval + 250));
  });

  it.each([
    ['does not reply', () => sleep(60_000)],
    ['refuses connections', () => Promise.reject(new Error('Connection is closed.'))],
  ])('complete their calls when Redis %s for 5 s', async (_, away) => {
    const { redis, time } = suite();
    let isAway = false;
    const fleet = startFleet(redis, { link: { request: async () => isAway && (await away()) } });
    const calls = fleet.calls(241);
    await time.untilTrue(() => fleet.service.arrivals.length === READ.limit);
    isAway = true;
    await time.pass(5_000);
    isAway = false;
    await time.until(calls);
    expect(fleet.service.arrivals.length - fleet.service.refused()).toBe(241);
    expect(fleet.service.took()).toBeLessThanOrEqual(ideal(241) + 5_000 + 2 * (READ.interval + 250));
    expect(fleet.warnings.join('\n')).toMatch(/Redis failed.*responds again/s);
  });

  it('complete their calls when each reply of Redis takes longer than the margin', async () => {
    const { redis, time } = suite();
    const fleet = startFleet(redis, { link: { reply: () => sleep(900) } });
    await time.until(fleet.calls(241));
    expectKept(fleet, 241);
    // A window is lost: the first replies come too late for their permits.
    expect(fleet.service.took()).toBeLessThanOrEqual(ideal(301) / 0.75);
  });
});

describe('these tests detect', () => {
  it('requests that overtake each other when there is no margin', async () => {
    const { redis, time } = suite();
    const random = randomOf(3);
    const fleet = startFleet(redis, { margin: 0, latency: () => random() * 200 });
    await time.until(fleet.calls(241));
    expect(fleet.service.refused()).toBeGreaterThan(0);
  });

  it('processes that do not share the limit', async () => {
    const { redis, time } = suite();
    const fleet = startFleet(redis, { isShared: false });
    await time.until(fleet.calls(2 * READ.limit));
    expect(fleet.service.refused()).toBeGreaterThanOrEqual(READ.limit);
  });
});
