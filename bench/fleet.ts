/**
 * Measures how late the ends of jobs are noticed by processes that share a token, its limits and their waits through
 * Redis, and how long the user's own reads are queued beside them: clients in one process, in virtual time, with the
 * scripts of the package in a real Redis server and the sandbox as the service.
 *
 *   npm run bench -- fleet
 */
import { type Audience, AudienceClient } from 'audience-activation';
import { redisLimiter, redisWaits } from 'audience-activation/redis';
import { createSandbox } from 'audience-activation/sandbox';
import { startRedis } from '../examples/support/redis.ts';
import { randomOf } from '../test/support/seeded.ts';
import { startVirtualTime } from '../test/support/virtual-time.ts';
import { printTable } from './support/report.ts';
import { connectVirtualRedis } from './support/virtual-redis.ts';

const MINUTE = 60_000;
/** Durations of jobs: a lognormal distribution. */
const LENGTH = { median: 10 * MINUTE, sigma: 0.5 } as const;
const LATENCY_MS = 50;
const OWN_READS_PER_MINUTE = 30;
/** A limit that lets all jobs start at the same time. */
const MANY = { limit: 1_000_000, interval: MINUTE } as const;

interface Options {
  readonly processes: number;
  /** Number of waits of each process. */
  readonly waits: number;
  /** False: the processes do not share their waits. @default true */
  readonly isShared?: boolean;
  /** Share of webhook events that are lost; the others reach a random process. @default no events are sent */
  readonly lost?: number;
}

const redisServer = await startRedis();
const lossy = randomOf(5);
/** Share of the commands whose connection is lost before or after they are carried out. */
const LOSS = Number(process.env.LOSS ?? 0);
const lose = () => (lossy() >= LOSS ? undefined : lossy() < 0.5 ? 'command' : 'reply');
const redis = await connectVirtualRedis(redisServer.url, lose);
const time = startVirtualTime(() => redis.isBusy);
const only = process.argv[2];

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const wireTime = (): string => new Date().toISOString().slice(0, 19).replace('T', ' ');
const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
const p95 = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.ceil(values.length * 0.95) - 1] ?? 0;
const seconds = (ms: number): string => (ms / 1_000).toFixed(1);

async function measure({ processes, waits, isShared = true, lost }: Options, seed: number) {
  await redis.flush();
  const random = randomOf(7 * seed);
  const normal = (): number => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  const ends = new Map<number, number>();
  const sandbox = createSandbox({
    limits: { write: MANY, buildsPerHour: MANY.limit, buildsPerDay: MANY.limit },
    jobs: {
      duration({ id }) {
        const length = LENGTH.median * Math.exp(LENGTH.sigma * normal());
        ends.set(id, performance.now() + length);
        return length;
      },
    },
  });
  const token = sandbox.accounts.create({ email: 'bench@example.com', password: 'a password' }).token('api');
  let reads = 0;
  let refused = 0;
  const limiter = () => redisLimiter(redis.client, { rateLimits: { write: MANY } });
  const newClient = (): AudienceClient =>
    new AudienceClient({
      baseUrl: 'http://localhost',
      token,
      logLevel: 'error',
      rateLimits: { write: MANY },
      limiter: limiter(),
      ...(isShared && { waits: { shared: redisWaits(redis.client, { prefix: 'bench' }) } }),
      async fetch(input, init) {
        const request = new Request(input, init);
        if (request.method === 'GET' && !request.url.includes('/projects')) reads++;
        await sleep(LATENCY_MS / 2);
        const response = await sandbox.fetch(request);
        if (response.status === 429) refused++;
        await sleep(LATENCY_MS / 2);
        return response;
      },
    });
  const clients = Array.from({ length: processes }, newClient);
  const [first] = clients;
  if (!first) throw new Error('There must be a process.');
  const all: Audience[] = await Promise.all(
    Array.from({ length: processes * waits }, () => first.audiences.create({ name: 'Audience' })),
  );
  // The service starts the jobs with the next request.
  await first.projects.list();
  const began = performance.now();
  const commandsBefore = redis.commands;
  let isOver = false;
  const queued: number[] = [];
  async function ownReads(): Promise<void> {
    const pending: Promise<unknown>[] = [];
    while (!isOver) {
      await sleep((-Math.log(1 - random()) * MINUTE) / OWN_READS_PER_MINUTE);
      const client = clients[Math.floor(random() * processes)] as AudienceClient;
      const asked = performance.now();
      const onRequest = (): void => void queued.push(performance.now() - asked);
      pending.push(client.withOptions({ onRequest }).projects.list());
    }
    await Promise.all(pending);
  }
  const reading = ownReads();
  const before = await redis.memory();
  const memory = sleep(2 * MINUTE).then(async () => ((await redis.memory()) - before) / (processes * waits));
  const delays = await Promise.all(
    all.map(async (audience, index) => {
      const end = ends.get(audience.id) ?? 0;
      if (lost !== undefined && random() >= lost) {
        setTimeout(() => {
          const data = { ...audience, status: { id: 104, name: 'Completed' }, updated_at: wireTime() };
          clients[Math.floor(random() * processes)]?.waits.notify({ type: 'audience.completed', data });
        }, end - performance.now());
      }
      await clients[index % processes]?.audiences.wait(audience.id, { timeout: Number.POSITIVE_INFINITY });
      return performance.now() - Math.max(began, end);
    }),
  );
  isOver = true;
  const minutes = (performance.now() - began) / MINUTE;
  const commands = redis.commands - commandsBefore;
  await reading;
  await Promise.all(clients.map((client) => client.close()));
  return {
    delays,
    queued,
    readsPerMinute: reads / minutes,
    refused,
    commands: commands / (minutes * 60),
    memory: await memory,
  };
}

const rows: string[][] = [];
async function run(name: string, options: Options): Promise<void> {
  if (only !== undefined && !name.includes(only)) return;
  const rounds = [];
  for (let seed = 1; seed === 1 || rounds.length * options.processes * options.waits < 100; seed++)
    rounds.push(await time.until(measure(options, seed)));
  const delays = rounds.flatMap((round) => round.delays);
  const queued = rounds.flatMap((round) => round.queued);
  const row = [
    name,
    `${seconds(mean(delays))} / ${seconds(p95(delays))}`,
    mean(rounds.map((round) => round.readsPerMinute)).toFixed(0),
    seconds(p95(queued)),
    String(rounds.reduce((sum, { refused }) => sum + refused, 0)),
    mean(rounds.map((round) => round.commands)).toFixed(1),
    (mean(rounds.map((round) => round.memory)) / 1_024).toFixed(1),
  ];
  rows.push(row);
  console.log(row.join(' · '));
}

for (const [processes, waits] of [
  [4, 10],
  [10, 10],
  [10, 100],
  [10, 250],
  [50, 20],
] as const) {
  const size = `${processes} x ${waits}`;
  await run(`${size}, not shared`, { processes, waits, isShared: false });
  await run(`${size}, one process`, { processes: 1, waits: processes * waits, isShared: false });
  await run(`${size}, shared`, { processes, waits });
}
await run('4 x 25, webhooks, shared', { processes: 4, waits: 25, lost: 0.01 });
await run('4 x 25, webhooks, not shared', { processes: 4, waits: 25, lost: 0.01, isShared: false });

const CREATES = 500;
interface BuildRound {
  readonly built: number;
  readonly refused: number;
  readonly usageReads: number;
  readonly hours: number;
}

/** Creates and awaits audiences by several processes, all at the same time, under a budget of 60 an hour. */
async function build(processes: number, isShared: boolean): Promise<BuildRound> {
  await redis.flush();
  const sandbox = createSandbox({ limits: { buildsPerHour: 60, buildsPerDay: 1_000 }, jobs: { duration: 1_000 } });
  const token = sandbox.accounts.create({ email: 'bench@example.com', password: 'a password' }).token('api');
  const began = performance.now();
  let refused = 0;
  let usageReads = 0;
  const clients = Array.from({ length: processes }, () => {
    return new AudienceClient({
      baseUrl: 'http://localhost',
      token,
      logLevel: 'off',
      limiter: redisLimiter(redis.client),
      maxRetryWait: 24 * 60 * MINUTE,
      ...(isShared && { waits: { shared: redisWaits(redis.client, { prefix: 'bench' }) } }),
      async fetch(input, init) {
        const request = new Request(input, init);
        if (new URL(request.url).pathname.endsWith('/usage')) usageReads++;
        await sleep(LATENCY_MS / 2);
        const response = await sandbox.fetch(request);
        await sleep(LATENCY_MS / 2);
        if (response.status === 429) refused++;
        return response;
      },
    });
  });
  const wait = { timeout: Number.POSITIVE_INFINITY };
  const results = await Promise.allSettled(
    Array.from({ length: CREATES }, (_, at) =>
      clients[at % processes]?.audiences.createAndWait({ name: 'Audience' }, { wait }),
    ),
  );
  const hours = (performance.now() - began) / (60 * MINUTE);
  await Promise.all(clients.map((client) => client.close()));
  return { built: results.filter(({ status }) => status === 'fulfilled').length, refused, usageReads, hours };
}

const budgetRows: string[][] = [];
for (const [name, processes, isShared] of [
  ['one process', 1, false],
  ['six, not shared', 6, false],
  ['six, shared', 6, true],
] as const) {
  if (only !== undefined && !'budget'.includes(only)) continue;
  const { built, refused, usageReads, hours } = await time.until(build(processes, isShared));
  budgetRows.push([name, String(built), String(refused), String(usageReads), hours.toFixed(2)]);
}
time.end();
printTable([`${CREATES} creates, 60 an hour`, 'built', '429s', 'reads of usage', 'hours'], budgetRows);
printTable(
  ['processes x waits', 'late, mean / p95, s', 'polls/min', 'own reads, p95 s', '429s', 'commands/s', 'KiB a wait'],
  rows,
);
redis.close();
await redisServer.stop();
