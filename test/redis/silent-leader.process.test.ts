import { expect, it, onTestFinished } from 'vitest';
import { connectVirtualRedis } from '../../bench/support/virtual-redis.ts';
import { suiteRedis } from '../support/redis-server.ts';
import { startVirtualTime } from '../support/virtual-time.ts';
import { startSharedService } from './support/shared-waits.ts';

const redis = suiteRedis();
let prefixes = 0;

/** Rejects when the request is aborted, and responds never, as that of a connection whose packets are dropped. */
const noResponse = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));

/** Starts two clients that await `count` jobs each, in virtual time; the first one leads. */
async function start(count: number) {
  const connection = await connectVirtualRedis(redis().url);
  onTestFinished(() => connection.close());
  const time = startVirtualTime(() => connection.isBusy);
  onTestFinished(() => time.end());
  const service = startSharedService(`silent-${prefixes++}`);
  const clients = [service.connect(connection.client), service.connect(connection.client)];
  const ids = Array.from({ length: 2 * count }, (_, at) => at + 1);
  for (const id of ids) service.set(id, 102);
  const waits = Promise.all(ids.map((id, at) => clients[Number(at >= count)]?.audiences.wait(id)));
  await time.pass(60_000);
  expect(new Set(service.reads.map(({ by }) => by))).toEqual(new Set([0]));
  return {
    service,
    /** Ends the jobs; returns the milliseconds until all waits have ended. */
    async finish(): Promise<number> {
      for (const id of ids) service.set(id, 104);
      const startedAt = performance.now();
      await time.until(waits);
      return performance.now() - startedAt;
    },
  };
}

it.each([1, 60])('%i waits of each process end at most 20 s late when the leader gets no response', async (count) => {
  const { service, finish } = await start(count);
  service.interfere = (by, _, signal) => (by === 0 ? noResponse(signal) : undefined);
  expect(await finish()).toBeLessThan(20_000);
  expect(service.warnings).toEqual([expect.stringContaining('a poll had no response for 15 s')]);
});

it('a leader whose responses take ten seconds continues to lead', async () => {
  const { service, finish } = await start(60);
  service.interfere = () => new Promise((resolve) => setTimeout(resolve, 10_000, undefined));
  await finish();
  expect(new Set(service.reads.map(({ by }) => by))).toEqual(new Set([0]));
  expect(service.warnings).toEqual([]);
});
