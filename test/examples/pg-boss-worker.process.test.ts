import { PgBoss } from 'pg-boss';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type PgBossTask, QUEUE_OPTIONS } from '../../examples/support/pg-boss-queue.ts';
import { type Postgres, startPostgres } from '../../examples/support/postgres.ts';
import { runProgram } from '../support/run-program.ts';
import { seeded } from '../support/seeded.ts';
import { runs } from '../support/volume.ts';
import { checkKilledWorkers, checkStoppedWorker, limits, type QueueUnderTest } from './support/killed-workers.ts';

let postgres: Postgres;
beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(() => postgres.stop());

const program = new URL('../../examples/support/pg-boss-worker.ts', import.meta.url);
const [JOBS, KILLS] = [runs(12, 30, 200), runs(2, 4, 20)];

/** Creates a queue with a new name. */
async function createQueue(): Promise<QueueUnderTest & { readonly name: string }> {
  const name = crypto.randomUUID();
  const boss = new PgBoss({ connectionString: postgres.url, supervise: false, schedule: false });
  await boss.start();
  onTestFinished(() => boss.stop());
  await boss.createQueue(name, QUEUE_OPTIONS);
  return {
    name,
    add: (names) =>
      boss.insert(
        name,
        names.map((audience) => ({ data: { name: audience } })),
      ),
    async count() {
      const jobs = await boss.findJobs(name);
      const count = (...states: string[]): number => jobs.filter(({ state }) => states.includes(state)).length;
      return { completed: count('completed'), failed: count('failed'), waiting: count('created', 'retry') };
    },
  };
}

const start = (env: NodeJS.ProcessEnv) => runProgram(['examples/pg-boss-worker.ts'], env);

describe('examples/pg-boss-worker.ts', () => {
  it('builds each audience once although a worker is killed', async () => {
    const { stdout, stderr } = await start({ DATABASE_URL: '' });
    expect(stdout.trim().split('\n')).toEqual([
      'The first worker ended with SIGKILL.',
      expect.stringMatching(/^9 jobs completed: 9 audiences, [1-9]\d* responses were repeated\.$/),
      'The other workers ended with 0, 0, 0.',
    ]);
    expect(stderr).toBe('');
  });
});

describe('workers of pg-boss', () => {
  const taskFor = (queue: string, service: { baseUrl: string; token: string }): PgBossTask => ({
    ...service,
    databaseUrl: postgres.url,
    queue,
    limits,
  });

  it(`complete ${JOBS} jobs, each with one build, although ${KILLS} of them are killed`, async () => {
    const queue = await createQueue();
    const random = seeded('killed workers of pg-boss');
    const sizes = { jobs: JOBS, kills: KILLS, random };
    await checkKilledWorkers({ program, queue, ...sizes, taskFor: (service) => taskFor(queue.name, service) });
  }, 900_000);

  it('end after SIGTERM without waiting for builds, which other workers continue', async () => {
    const queue = await createQueue();
    await checkStoppedWorker({ program, queue, taskFor: (service) => taskFor(queue.name, service) });
  });
});
