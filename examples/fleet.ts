/**
 * Four processes that share one token and its rate limits through Redis, against a sandbox. Each process polls for its own
 * waits: `node examples/fleet.ts`.
 *
 * Starts a Redis server, unless `REDIS_URL` is set.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { createSandbox } from 'audience-activation/sandbox';
import { createClient } from 'redis';
import type { Report, Task } from './support/fleet-process.ts';
import { NoRedisError, type Redis, startRedis } from './support/redis.ts';

const PROCESSES = 4;
const READS_EACH = 20;
const WAITS_EACH = 5;
/** Small limits with short intervals, so that the example ends soon. */
const limits = { read: { limit: 30, interval: 2_000 }, mint: { limit: 10, interval: 2_000 } } as const;
const JOB_MS = 4_000;

async function redisOf(url = process.env.REDIS_URL): Promise<Redis> {
  return url ? { url, stop: async () => {} } : startRedis();
}

/** Resolves with the report of a process; rejects when the process ends before. */
async function reportOf(child: ChildProcess): Promise<Report> {
  const failed = once(child, 'exit').then(([code]) => Promise.reject(new Error(`A process ended with ${code}.`)));
  const [report] = await Promise.race([once(child, 'message'), failed]);
  return report;
}

async function runFleet(redisUrl: string): Promise<void> {
  const sandbox = createSandbox({ limits, jobs: { duration: JOB_MS } });
  const credentials = { email: 'demo@example.com', password: 'a password of the sandbox' };
  sandbox.accounts.create(credentials);
  const { url: baseUrl, close } = await sandbox.listen();
  const prefix = `fleet-example-${process.pid}`;
  const sizes = { processes: PROCESSES, reads: READS_EACH, waits: WAITS_EACH };
  const task: Task = { baseUrl, credentials, redisUrl, prefix, limits, ...sizes };
  const program = new URL('./support/fleet-process.ts', import.meta.url);
  const children = Array.from({ length: PROCESSES }, () => fork(program, [JSON.stringify(task)]));
  try {
    const reports = await Promise.all(children.map(reportOf));
    for (const [index, { reads, seconds, completed }] of reports.entries()) {
      const done = `${reads} reads in ${seconds.toFixed(1)} s, then ${completed} audiences completed`;
      console.log(`Process ${index + 1}: ${done}.`);
    }
    const count = (matches: (entry: (typeof sandbox.log)[number]) => boolean): number =>
      sandbox.log.filter(matches).length;
    console.log(`Tokens issued: ${count(({ path }) => path === '/api/v2/auth/api-token')}.`);
    const reads = count(({ method, status }) => method === 'GET' && status === 200);
    const polls = reads - PROCESSES * READS_EACH;
    console.log(`Successful reads: ${PROCESSES * READS_EACH}, and ${polls} polls for ${PROCESSES * WAITS_EACH} waits.`);
    console.log(`Refused with 429: ${count(({ status }) => status === 429)}.`);
  } finally {
    for (const child of children) if (child.connected) child.disconnect();
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
