import { AudienceClient, apiToken, type Credentials, type RateLimits } from 'audience-activation';
import { redisLimiter, redisTokenStore, redisWaits } from 'audience-activation/redis';
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

/** A message of a process: its report, the id of the wait that it has kept, or the outcome that it has handled. */
export type Message =
  | { readonly report: Report }
  | { readonly kept: string }
  | { readonly handled: string; readonly job: number; readonly status: string; readonly data: unknown };

const [, , json = ''] = process.argv;
const { baseUrl, credentials, redisUrl, prefix, processes, limits, reads, waits }: Task = JSON.parse(json);
const send = (message: Message): void => void process.send?.(message);

const redis = await createClient({ url: redisUrl }).on('error', console.error).connect();
// One process issues the token, and all processes use it.
const token = apiToken(credentials, { store: redisTokenStore(redis, { key: `${prefix}:token` }) });
// While Redis is not available, the limiter grants each process its share of the limits.
const limiter = redisLimiter(redis, { prefix, rateLimits: limits, margin: 250, fallback: { processes } });
// One process polls for all.
const shared = redisWaits(redis, { prefix });
const client = new AudienceClient({ baseUrl, token, rateLimits: limits, limiter, waits: { shared } });

// Any process handles the outcomes of waits that were kept, also by processes that have ended.
client.waits.handle('announce', ({ id, jobId, status }, data) => send({ handled: id, job: jobId, status, data }));

const startedAt = performance.now();
await Promise.all(Array.from({ length: reads }, () => client.audiences.list()));
const seconds = (performance.now() - startedAt) / 1_000;
const names = Array.from({ length: waits }, (_, at) => `Audience ${at + 1}`);
const completed = await Promise.all(names.map((name) => client.audiences.createAndWait({ name })));
send({ report: { reads, seconds, completed: completed.length } });

process.once('message', async () => {
  const audience = await client.audiences.create({ name: 'Kept' });
  send({ kept: await client.waits.keep({ kind: 'audience', id: audience.id }, { handler: 'announce', data: 'ann' }) });
});

process.once('disconnect', async () => {
  await client.close();
  redis.destroy();
});
