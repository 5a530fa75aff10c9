import { beforeAll, describe, expect, it } from 'vitest';
import { AudienceClient } from '../../src/index.ts';
import { type RedisClient, redisWaits } from '../../src/redis/index.ts';
import { inVirtualTime } from '../support/in-virtual-time.ts';
import { answer } from '../support/job-service.ts';
import { failureOf } from '../support/server.ts';
import { wireAudience } from '../support/wire-audience.ts';

/** Starts a client whose Redis can be away; otherwise each report makes it the leader. Audiences have the status 102. */
function start() {
  const scene = { isDown: false, reports: 0, status: 102, warnings: [] as string[] };
  const evaluate = async (...parameters: unknown[]): Promise<unknown> => {
    const args = parameters.slice(2).map(String);
    const jobs = args.filter((arg) => arg.startsWith('audience:'));
    // Only a report begins with the id of a process.
    const isReport = args.some((arg) => /^[0-9a-f]{8}-[0-9a-f-]{27}$/.test(arg));
    if (isReport) scene.reports++;
    if (scene.isDown) throw new Error('Redis is away');
    return isReport ? [1, 'leader', [], [], [], []] : jobs.map(() => '');
  };
  const redis: RedisClient = { evalsha: evaluate, eval: evaluate };
  const warn = (message: unknown): void => void scene.warnings.push(String(message));
  const client = new AudienceClient({
    baseUrl: 'http://localhost',
    token: 't',
    logger: { error: warn, warn, info: () => {}, debug: () => {} },
    waits: { shared: redisWaits(redis, { prefix: 'p' }) },
    fetch: async (input) => {
      const id = Number(/\d+$/.exec(String(input))?.[0]);
      return answer([wireAudience(id, { id: scene.status, name: 'S' })]);
    },
  });
  return { scene, wait: client.audiences.wait.bind(client.audiences), close: () => client.close() };
}

// Scripts are hashed at their first use, on another thread, which virtual time does not wait for.
beforeAll(async () => {
  const { scene, wait, close } = start();
  scene.status = 104;
  await wait(1);
  await close();
});

describe('a client whose wait ends while Redis is away', () => {
  const time = inVirtualTime();

  it('reports its next wait although the only report of the last one failed', async () => {
    const { scene, wait, close } = start();
    scene.isDown = true;
    const abort = new AbortController();
    const first = failureOf(wait(1, { signal: abort.signal }));
    abort.abort('enough');
    expect(await first).toBe('enough');
    await time.pass(5_000);
    expect(scene.reports).toBe(1);
    scene.isDown = false;
    scene.status = 104;
    expect(await time.until(wait(2, { timeout: 10_000 }))).toMatchObject({ id: 2 });
    await close();
  });

  it('shares its next wait although it polled alone until the last one ended', async () => {
    const { scene, wait, close } = start();
    scene.isDown = true;
    const abort = new AbortController();
    const first = failureOf(wait(1, { signal: abort.signal }));
    await time.pass(5_000);
    expect(scene.warnings).toEqual([expect.stringMatching(/^Redis failed, so this process polls for its own waits/)]);
    abort.abort('enough');
    expect(await first).toBe('enough');
    await time.pass(5_000);
    const { reports } = scene;
    await time.pass(60_000);
    expect(scene.reports).toBe(reports);
    scene.isDown = false;
    const next = wait(2);
    await time.pass(2_000);
    expect(scene.warnings[1]).toMatch(/^Redis responds again/);
    scene.status = 104;
    await time.until(next);
    await close();
  });
});
