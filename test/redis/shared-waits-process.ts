import { AudienceClient } from '../../src/index.ts';
import { redisLimiter, redisWaits } from '../../src/redis/index.ts';
import { connectTo } from '../support/redis-clients.ts';
import type { SharedWaitsTask } from './shared-waits-fleet.ts';

/** Waits for jobs, shares the waits with other processes, and reports when each wait has ended. */
const { kind, redisUrl, prefix, baseUrl, read, name, ids }: SharedWaitsTask = JSON.parse(process.argv[2] ?? '');
const { client: redis } = await connectTo(kind, redisUrl);
const logger = { warn: () => {} };
const client = new AudienceClient({
  baseUrl,
  token: 'token',
  rateLimits: { read },
  limiter: redisLimiter(redis, { rateLimits: { read }, margin: 500, prefix, fallback: { processes: 6 }, logger }),
  waits: { shared: redisWaits(redis, { prefix }) },
  headers: { 'x-process': name },
  logLevel: 'off',
});

process.once('disconnect', () => process.exit());
process.once('message', () => {
  for (const id of ids) {
    client.audiences.wait(id).then(
      ({ status }) => process.send?.({ id, status: status.id, at: Date.now() }),
      (error) => process.send?.({ id, status: String(error), at: Date.now() }),
    );
  }
});
process.send?.('ready');
