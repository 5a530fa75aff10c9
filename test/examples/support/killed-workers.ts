import { expect, onTestFinished } from 'vitest';
import { startWorker, stopWorker, type WorkerProcess } from '../../../examples/support/worker-process.ts';
import type { AudienceClient } from '../../../src/index.ts';
import type { LogEntry } from '../../../src/sandbox/index.ts';
import { startBench, type TestBench } from '../../support/sandbox.ts';

const second = { limit: 1_000, interval: 1_000 };
/** Rate limits that do not slow the tests down, of the sandbox and of the workers. */
export const limits = { read: second, write: second };

/** A queue, as the tests use it. */
export interface QueueUnderTest {
  /** Adds jobs that build audiences with these names. */
  add(names: readonly string[]): Promise<unknown>;
  /** Returns the number of jobs in each state. */
  count(): Promise<{ readonly completed: number; readonly failed: number; readonly waiting: number }>;
}

/** Starts workers whose processes end with the test. */
export function startWorkers(program: URL, task: object, count: number): WorkerProcess[] {
  return Array.from({ length: count }, () => {
    const worker = startWorker(program, task);
    onTestFinished(() => void worker.child.kill('SIGKILL'));
    return worker;
  });
}

/** Starts a sandbox for builds of workers; `onCreated` is called for each audience before its response is sent. */
export function startService(onCreated: () => void = () => {}): Promise<TestBench> {
  const isNew = ({ method, status, replayed }: LogEntry): boolean => method === 'POST' && status === 200 && !replayed;
  return startBench({
    clock: 'real',
    jobs: { duration: 1_500 },
    limits: { ...limits, buildsPerHour: 10_000, buildsPerDay: 10_000 },
    onRequest: (entry) => isNew(entry) && onCreated(),
  });
}

/** Returns how many audiences exist, by name. */
export async function countByName(client: AudienceClient): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  for await (const { name } of client.audiences.list()) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}

/** What workers are started with. */
export interface WorkerSetup {
  readonly program: URL;
  readonly queue: QueueUnderTest;
  /** Returns the task of a worker for a service. */
  taskFor(service: { readonly baseUrl: string; readonly token: string }): object;
}

/** Workers, and how often they are killed. */
export interface KillRun extends WorkerSetup {
  readonly jobs: number;
  readonly kills: number;
  readonly random: () => number;
}

/**
 * Has three workers build audiences, and kills one of them each time that the service has created some more, before it
 * responds. Checks that each job completes, and has built its audience once.
 */
export async function checkKilledWorkers({ program, queue, jobs, kills, random, taskFor }: KillRun): Promise<void> {
  const names = Array.from({ length: jobs }, (_, at) => `Audience ${at + 1}`);
  let created = 0;
  let killed = 0;
  const { sandbox, account, url, client } = await startService(() => {
    created++;
    // The last kill is during the last builds.
    if (killed < kills && created >= ((killed + 1) * jobs) / kills) replaceWorker();
  });
  const task = taskFor({ baseUrl: url, token: account.token('api') });
  const workers: WorkerProcess[] = [];
  const replaceWorker = (): void => {
    workers.splice(Math.floor(random() * workers.length), 1)[0]?.child.kill('SIGKILL');
    workers.push(...startWorkers(program, task, 1));
    killed++;
  };

  // The first kill is certain to lose responses: a worker is killed while all of its creates are in flight.
  let inFlight = 0;
  const creates = ({ path }: { readonly path: string }): boolean => path.endsWith('/create') && ++inFlight > 0;
  const release = sandbox.faults.add({ on: creates, inFlight: 3_600_000 });
  workers.push(...startWorkers(program, task, 1));
  await queue.add(names);
  await expect.poll(() => inFlight).toBeGreaterThan(1);
  replaceWorker();
  workers.push(...startWorkers(program, task, 2));
  release();

  const ended = async (): Promise<number> => {
    const { completed, failed } = await queue.count();
    return completed + failed;
  };
  await expect.poll(ended, { interval: 200, timeout: kills * 40_000 }).toBe(jobs);
  expect(await queue.count()).toEqual({ completed: jobs, failed: 0, waiting: 0 });
  const counts = await countByName(client);
  const posts = sandbox.log.filter(({ method }) => method === 'POST');
  const replayed = posts.filter((entry) => entry.replayed).length;
  console.info(
    `${jobs} jobs, ${killed} kills: ${counts.size} audiences, ${replayed} of ${posts.length} responses repeated`,
  );
  expect([...counts.keys()].sort()).toEqual([...names].sort());
  expect(new Set(counts.values())).toEqual(new Set([1]));
  expect(killed).toBe(kills);
  expect(replayed).toBeGreaterThan(0);
  expect(await Promise.all(workers.map(stopWorker))).toEqual([0, 0, 0]);
}

/** Checks that a worker ends after SIGTERM without waiting for builds, and that another worker completes its jobs. */
export async function checkStoppedWorker({ program, queue, taskFor }: WorkerSetup): Promise<void> {
  const { sandbox, account, url, client } = await startService();
  sandbox.setClock('manual');
  const names = ['One', 'Two'];
  await queue.add(names);
  const task = taskFor({ baseUrl: url, token: account.token('api') });
  const [first] = startWorkers(program, task, 1);
  await expect.poll(() => sandbox.log.filter(({ method }) => method === 'POST').length).toBe(2);
  expect(first && (await stopWorker(first))).toBe(0);
  expect(await queue.count()).toEqual({ completed: 0, failed: 0, waiting: 2 });

  const [second] = startWorkers(program, task, 1);
  await sandbox.advance(60_000);
  await expect.poll(() => queue.count()).toEqual({ completed: 2, failed: 0, waiting: 0 });
  expect(await countByName(client)).toEqual(new Map(names.map((name) => [name, 1])));
  expect(second && (await stopWorker(second))).toBe(0);
}
