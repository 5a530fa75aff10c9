import { AudienceClient, apiToken, type Credentials, type RateLimits } from 'audience-activation';
import { redisLimiter, redisTokenStore } from 'audience-activation/redis';
import { createClient } from 'redis';

/** What a process of the fleet does. */
export interface Task {
  readonly baseUrl: string;
  readonly credentials: Credentials;
  readonly redisUrl: string;
  /** Begins the keys in Redis. */
  readonly prefix: string;
  /** How many share the limits. */
  readonly processes: number;
  readonly limits: Readonly<Partial<RateLimits>>;
  readonly reads: number;
}

const [, , text = ''] = process.argv;
const { baseUrl, credentials, redisUrl, prefix, processes, limits, reads }: Task = JSON.parse(text);

const redis = await createClient({ url: redisUrl }).on('error', console.error).connect();
// Minted by one process, used by all.
const token = apiToken(credentials, { store: redisTokenStore(redis, { key: `${prefix}:token` }) });
// The same limits for all; a part of them for each, should Redis be away.
const limiter = redisLimiter(redis, { prefix, rateLimits: limits, margin: 250, fallback: { processes } });
const client = new AudienceClient({ baseUrl, token, rateLimits: limits, limiter });

const began = performance.now();
await Promise.all(Array.from({ length: reads }, () => client.audiences.list()));
process.send?.({ reads, seconds: (performance.now() - began) / 1_000 });

process.once('disconnect', async () => {
  await client.close();
  redis.destroy();
});
