import { describe, expect, it } from 'vitest';
import type { FleetReport } from '../support/fleet.ts';
import { expectDone, expectKept, ideal, pass, READ, SPAN, setScene } from '../support/fleet-scene.ts';
import { suiteRedis } from '../support/redis-server.ts';

const OUTAGE = 5_000;

const redis = suiteRedis();

/** Who had calls to make meanwhile has told of it. */
const expectWarned = (reports: readonly FleetReport[]): void =>
  expect(reports.flatMap(({ warnings }) => warnings).join('\n')).toMatch(/not answer.*\n.*answers again/);

/** Has a fleet make 121 calls while something befalls its Redis, and expects that they end in time. */
async function expectToOutlive(outage: number, trouble: () => Promise<void>): Promise<FleetReport[]> {
  const scene = await setScene(redis().url);
  const calls = scene.calls(121);
  await scene.arrived(READ.limit);
  await trouble();
  const reports = await calls;
  expectDone(reports);
  expectKept(scene, 121);
  expect(scene.service.took()).toBeLessThanOrEqual(ideal(121) + outage + 2 * SPAN);
  return reports;
}

describe('six processes whose Redis', () => {
  it('answers nothing for 5 s take their parts until it does', async () => {
    const reports = await expectToOutlive(OUTAGE, async () => {
      redis().pause();
      await pass(OUTAGE);
      redis().resume();
    });
    expectWarned(reports);
  });

  it('starts anew send no more than before', async () => {
    await expectToOutlive(0, () => redis().restart());
  });

  it('is gone for 5 s take their parts until it is there again, empty', async () => {
    const reports = await expectToOutlive(OUTAGE, async () => {
      await redis().kill();
      await pass(OUTAGE);
      await redis().restart();
    });
    expectWarned(reports);
  });
});
