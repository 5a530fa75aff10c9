import { beforeAll, expect, it } from 'vitest';
import { AudienceClient, type WaitingEvent } from '../../src/index.ts';
import { type RedisClient, redisLimiter } from '../../src/redis/index.ts';
import { inVirtualTime } from '../support/in-virtual-time.ts';

/** Redis, as other processes have left it: no permit is free for `ms`. */
function startBusy(ms: number): RedisClient {
  const freeAt = performance.now() + ms;
  const evaluate = (): Promise<unknown> => {
    const left = Math.max(0, freeAt - performance.now());
    return Promise.resolve([0, left, left > 0 ? [] : [0], 1]);
  };
  return { evalsha: evaluate, eval: evaluate };
}

// Scripts are hashed at their first use, on another thread, which virtual time does not wait for.
beforeAll(() => redisLimiter(startBusy(0)).acquire('read', { scope: 's', priority: 'foreground' }));

const time = inVirtualTime();

it('a call that waits for the permits of a fleet reports the limit and when a permit is expected', async () => {
  const events: WaitingEvent[] = [];
  const client = new AudienceClient({
    baseUrl: 'http://localhost',
    token: 't',
    limiter: redisLimiter(startBusy(30_000)),
    onWaiting: (event) => events.push(event),
    fetch: () => Promise.resolve(Response.json({ status: 'success', code: 200, message: '', data: [] })),
  });
  const listing = client.webhooks.list();
  await time.pass(6_000);
  expect(events).toMatchObject([{ operation: 'webhooks.list', reason: 'rate-limit', bucket: 'read' }]);
  expect(Math.round(((events[0]?.until?.getTime() ?? 0) - Date.now()) / 1_000)).toBe(24);
  expect(await time.until(listing)).toEqual([]);
  await client.close();
});
