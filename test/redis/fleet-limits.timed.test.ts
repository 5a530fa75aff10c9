import { describe, expect, it, vi } from 'vitest';
import { suiteRedis } from '../support/redis-server.ts';
import { seeded } from '../support/seeded.ts';
import { expectDone, expectKept, pass, READ, reservedIn, type Scene, setScene } from './support/fleet-scene.ts';

/** Maximum random latency of a request in milliseconds: requests arrive in another order than they left in. */
const JITTER = 200;

/** The default margin, where a test does not measure the rate: a busy machine delays requests for longer. */
const WIDE_MARGIN = 1_000;

const redis = suiteRedis();

/** Waits until the only process that calls has reserved permits ahead. */
async function reservation(scene: Scene): Promise<void> {
  const client = await redis().connect('ioredis');
  await scene.arrived(READ.limit);
  await vi.waitFor(async () => expect(await reservedIn(client, scene)).toBeGreaterThan(0), { timeout: 60_000 });
}

/** Random latencies from a seed. */
function jitter(): () => number {
  const random = seeded('fleet');
  return () => random() * JITTER;
}

describe('six processes that share 60 per 3 s', () => {
  it('never send more when requests arrive in another order than they left in', async () => {
    const scene = await setScene(redis().url, { margin: WIDE_MARGIN, latency: jitter() });
    expectDone(await scene.calls(241));
    expectKept(scene, 241);
  });

  it('never send more in bursts before and after the end of a window', async () => {
    const scene = await setScene(redis().url, { margin: WIDE_MARGIN });
    const first = scene.calls(1);
    await scene.arrived(1);
    await pass(READ.interval - 50);
    const before = scene.calls(READ.limit);
    await pass(100);
    const after = scene.calls(READ.limit);
    const reports = await Promise.all([first, before, after]);
    expectDone(reports.flat());
    expectKept(scene, 1 + 2 * READ.limit);
    expect(scene.service.took()).toBeLessThanOrEqual(2 * (READ.interval + WIDE_MARGIN) + 100);
  });

  it('never send more when one is killed that has reserved permits', async () => {
    const scene = await setScene(redis().url, { margin: WIDE_MARGIN });
    const ended = expect(scene.fleet.calls(0, READ.limit + 20)).rejects.toThrow('ended before its calls');
    await reservation(scene);
    scene.fleet.signal(0, 'SIGKILL');
    await ended;
    expectDone(await Promise.all([1, 2, 3, 4, 5].map((at) => scene.fleet.calls(at, 10))));
    expect(scene.service.refused()).toBe(0);
    expect(scene.service.arrivals.length).toBeLessThan(READ.limit + 20 + 50);
    expect(scene.service.most()).toBeLessThanOrEqual(READ.limit);
  });

  it('never send more when one is stopped while its permits become due', async () => {
    const scene = await setScene(redis().url, { margin: WIDE_MARGIN });
    const first = scene.fleet.calls(0, READ.limit + 20);
    await reservation(scene);
    scene.fleet.signal(0, 'SIGSTOP');
    const others = [1, 2, 3, 4, 5].map((at) => scene.fleet.calls(at, 20));
    await pass(READ.interval + WIDE_MARGIN);
    scene.fleet.signal(0, 'SIGCONT');
    expectDone(await Promise.all([first, ...others]));
    expectKept(scene, READ.limit + 20 + 100);
  });
});

describe('these tests detect', () => {
  it('requests that overtake each other when there is no margin', async () => {
    let scene = await setScene(redis().url, { margin: 0, latency: jitter() });
    await scene.calls(121);
    // A busy machine may be too slow to come near the limit.
    for (let tries = 1; tries < 4 && scene.service.refused() === 0; tries++) {
      scene = await setScene(redis().url, { margin: 0, latency: jitter() });
      await scene.calls(121);
    }
    expect(scene.service.refused()).toBeGreaterThan(0);
    expect(scene.service.most()).toBeGreaterThan(READ.limit);
  });

  it('processes that do not share the limit', async () => {
    const scene = await setScene(redis().url, { shared: false });
    void Promise.allSettled([scene.calls(2 * READ.limit)]);
    await scene.arrived(2 * READ.limit);
    expect(scene.service.refused()).toBeGreaterThanOrEqual(READ.limit);
  });
});
