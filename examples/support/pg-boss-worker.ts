import { AudienceClient, JobError } from 'audience-activation';
import { type Job, PgBoss } from 'pg-boss';
import type { BuildData, PgBossTask } from './pg-boss-queue.ts';

const [, , json = ''] = process.argv;
const { baseUrl, token, databaseUrl, queue, limits }: PgBossTask = JSON.parse(json);

const client = new AudienceClient({ baseUrl, token, rateLimits: limits });
// Searches for jobs of killed workers every second, so that the example ends soon. The defaults are a minute.
const boss = new PgBoss({ connectionString: databaseUrl, superviseIntervalSeconds: 1, monitorIntervalSeconds: 1 });
boss.on('error', console.error);
await boss.start();
// pg-boss cannot change the data of a job that is running, so the ids have a table.
const database = boss.getDb();
const table = 'CREATE TABLE IF NOT EXISTS audience_builds (job_id uuid PRIMARY KEY, audience_id bigint NOT NULL)';
await database.executeSql(table);

/** Builds the audience of a job once, however often the job is run. */
async function build({ id: jobId, data, signal }: Job<BuildData>): Promise<number> {
  const { rows } = await database.executeSql('SELECT audience_id FROM audience_builds WHERE job_id = $1', [jobId]);
  let id = rows[0] && Number(rows[0].audience_id);
  if (id === undefined) {
    // If a killed worker has sent this create, the service repeats its response, for 24 hours.
    const options = { idempotencyKey: `audience-build-${jobId}`, signal };
    ({ id } = await client.audiences.create({ name: data.name }, options));
    await database.executeSql('INSERT INTO audience_builds VALUES ($1, $2) ON CONFLICT DO NOTHING', [jobId, id]);
  }
  const audience = await client.audiences.wait(id, { signal });
  return audience.id;
}

const options = {
  // A wait costs a worker nearly nothing.
  localConcurrency: 5,
  pollingIntervalSeconds: 0.5,
  perJobResults: true,
} as const;
await boss.work<BuildData>(queue, options, async ([job]) => {
  if (job === undefined) return [];
  try {
    return [{ id: job.id, status: 'completed', output: { audienceId: await build(job) } }];
  } catch (error) {
    // Run the job again after any error, unless the build itself has failed.
    if (!(error instanceof JobError)) throw error;
    return [{ id: job.id, status: 'deadletter', output: { code: error.code, message: error.message } }];
  }
});

process.once('SIGTERM', async () => {
  // Takes no more jobs, returns those that are running to the queue, and aborts their signals.
  await boss.stop({ graceful: false });
  await client.close();
});
// As PM2 expects it (`wait_ready`): the process takes jobs, and stops in order when it receives SIGTERM.
process.send?.('ready');
