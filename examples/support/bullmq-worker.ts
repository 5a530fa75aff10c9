import { AudienceClient, type RateLimits } from 'audience-activation';
import { redisLimiter } from 'audience-activation/redis';
import { type Job, WaitingError, Worker } from 'bullmq';
import { Redis } from 'ioredis';

/** Task of a worker. */
export interface BullmqTask {
  readonly baseUrl: string;
  readonly token: string;
  readonly redisUrl: string;
  /** Name of the queue, and prefix of the client's keys in Redis. */
  readonly queue: string;
  readonly limits: Readonly<Partial<RateLimits>>;
  /** Milliseconds after which the jobs of a killed worker are run again, about. BullMQ's default is 30 s. */
  readonly lockMs: number;
}

/** Data of a job. */
export interface BuildData {
  readonly name: string;
  /** Id of the audience, saved as soon as it is created. */
  readonly id?: number;
}

const [, , json = ''] = process.argv;
const { baseUrl, token, redisUrl, queue, limits, lockMs }: BullmqTask = JSON.parse(json);

// BullMQ requires that commands of workers wait for Redis, however long it takes.
const redis = new Redis(redisUrl, { maxRetriesPerRequest: null }).on('error', console.error);
const client = new AudienceClient({
  baseUrl,
  token,
  rateLimits: limits,
  limiter: redisLimiter(redis, { prefix: queue, rateLimits: limits, margin: 250 }),
});
const stopping = new AbortController();

/** Builds the audience of a job once, however often the job is run. */
async function build(job: Job<BuildData>, signal: AbortSignal): Promise<number> {
  let { id } = job.data;
  if (id === undefined) {
    // If a killed worker has sent this create, the service repeats its response, for 24 hours.
    const options = { idempotencyKey: `audience-build-${job.id}`, signal };
    ({ id } = await client.audiences.create({ name: job.data.name }, options));
    await job.updateData({ ...job.data, id });
  }
  const audience = await client.audiences.wait(id, { signal });
  return audience.id;
}

const worker = new Worker<BuildData>(
  queue,
  async (job, lock) => {
    try {
      return await build(job, stopping.signal);
    } catch (error) {
      if (!stopping.signal.aborted) throw error;
      // The process is stopping: return the job to the queue, so that another worker continues immediately.
      await job.moveToWait(lock);
      throw new WaitingError();
    }
  },
  {
    connection: redis,
    // A wait costs a worker nearly nothing.
    concurrency: 5,
    // Kills that a job survives. By default 1: a job that is killed twice fails.
    maxStalledCount: 100,
    lockDuration: lockMs,
    stalledInterval: lockMs,
  },
);
worker.on('error', console.error);

process.once('SIGTERM', async () => {
  const closed = worker.close(); // takes no more jobs
  stopping.abort();
  await closed;
  await client.close();
  await redis.quit();
});
// As PM2 expects it (`wait_ready`): the process takes jobs, and stops in order when it receives SIGTERM.
process.send?.('ready');
