import { setTimeout as pass } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { AudienceClient } from '../../src/index.ts';
import { redisWaits } from '../../src/redis/index.ts';
import { startKeptFleet } from '../support/kept-waits-fleet.ts';
import { startRedis } from '../support/redis-server.ts';
import { amount, seeded } from '../support/seeded.ts';

const WAITS = amount(600, 10_000);
const PROCESSES = amount(4, 10);
const ENDS_MS = amount(10_000, 60_000);
/** Time between two kills. A claim of a killed process can be taken over after 30 s. */
const KILL_EVERY_MS = 1_000;

it('kept waits are all handled, each with one effect, while processes are killed', { timeout: 600_000 }, async () => {
  const random = seeded('kept waits');
  const redis = await startRedis();
  const fleet = await startKeptFleet(redis.url, PROCESSES, WAITS);
  const connection = await redis.connect('ioredis');
  const shared = redisWaits(connection, { prefix: 'kept' });
  const client = new AudienceClient({ baseUrl: fleet.baseUrl, token: 'token', waits: { shared } });
  const ids = new Map<string, number>();
  for (let start = 1; start <= WAITS; start += 500) {
    const jobs = Array.from({ length: Math.min(500, WAITS + 1 - start) }, (_, at) => start + at);
    const keep = async (id: number) =>
      ids.set(await client.waits.keep({ kind: 'audience', id }, { handler: 'mark', data: { job: id } }), id);
    await Promise.all(jobs.map(keep));
  }
  fleet.begin(ENDS_MS);
  const until = Date.now() + ENDS_MS;
  let kills = 0;
  while (Date.now() < until) {
    await fleet.replace(Math.floor(random() * PROCESSES));
    kills++;
    await pass(KILL_EVERY_MS);
  }
  await expect.poll(() => client.waits.kept(), { timeout: 120_000, interval: 500 }).toEqual([]);
  const effects = await connection.hgetall('effects');
  const expected = [...ids].map(([id, job]) => [id, `${job} completed {"job":${job}}`]);
  expect(effects).toEqual(Object.fromEntries(expected));
  const runs = Number(await connection.get('runs'));
  console.log(`${WAITS} kept waits, ${PROCESSES} processes, ${kills} kills: handlers ran ${runs} times.`);
  expect(runs).toBeGreaterThanOrEqual(WAITS);
  await client.close();
});
