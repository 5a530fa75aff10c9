import { describe, expect, it } from 'vitest';
import { inVirtualTime } from '../../support/in-virtual-time.ts';
import { type JobService, lateness, startJobService, waitFor } from '../../support/job-service.ts';
import { runs } from '../../support/volume.ts';

const MINUTE = 60_000;
const MAX_LATENESS_MS = 35_000;
/** Number of other waits. */
const OTHERS = runs(300, 1_000);
const time = inVirtualTime();

/** Ends one job after the other at moments of no pattern; returns how late the latest end was seen. */
async function latest(service: JobService, ids: readonly number[]): Promise<number> {
  const late: number[] = [];
  for (const [index, id] of ids.entries()) {
    await time.pass(7_300 + ((index * 3_700) % 11_000));
    late.push(await lateness(time, service, [id], service.client.audiences.wait(id)));
  }
  return Math.max(...late);
}

describe('beside hundreds of others, no wait starves', () => {
  it('waits for jobs on several pages see each end within 35 s', async () => {
    const service = startJobService();
    const ids = service.add(OTHERS);
    void waitFor(service, ids);
    await time.pass(MINUTE);
    const every = ids.filter((_, at) => at % (OTHERS / 5) === 0);
    expect(await latest(service, every)).toBeLessThan(MAX_LATENESS_MS);
    expect(service.mostInAMinute()).toBeLessThanOrEqual(60);
    await service.client.close();
  });

  it('a wait for a job that is far down the list, and one that begins later, see their ends within 35 s', async () => {
    const service = startJobService();
    const [old = 0] = service.add(5_000);
    void waitFor(service, [old, ...service.add(OTHERS)]);
    await time.pass(MINUTE);
    const added = service.add(1);
    void waitFor(service, added);
    expect(await latest(service, [old, ...added])).toBeLessThan(MAX_LATENESS_MS);
    await service.client.close();
  });

  it('waits on a page see their ends within 35 s beside jobs that are read one by one', async () => {
    const service = startJobService();
    service.add(1_000);
    const ids = service.add(50);
    void waitFor(service, ids);
    const others = Array.from({ length: OTHERS }, (_, id) => service.client.estimates.wait(id + 1).catch(() => {}));
    await time.pass(2 * MINUTE);
    expect(await latest(service, ids.slice(0, 5))).toBeLessThan(MAX_LATENESS_MS);
    expect(service.mostInAMinute()).toBeLessThanOrEqual(60);
    await service.client.close();
    await Promise.all(others);
  });
});
