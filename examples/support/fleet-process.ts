import { AudienceClient, apiToken, type Credentials, type RateLimits } from 'audience-activation';
import { redisLimiter, redisTokenStore } from 'audience-activation/redis';
import { createClient } from 'redis';

/** Task of a process of the fleet. */
export interface Task {
  readonly baseUrl: string;
  readonly credentials: Credentials;
  readonly redisUrl: string;
  /** Prefix of keys in Redis. */
  readonly prefix: string;
  /** Number of processes that share the limits. */
  readonly processes: number;
  readonly limits: Readonly<Partial<RateLimits>>;
  readonly reads: number;
  /** Number of audiences to create and wait for. */
  readonly waits: number;
}

/** The work of a process. */
export interface Report {
  readonly reads: number;
  readonly seconds: number;
  /** Number of audiences that it has waited for. */
  readonly completed: number;
}

const [, , json = ''] = process.argv;
const { baseUrl, credentials, redisUrl, prefix, processes, limits, reads, waits }: Task = JSON.parse(json);
const redis = await createClient({ url: redisUrl }).on('error', console.error).connect();
// One process issues the token, and all processes use it.
const token = apiToken(credentials, { store: redisTokenStore(redis, { key: `${prefix}:token` }) });
// While Redis is not available, the limiter grants each process its share of the limits.
const limiter = redisLimiter(redis, { prefix, rateLimits: limits, margin: 250, fallback: { processes } });
const client = new AudienceClient({ baseUrl, token, rateLimits: limits, limiter });

const startedAt = performance.now();
await Promise.all(Array.from({ length: reads }, () => client.audiences.list()));
const seconds = (performance.now() - startedAt) / 1_000;
const names = Array.from({ length: waits }, (_, at) => `Audience ${at + 1}`);
const completed = await Promise.all(names.map((name) => client.audiences.createAndWait({ name })));
const report: Report = { reads, seconds, completed: completed.length };
process.send?.(report);

process.once('disconnect', async () => {
  await client.close();
  redis.destroy();
});
