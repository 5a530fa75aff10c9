/**
 * Measures how late processes that share a token and its limits through Redis notice the ends of jobs, and how long the
 * user's own reads are queued beside the polls. The clients run in one process, in virtual time, with a real Redis
 * server and the sandbox as the service.
 *
 *   npm run bench -- fleet
 */
import { type Audience, AudienceClient } from 'audience-activation';
import { redisLimiter } from 'audience-activation/redis';
import { createSandbox } from 'audience-activation/sandbox';
import { startRedis } from '../examples/support/redis.ts';
import { randomOf } from '../test/support/seeded.ts';
import { connectVirtualRedis } from '../test/support/virtual-redis.ts';
import { startVirtualTime } from '../test/support/virtual-time.ts';
import { printTable } from './support/report.ts';

const MINUTE = 60_000;
/** Durations of jobs: a lognormal distribution. */
const LENGTH = { median: 10 * MINUTE, sigma: 0.5 } as const;
const LATENCY_MS = 50;
/** Maximum latency of Redis, in each direction. */
const REDIS_LATENCY_MS = 2;
const OWN_READS_PER_MINUTE = 30;
/** A limit that lets all jobs start at the same time. */
const MANY = { limit: 1_000_000, interval: MINUTE } as const;

interface Options {
  readonly processes: number;
  /** Number of jobs for which each process waits. */
  readonly waits: number;
  /** Share of webhook events that are lost; the others reach the process that waits. @default no events are sent */
  readonly lost?: number;
}

const redisServer = await startRedis();
const redis = await connectVirtualRedis(redisServer.url);
// The script is hashed at its first use, on another thread, which virtual time does not wait for.
await redisLimiter(redis.connect()).acquire('read', { scope: 'hash', priority: 'foreground' });
const time = startVirtualTime(() => redis.isBusy);
const only = process.argv[2];

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const wireTime = (): string => new Date().toISOString().slice(0, 19).replace('T', ' ');
const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
const p95 = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.ceil(values.length * 0.95) - 1] ?? 0;
const seconds = (ms: number): string => (ms / 1_000).toFixed(1);

async function measure({ processes, waits, lost }: Options, seed: number) {
  await redis.inspect((server) => server.flushall());
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
  let polls = 0;
  let refused = 0;
  const onItsWay = () => sleep(random() * REDIS_LATENCY_MS);
  const newClient = (): AudienceClient =>
    new AudienceClient({
      baseUrl: 'http://localhost',
      token,
      logLevel: 'error',
      rateLimits: { write: MANY },
      limiter: redisLimiter(redis.connect({ request: onItsWay, reply: onItsWay }), { rateLimits: { write: MANY } }),
      async fetch(input, init) {
        const request = new Request(input, init);
        if (request.method === 'GET' && !request.url.includes('/projects')) polls++;
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
  const delays = await Promise.all(
    all.map(async (audience, index) => {
      const end = ends.get(audience.id) ?? 0;
      const client = clients[index % processes] as AudienceClient;
      if (lost !== undefined && random() >= lost) {
        setTimeout(() => {
          const data = { ...audience, status: { id: 104, name: 'Completed' }, updated_at: wireTime() };
          client.waits.notify({ type: 'audience.completed', data });
        }, end - performance.now());
      }
      await client.audiences.wait(audience.id, { timeout: Number.POSITIVE_INFINITY });
      return performance.now() - Math.max(began, end);
    }),
  );
  isOver = true;
  const minutes = (performance.now() - began) / MINUTE;
  const commands = redis.commands - commandsBefore;
  await reading;
  await Promise.all(clients.map((client) => client.close()));
  return { delays, queued, polls: polls / minutes, refused, commands: commands / (minutes * 60) };
}

const rows: string[][] = [];
async function run(name: string, options: Options): Promise<void> {
  if (only !== undefined && !name.includes(only)) return;
  const rounds = [];
  for (let seed = 1; seed === 1 || rounds.length * options.processes * options.waits < 300; seed++)
    rounds.push(await time.until(measure(options, seed)));
  const delays = rounds.flatMap((round) => round.delays);
  const queued = rounds.flatMap((round) => round.queued);
  const row = [
    name,
    `${seconds(mean(delays))} / ${seconds(p95(delays))} / ${seconds(Math.max(...delays))}`,
    mean(rounds.map((round) => round.polls)).toFixed(0),
    `${seconds(p95(queued))} / ${seconds(Math.max(...queued))}`,
    String(rounds.reduce((sum, { refused }) => sum + refused, 0)),
    mean(rounds.map((round) => round.commands)).toFixed(1),
  ];
  rows.push(row);
  console.log(row.join(' · '));
}

for (const [processes, waits] of [
  [1, 10],
  [4, 10],
  [10, 10],
  [10, 100],
  [50, 20],
] as const) {
  await run(`${processes} x ${waits}`, { processes, waits });
}
await run('4 x 25, webhooks', { processes: 4, waits: 25, lost: 0.01 });
time.end();
printTable(
  [
    'processes x waits',
    'late: mean / p95 / max, s',
    'polls/min',
    'own reads queued: p95 / max, s',
    '429s',
    'commands/s',
  ],
  rows,
);
redis.close();
await redisServer.stop();
