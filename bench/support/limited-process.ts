import { AudienceClient, RATE_LIMITS, type RateLimiter, type RateLimits } from 'audience-activation';
import { redisLimiter } from 'audience-activation/redis';
import { Redis } from 'ioredis';
import { createClient } from 'redis';

/** Settings of a process that reads with the built-in limiter, and with limiters shared through each Redis client. */
export interface Settings {
  readonly baseUrl: string;
  readonly read: RateLimits['read'];
  readonly margin: number;
  /** One Redis server per package, so that their commands can be counted. */
  readonly urls: Readonly<Record<'redis' | 'ioredis', string>>;
}

/** Concurrent reads with one limiter (`rush`), or sequential reads with each limiter in turn (`rounds`). */
export type Task =
  | { readonly rush: string; readonly calls: number }
  | { readonly rounds: number; readonly gap: number };

const [, , text = ''] = process.argv;
const { baseUrl, read, margin, urls }: Settings = JSON.parse(text);
const rateLimits = { ...RATE_LIMITS, read };
const clientWith = (limiter?: RateLimiter): AudienceClient =>
  new AudienceClient({ baseUrl, token: 'token', rateLimits, limiter });
const nodeRedis = await createClient({ url: urls.redis }).on('error', console.error).connect();
const limited: Readonly<Record<string, AudienceClient>> = {
  own: clientWith(),
  redis: clientWith(redisLimiter(nodeRedis, { rateLimits, margin })),
  ioredis: clientWith(redisLimiter(new Redis(urls.ioredis), { rateLimits, margin })),
};

const clients: typeof limited = {
  ...limited,
  unlimited: new AudienceClient({ baseUrl, token: 'token', rateLimits: false }),
};

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Returns the durations of reads in milliseconds, by limiter. */
async function paced(rounds: number, gap: number): Promise<Record<string, number[]>> {
  const times: Record<string, number[]> = Object.fromEntries(Object.keys(limited).map((name) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    for (const [name, client] of Object.entries(limited)) {
      await sleep(gap * (0.5 + Math.random()));
      const began = performance.now();
      await client.webhooks.list();
      times[name]?.push(performance.now() - began);
    }
  }
  return times;
}

const work = async (task: Task): Promise<unknown> => {
  if ('rounds' in task) return paced(task.rounds, task.gap);
  return Promise.all(Array.from({ length: task.calls }, () => clients[task.rush]?.webhooks.list())).then(() => 'done');
};

process.on('message', async (task: Task) => process.send?.(await work(task)));
process.once('disconnect', () => process.exit());
process.send?.('ready');
