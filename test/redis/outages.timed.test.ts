import { describe, expect, it } from 'vitest';
import { suiteRedis } from '../support/redis-server.ts';
import type { FleetReport } from './support/fleet.ts';
import { expectDone, ideal, pass, READ, setScene, WINDOW } from './support/fleet-scene.ts';

const OUTAGE = 5_000;
/** More than the processes can make by their shares during an outage. */
const CALLS = 241;

const redis = suiteRedis();

const expectWarnings = (reports: readonly FleetReport[]): void =>
  expect(reports.flatMap(({ warnings }) => warnings).join('\n')).toMatch(/Redis failed.*\n.*responds again/);

/** Makes calls while Redis fails, and expects that all succeed in time; the service may refuse some at first. */
async function expectCompletion(outage: number, fail: () => Promise<void>): Promise<FleetReport[]> {
  const scene = await setScene(redis().url);
  const calls = scene.calls(CALLS);
  await scene.arrived(READ.limit);
  await fail();
  const reports = await calls;
  expectDone(reports);
  expect(scene.service.arrivals.length - scene.service.refused()).toBe(CALLS);
  // One window more for permits that nobody uses, and one for a pause after a 429.
  expect(scene.service.took()).toBeLessThanOrEqual(ideal(CALLS) + outage + 2 * WINDOW);
  return reports;
}

describe('six processes complete their calls', () => {
  it('six processes complete their calls when Redis does not reply for 5 s', async () => {
    const reports = await expectCompletion(OUTAGE, async () => {
      redis().pause();
      await pass(OUTAGE);
      redis().resume();
    });
    expectWarnings(reports);
  });

  it('six processes complete their calls when Redis restarts without its data', async () => {
    await expectCompletion(0, () => redis().restart());
  });

  it('six processes complete their calls when Redis ends, and starts without its data after 5 s', async () => {
    const reports = await expectCompletion(OUTAGE, async () => {
      await redis().kill();
      await pass(OUTAGE);
      await redis().restart();
    });
    expectWarnings(reports);
  });
});
