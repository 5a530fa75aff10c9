import { describe, expect, it } from 'vitest';
import { randomOf } from '../support/seeded.ts';
import { type Fleet, ideal, READ, sleep, startFleet, suiteVirtualRedis } from './support/virtual-fleet.ts';

const suite = suiteVirtualRedis();

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

  it('complete their calls when each reply of Redis takes longer than the margin', async () => {
    const { redis, time } = suite();
    const fleet = startFleet(redis, { link: { reply: () => sleep(900) } });
    await time.until(fleet.calls(241));
    expectKept(fleet, 241);
    // A window is lost: the first replies come too late for their permits.
    expect(fleet.service.took()).toBeLessThanOrEqual(ideal(301) / 0.75);
  });
});
