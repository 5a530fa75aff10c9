import { AudienceClient } from '../../src/index.ts';
import { redisWaits } from '../../src/redis/index.ts';
import type { KeptWaitsTask } from './kept-waits-fleet.ts';
import { connectTo } from './redis-clients.ts';

/** Handles the outcomes of kept waits: marks each in Redis, which counts how often that was done. */
const { kind, redisUrl, prefix, baseUrl, read }: KeptWaitsTask = JSON.parse(process.argv[2] ?? '');
const { client: redis } = await connectTo(kind, redisUrl);
const { client: marks } = await connectTo('ioredis', redisUrl);
const shared = redisWaits(redis, { prefix });
const client = new AudienceClient({
  baseUrl,
  token: 'token',
  rateLimits: { read },
  waits: { shared },
  logLevel: 'off',
});

process.once('disconnect', () => process.exit());
client.waits.handle('mark', async ({ id, status, jobId }, data) => {
  await marks.incr('runs');
  // What must happen once is bound to the id of the outcome.
  await marks.hsetnx('effects', id, `${jobId} ${status} ${JSON.stringify(data)}`);
});
process.send?.('ready');
