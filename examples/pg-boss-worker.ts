/**
 * Builds that survive their process, on a pg-boss queue in PostgreSQL: a worker is killed while it creates audiences,
 * three others take over its jobs, and each audience is built once. `node examples/pg-boss-worker.ts`.
 *
 * The worker to copy is `support/pg-boss-worker.ts`. Starts a PostgreSQL server, unless `DATABASE_URL` is set. The service
 * is a sandbox in this process.
 */
import { setInterval } from 'node:timers/promises';
import { createSandbox } from 'audience-activation/sandbox';
import { type JobWithMetadata, PgBoss } from 'pg-boss';
import { type BuildData, type PgBossTask, QUEUE_OPTIONS } from './support/pg-boss-queue.ts';
import { NoPostgresError, type Postgres, startPostgres } from './support/postgres.ts';
import { startWorker, stopWorker, type WorkerProcess } from './support/worker-process.ts';

const JOBS = 9;

async function postgresOf(url = process.env.DATABASE_URL): Promise<Postgres> {
  return url ? { url, stop: async () => {} } : startPostgres();
}

/** Returns the jobs of a queue when all of them have completed. pg-boss has no event for that. */
async function endOf(boss: PgBoss, queue: string): Promise<JobWithMetadata<BuildData>[]> {
  for await (const _ of setInterval(200)) {
    const jobs = await boss.findJobs<BuildData>(queue);
    const failed = jobs.find(({ state }) => state === 'failed');
    if (failed) throw new Error(`Job ${failed.id} has failed: ${JSON.stringify(failed.output)}`);
    if (jobs.every(({ state }) => state === 'completed')) return jobs;
  }
  throw new Error('The interval has ended.');
}

async function run(databaseUrl: string): Promise<void> {
  const workers: WorkerProcess[] = [];
  const sandbox = createSandbox({
    jobs: { duration: 3_000 },
    // The service has created an audience, and its worker is killed before it receives the response.
    onRequest: ({ method }) => method === 'POST' && workers.length === 1 && workers[0]?.child.kill('SIGKILL'),
  });
  const account = sandbox.accounts.create({ email: 'demo@example.com', password: 'a password of the sandbox' });
  const { url: baseUrl } = await sandbox.listen();

  const queue = `queue-example-${process.pid}`;
  const boss = new PgBoss({ connectionString: databaseUrl }).on('error', console.error);
  await boss.start();
  await boss.createQueue(queue, QUEUE_OPTIONS);
  const task: PgBossTask = { baseUrl, token: account.token('api'), databaseUrl, queue, limits: {} };
  const start = (): number => workers.push(startWorker(new URL('./support/pg-boss-worker.ts', import.meta.url), task));
  try {
    const data = Array.from({ length: JOBS }, (_, at): BuildData => ({ name: `Audience ${at + 1}` }));
    await boss.insert(
      queue,
      data.map((build) => ({ data: build })),
    );
    start();
    console.log(`The first worker ended with ${await workers[0]?.ended}.`);
    for (let count = 0; count < 3; count++) start();

    const jobs = await endOf(boss, queue);
    const ids = new Set(jobs.map(({ output }) => JSON.stringify(output)));
    const repeated = sandbox.log.filter(({ replayed }) => replayed);
    console.log(`${jobs.length} jobs completed: ${ids.size} audiences, ${repeated.length} responses were repeated.`);
    const codes = await Promise.all(workers.slice(1).map(stopWorker));
    console.log(`The other workers ended with ${codes.join(', ')}.`);
  } finally {
    for (const { child } of workers) child.kill('SIGKILL');
    await boss.deleteQueue(queue);
    await Promise.all([boss.stop(), sandbox.close()]);
  }
}

try {
  const postgres = await postgresOf();
  await run(postgres.url).finally(postgres.stop);
} catch (error) {
  if (!(error instanceof NoPostgresError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
