/**
 * Builds that survive their process, on a BullMQ queue in Redis: a worker is killed while it creates audiences, three
 * others take over its jobs, and each audience is built once. `node examples/queue-worker.ts`.
 *
 * The worker to copy is `support/bullmq-worker.ts`. Starts a Redis server, unless `REDIS_URL` is set. The service is a
 * sandbox in this process.
 */
import { createSandbox } from 'audience-activation/sandbox';
import { Queue, QueueEvents } from 'bullmq';
import type { BuildData, BullmqTask } from './support/bullmq-worker.ts';
import { NoRedisError, type Redis, startRedis } from './support/redis.ts';
import { startWorker, stopWorker, type WorkerProcess } from './support/worker-process.ts';

const JOBS = 9;

async function redisOf(url = process.env.REDIS_URL): Promise<Redis> {
  return url ? { url, stop: async () => {} } : startRedis();
}

async function run(redisUrl: string): Promise<void> {
  const workers: WorkerProcess[] = [];
  const sandbox = createSandbox({
    jobs: { duration: 3_000 },
    // The service has created an audience, and its worker is killed before it receives the response.
    onRequest: ({ method }) => method === 'POST' && workers.length === 1 && workers[0]?.child.kill('SIGKILL'),
  });
  const account = sandbox.accounts.create({ email: 'demo@example.com', password: 'a password of the sandbox' });
  const { url: baseUrl } = await sandbox.listen();

  const name = `queue-example-${process.pid}`;
  const connection = { url: redisUrl };
  const queue = new Queue<BuildData, number>(name, { connection });
  const events = new QueueEvents(name, { connection });
  const task: BullmqTask = { baseUrl, token: account.token('api'), redisUrl, queue: name, limits: {}, lockMs: 3_000 };
  const start = (): number => workers.push(startWorker(new URL('./support/bullmq-worker.ts', import.meta.url), task));
  try {
    const orders = Array.from({ length: JOBS }, (_, at) => `order-${at + 1}`);
    const jobs = await queue.addBulk(
      // Use a job id of yours, which the idempotency key is derived from.
      orders.map((jobId) => ({ name: 'build', data: { name: `Audience of ${jobId}` }, opts: { jobId } })),
    );
    start();
    console.log(`The first worker ended with ${await workers[0]?.ended}.`);
    for (let count = 0; count < 3; count++) start();

    const ids = new Set(await Promise.all(jobs.map((job) => job.waitUntilFinished(events))));
    const repeated = sandbox.log.filter(({ replayed }) => replayed);
    console.log(`${jobs.length} jobs completed: ${ids.size} audiences, ${repeated.length} responses were repeated.`);
    const codes = await Promise.all(workers.slice(1).map(stopWorker));
    console.log(`The other workers ended with ${codes.join(', ')}.`);
  } finally {
    for (const { child } of workers) child.kill('SIGKILL');
    await queue.obliterate({ force: true });
    await Promise.all([queue.close(), events.close(), sandbox.close()]);
  }
}

try {
  const redis = await redisOf();
  await run(redis.url).finally(redis.stop);
} catch (error) {
  if (!(error instanceof NoRedisError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
