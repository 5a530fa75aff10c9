import { setTimeout as pass } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { startRedis } from '../support/redis-server.ts';
import { startWaitingFleet, type WaitingFleet } from './shared-waits-fleet.ts';

/** A lead ends after so long without renewal; the longest period between two polls here; slack of a busy machine. */
const BOUND = { lease: 2_000, period: 2_500, slack: 3_000 } as const;
/** When the misfortune happens, after the start of the waits. */
const AT = 4_500;

const withinPeriod = BOUND.lease + BOUND.period + BOUND.slack;

/** Expects that each wait has ended once, at 104, not before its job, and at most `late` milliseconds after it. */
async function expectEnds(fleet: WaitingFleet, late: number, except: readonly number[] = []): Promise<void> {
  const ends = await fleet.ended(except);
  expect(new Set(ends.map(({ status }) => status))).toEqual(new Set([104]));
  expect(new Set(ends.map(({ id }) => id)).size).toBe(ends.length);
  const delays = ends.map(({ id, at }) => at - fleet.endOf(id));
  expect(Math.min(...delays)).toBeGreaterThanOrEqual(0);
  expect(Math.max(...delays)).toBeLessThanOrEqual(late);
  expect(fleet.refused).toBe(0);
}

describe('six processes that share their waits lose none', () => {
  it('six processes lose no wait when the leader is killed', async () => {
    const fleet = await startWaitingFleet((await startRedis()).url);
    await pass(AT);
    const leader = fleet.leader();
    fleet.processes[leader]?.kill('SIGKILL');
    await expectEnds(fleet, withinPeriod, [leader]);
    expect(fleet.leader()).not.toBe(leader);
  });

  it('six processes lose no wait when the leader is stopped for 5 s, and continues', async () => {
    const fleet = await startWaitingFleet((await startRedis()).url);
    await pass(AT);
    const leader = fleet.leader();
    fleet.processes[leader]?.kill('SIGSTOP');
    await pass(5_000);
    fleet.processes[leader]?.kill('SIGCONT');
    await expectEnds(fleet, withinPeriod + 5_000);
  });

  it('six processes lose no wait when Redis restarts without its data', async () => {
    const redis = await startRedis();
    const fleet = await startWaitingFleet(redis.url);
    await pass(AT);
    await redis.restart();
    // The bucket is paused for a window, because its permits are lost.
    await expectEnds(fleet, withinPeriod + 5_500);
  });

  it('six processes lose no wait when Redis is away for 10 s', async () => {
    const redis = await startRedis();
    const fleet = await startWaitingFleet(redis.url);
    await pass(AT);
    await redis.kill();
    await pass(10_000);
    await redis.restart();
    await expectEnds(fleet, withinPeriod + 10_000);
  });
});
