/**
 * Measures how late the end of a job is noticed, and with how many reads: 1 to 1,000 waits against the sandbox in
 * virtual time, compared with one poller per job under the same limiter, and with the theoretical bound.
 *
 *   npm run bench:waiting
 */
import { AudienceClient, RATE_LIMITS } from 'audience-activation';
import { createSandbox } from 'audience-activation/sandbox';
import { randomOf } from '../test/support/seeded.ts';
import { startVirtualTime } from '../test/support/virtual-time.ts';
import { type Strategy, strategies } from './support/strategies.ts';

const MINUTE = 60_000;
/** Durations of jobs: a lognormal distribution. */
const LENGTH = { median: 10 * MINUTE, sigma: 0.5 } as const;
/** Time from a request to its response. */
const LATENCY_MS = 50;
/** A limit that lets all jobs start at the same time. */
const MANY = { limit: 1_000_000, interval: MINUTE } as const;
const HALF = RATE_LIMITS.read.limit / 2;

interface Options {
  readonly waits: number;
  readonly strategy: Strategy;
  /** Share of webhook events that are lost. @default no events are sent */
  readonly lost?: number;
  /** Number of the user's own reads per minute. @default 0 */
  readonly own?: number;
  /** Number of rows in the list that are newer than those of the jobs. @default 0 */
  readonly newer?: number;
}

interface Result {
  /** Milliseconds from a job's end to its wait's end, sorted. */
  readonly delays: readonly number[];
  readonly readsPerMinute: number;
  readonly mostInAMinute: number;
  /** Milliseconds that the user's own reads were queued, sorted. */
  readonly queued: readonly number[];
}

const normal = (random: () => number): number =>
  Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());

const wireTime = (): string => new Date().toISOString().slice(0, 19).replace('T', ' ');
const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

function startService(random: () => number) {
  const ends = new Map<number, number>();
  const sandbox = createSandbox({
    limits: { write: MANY, buildsPerHour: MANY.limit, buildsPerDay: MANY.limit },
    jobs: {
      duration({ id }) {
        const length = LENGTH.median * Math.exp(LENGTH.sigma * normal(random));
        ends.set(id, performance.now() + length);
        return length;
      },
    },
  });
  const account = sandbox.accounts.create({ email: 'bench@example.com', password: 'a password of the sandbox' });
  const reads: number[] = [];
  const client = new AudienceClient({
    baseUrl: 'http://localhost',
    token: account.token('api'),
    rateLimits: { write: MANY },
    async fetch(input, init) {
      const request = new Request(input, init);
      if (request.method === 'GET' && !request.url.includes('/projects')) reads.push(performance.now());
      await sleep(LATENCY_MS / 2);
      const response = await sandbox.fetch(request);
      await sleep(LATENCY_MS / 2);
      return response;
    },
  });
  return { client, ends, reads };
}

/** Sends the user's own reads at random moments; returns the milliseconds that each was queued. */
async function ownReads(client: AudienceClient, perMinute: number, random: () => number, isOver: () => boolean) {
  const queued: number[] = [];
  const pending: Promise<unknown>[] = [];
  while (perMinute > 0 && !isOver()) {
    await sleep((-Math.log(1 - random()) * MINUTE) / perMinute);
    const asked = performance.now();
    const onRequest = (): void => void queued.push(performance.now() - asked);
    pending.push(client.withOptions({ onRequest }).projects.list());
  }
  await Promise.all(pending);
  return queued;
}

/** Repeats the measurement with other seeds until at least a hundred waits have ended. */
async function measure(options: Options): Promise<Result> {
  const rounds: Result[] = [];
  for (let seed = 1; seed === 1 || rounds.length * options.waits < 100; seed++)
    rounds.push(await measureOnce(options, seed));
  const all = (pick: (result: Result) => readonly number[]): number[] => rounds.flatMap(pick).sort((a, b) => a - b);
  return {
    delays: all(({ delays }) => delays),
    queued: all(({ queued }) => queued),
    readsPerMinute: mean(rounds.map(({ readsPerMinute }) => readsPerMinute)),
    mostInAMinute: Math.max(...rounds.map(({ mostInAMinute }) => mostInAMinute)),
  };
}

async function measureOnce({ waits, strategy, lost, own = 0, newer = 0 }: Options, seed: number): Promise<Result> {
  const random = randomOf(7 * seed);
  const { client, ends, reads } = startService(random);
  const jobs = [];
  for (let at = 0; at < waits; at++) jobs.push(await client.audiences.create({ name: `Audience ${at}` }));
  await Promise.all(Array.from({ length: newer }, () => client.audiences.create({ name: 'Newer' })));
  const began = performance.now();
  const delays: number[] = [];
  const watched = jobs.map(async (audience) => {
    const end = ends.get(audience.id) ?? 0;
    if (lost !== undefined && random() >= lost) {
      setTimeout(() => {
        const data = { ...audience, status: { id: 104, name: 'Completed' }, updated_at: wireTime() };
        client.waits.notify({ type: 'audience.completed', data });
      }, end - performance.now());
    }
    await strategy(client, audience.id);
    delays.push(Math.max(0, performance.now() - end));
  });
  const reading = ownReads(client, own, randomOf(11 * seed), () => delays.length === waits);
  await Promise.all(watched);
  const minutes = (performance.now() - began) / MINUTE;
  const queued = (await reading).toSorted((a, b) => a - b);
  await client.close();
  const inMinuteFrom = (start: number): number => reads.filter((at) => at >= start && at < start + MINUTE).length;
  const mostInAMinute = Math.max(...reads.map(inMinuteFrom));
  delays.sort((a, b) => a - b);
  return { delays, readsPerMinute: reads.length / minutes, mostInAMinute, queued };
}

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
const p95 = (values: readonly number[]): number => values[Math.ceil(values.length * 0.95) - 1] ?? 0;
const seconds = (ms: number): string => (ms / 1000).toFixed(1).padStart(7);

const time = startVirtualTime();
// Makes the jitter of waits the same in every run.
Math.random = randomOf(3);
console.log('waits  how                         mean s   p95 s   reads/min   most in a minute');
function show(waits: number, how: string, result: Pick<Result, 'delays' | 'readsPerMinute' | 'mostInAMinute'>): void {
  const { delays, readsPerMinute, mostInAMinute } = result;
  const reads = `${readsPerMinute.toFixed(1).padStart(9)} ${String(mostInAMinute).padStart(18)}`;
  console.log(
    `${String(waits).padStart(5)}  ${how.padEnd(24)} ${seconds(mean(delays))} ${seconds(p95(delays))} ${reads}`,
  );
}
for (const waits of [1, 10, 100, 1_000]) {
  for (const [name, strategy] of Object.entries(strategies)) {
    show(waits, name, await time.until(measure({ waits, strategy })));
  }
  show(waits, 'wait, 1 % events lost', await time.until(measure({ waits, strategy: strategies.wait, lost: 0.01 })));
  // At half of the bucket, each page is read once in `period`, and jobs end at any time within it.
  const period = (Math.ceil(waits / 100) / HALF) * MINUTE;
  const even = Array.from({ length: 1_000 }, (_, at) => (period * (at + 0.5)) / 1_000);
  show(waits, 'bound at half the bucket', { delays: even, readsPerMinute: HALF, mostInAMinute: HALF });
}
const old = { waits: 10, strategy: strategies.wait, newer: 1_500 };
show(10, 'wait, 1,500 newer rows', await time.until(measure(old)));
const { queued } = await time.until(measure({ waits: 1_000, strategy: strategies.wait, own: 30 }));
console.log(`\n${queued.length} reads of the user's own, 30 a minute, during 1,000 waits:`);
console.log(`queued ${seconds(mean(queued)).trim()} s on average, p95 ${seconds(p95(queued)).trim()} s`);
time.end();
