import { describe, expect, it } from 'vitest';
import { suiteRedis } from '../support/redis-server.ts';
import { expectDone, expectKept, ideal, READ, setScene } from './support/fleet-scene.ts';

const redis = suiteRedis();

describe('six processes that share 60 per 3 s', () => {
  it('never send more, and use at least 90 % of the limit', async () => {
    const scene = await setScene(redis().url);
    expectDone(await scene.calls(241));
    expectKept(scene, 241);
    expect(scene.service.took()).toBeLessThanOrEqual(ideal(241) / 0.9);
  });

  it('continue when Redis loses their scripts', async () => {
    const scene = await setScene(redis().url);
    const calls = scene.calls(241);
    await scene.arrived(READ.limit);
    await (await redis().connect('ioredis')).script('FLUSH');
    expectDone(await calls);
    expectKept(scene, 241);
    expect(scene.service.took()).toBeLessThanOrEqual(ideal(241) / 0.9);
  });
});
