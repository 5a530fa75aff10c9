/**
 * Four processes that share one token and its rate limits through Redis, against a sandbox: `npm run example:fleet`.
 *
 * Starts a Redis server, unless `REDIS_URL` is set.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { createSandbox } from 'audience-activation/sandbox';
import { createClient } from 'redis';
import type { Task } from './support/fleet-process.ts';
import { NoRedisError, type Redis, startRedis } from './support/redis.ts';

const PROCESSES = 4;
const READS_EACH = 20;
/** Small limits with short intervals, so that the example ends soon. */
const limits = { read: { limit: 30, interval: 2_000 }, mint: { limit: 10, interval: 2_000 } } as const;

async function redisOf(url = process.env.REDIS_URL): Promise<Redis> {
  return url ? { url, stop: async () => {} } : startRedis();
}

/** Starts a process; resolves with its report. */
async function run(task: Task): Promise<{ readonly reads: number; readonly seconds: number }> {
  const child: ChildProcess = fork(new URL('./support/fleet-process.ts', import.meta.url), [JSON.stringify(task)]);
  const failed = once(child, 'exit').then(([code]) => Promise.reject(new Error(`A process ended with ${code}.`)));
  const [report] = await Promise.race([once(child, 'message'), failed]);
  child.disconnect();
  return report;
}

async function runFleet(redisUrl: string): Promise<void> {
  const sandbox = createSandbox({ limits });
  const credentials = { email: 'demo@example.com', password: 'a password of the sandbox' };
  sandbox.accounts.create(credentials);
  const { url: baseUrl, close } = await sandbox.listen();
  const prefix = `fleet-example-${process.pid}`;
  const task: Task = { baseUrl, credentials, redisUrl, prefix, processes: PROCESSES, limits, reads: READS_EACH };
  try {
    const reports = await Promise.all(Array.from({ length: PROCESSES }, () => run(task)));
    for (const [index, { reads, seconds }] of reports.entries()) {
      console.log(`Process ${index + 1}: ${reads} reads in ${seconds.toFixed(1)} s.`);
    }
    const count = (matches: (entry: (typeof sandbox.log)[number]) => boolean): number =>
      sandbox.log.filter(matches).length;
    console.log(`Tokens issued: ${count(({ path }) => path === '/api/v2/auth/api-token')}.`);
    console.log(`Successful reads: ${count(({ method, status }) => method === 'GET' && status === 200)}.`);
    console.log(`Refused with 429: ${count(({ status }) => status === 429)}.`);
  } finally {
    await close();
    await deleteToken(redisUrl, prefix);
  }
}

/** Deletes the token from Redis. The keys of the rate limits expire. */
async function deleteToken(url: string, prefix: string): Promise<void> {
  const redis = await createClient({ url }).on('error', console.error).connect();
  await redis.del(`${prefix}:token`);
  redis.destroy();
}

try {
  const redis = await redisOf();
  await runFleet(redis.url).finally(redis.stop);
} catch (error) {
  if (!(error instanceof NoRedisError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
