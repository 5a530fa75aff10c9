import { Queue } from 'bullmq';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { BuildData, BullmqTask } from '../../examples/support/bullmq-worker.ts';
import { suiteRedis } from '../support/redis-server.ts';
import { runProgram } from '../support/run-program.ts';
import { seeded } from '../support/seeded.ts';
import { runs } from '../support/volume.ts';
import {
  checkKilledWorkers,
  checkStoppedWorker,
  countByName,
  limits,
  type QueueUnderTest,
  startService,
  startWorkers,
} from './support/killed-workers.ts';

const redis = suiteRedis();
const program = new URL('../../examples/support/bullmq-worker.ts', import.meta.url);
const [JOBS, KILLS] = [runs(12, 30, 200), runs(2, 5, 20)];

/** Creates a queue with a new name. */
function createQueue(): QueueUnderTest & { readonly name: string } {
  const name = crypto.randomUUID();
  const queue = new Queue<BuildData>(name, { connection: { url: redis().url } });
  onTestFinished(() => queue.close());
  return {
    name,
    add: (names) =>
      queue.addBulk(names.map((audience, at) => ({ name, data: { name: audience }, opts: { jobId: `order-${at}` } }))),
    async count() {
      const { completed = 0, failed = 0, waiting = 0 } = await queue.getJobCounts('completed', 'failed', 'waiting');
      return { completed, failed, waiting };
    },
  };
}

const start = (env: NodeJS.ProcessEnv) => runProgram(['examples/queue-worker.ts'], env);

describe('examples/queue-worker.ts', () => {
  it('builds each audience once although a worker is killed', async () => {
    // On a busy machine, a worker loses the lock of a job and says so; another one repeats its create.
    const { stdout } = await start({ REDIS_URL: '' });
    expect(stdout.trim().split('\n')).toEqual([
      'The first worker ended with SIGKILL.',
      expect.stringMatching(/^9 jobs completed: 9 audiences, [1-9]\d* responses were repeated\.$/),
      'The other workers ended with 0, 0, 0.',
    ]);
  });
});

describe('workers of BullMQ', () => {
  const taskFor = (queue: string, service: { baseUrl: string; token: string }): BullmqTask => ({
    ...service,
    redisUrl: redis().url,
    queue,
    limits,
    lockMs: 2_000,
  });

  it(`complete ${JOBS} jobs, each with one build, although ${KILLS} of them are killed`, async () => {
    const queue = createQueue();
    const random = seeded('killed workers of BullMQ');
    const sizes = { jobs: JOBS, kills: KILLS, random };
    await checkKilledWorkers({ program, queue, ...sizes, taskFor: (service) => taskFor(queue.name, service) });
  }, 900_000);

  it('complete a job although it is killed twice, after which BullMQ by default gives it up', async () => {
    const queue = createQueue();
    const { sandbox, account, url, client } = await startService();
    await queue.add(['One']);
    const task = { ...taskFor(queue.name, { baseUrl: url, token: account.token('api') }), lockMs: 1_000 };
    for (let kills = 0; kills < 2; kills++) {
      let requests = 0;
      const release = sandbox.faults.add({ on: () => ++requests > 0, delay: 3_600_000 });
      const [worker] = startWorkers(program, task, 1);
      await expect.poll(() => requests).toBeGreaterThan(0);
      worker?.child.kill('SIGKILL');
      await worker?.ended;
      release();
    }
    startWorkers(program, task, 1);
    await expect.poll(() => queue.count()).toEqual({ completed: 1, failed: 0, waiting: 0 });
    expect(await countByName(client)).toEqual(new Map([['One', 1]]));
  });

  it('end after SIGTERM without waiting for builds, which other workers continue', async () => {
    const queue = createQueue();
    await checkStoppedWorker({ program, queue, taskFor: (service) => taskFor(queue.name, service) });
  });
});
