/**
 * Measures how late the client notices the end of a job, and how many reads it sends, for 1 to 1,000 waits against the
 * sandbox in virtual time. Compares this with one poller per job under the same limiter, and with the theoretical bound.
 *
 *   npm run bench -- waiting
 */
import { type Audience, AudienceClient, RATE_LIMITS } from 'audience-activation';
import { createSandbox } from 'audience-activation/sandbox';
import { randomOf } from '../test/support/seeded.ts';
import { startVirtualTime } from '../test/support/virtual-time.ts';
import { type Strategy, strategies } from './support/strategies.ts';

const MINUTE = 60_000;
/** Durations of jobs: a lognormal distribution. */
const LENGTH = { median: 10 * MINUTE, sigma: 0.5 } as const;
/** Time from a request to its response. */
const LATENCY_MS = 50;
/** Returns how long a job takes; `at` is the number of jobs created before it. */
type Duration = (random: () => number, at: number) => number;

const lognormal: Duration = (random) => LENGTH.median * Math.exp(LENGTH.sigma * normal(random));
const between =
  (from: number, to: number): Duration =>
  (random) =>
    (from + (to - from) * random()) * 1_000;
const short = between(2, 7);

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
  /** Number of rows in the list that are newer than the rows of the jobs. @default 0 */
  readonly newer?: number;
  /** Durations of the jobs. @default lognormal around ten minutes */
  readonly duration?: Duration;
  /** Milliseconds from the creation of the jobs to the start of the waits. @default 0 */
  readonly after?: number;
  /** Minimum number of measurements, each with another seed. @default 1 */
  readonly rounds?: number;
  /** Number of short jobs that are created and awaited two minutes later. @default 0 */
  readonly joining?: number;
}

interface Result {
  /** Milliseconds from the end of a job, or the start of its wait if that is later, to the end of the wait, sorted. */
  readonly delays: readonly number[];
  /** Delays of the jobs that joined, sorted. */
  readonly joined: readonly number[];
  readonly readsPerMinute: number;
  readonly mostInAMinute: number;
  /** Milliseconds that the user's own reads were queued, sorted. */
  readonly queued: readonly number[];
}

const normal = (random: () => number): number =>
  Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());

const wireTime = (): string => new Date().toISOString().slice(0, 19).replace('T', ' ');
const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

function startService(random: () => number, duration: Duration) {
  let created = 0;
  const ends = new Map<number, number>();
  const sandbox = createSandbox({
    limits: { write: MANY, buildsPerHour: MANY.limit, buildsPerDay: MANY.limit },
    jobs: {
      duration({ id }) {
        const length = duration(random, created++);
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

/** Repeats the measurement with other seeds: for the given number of rounds, and for at least a hundred waits. */
async function measure(options: Options): Promise<Result> {
  const rounds: Result[] = [];
  for (let seed = 1; seed <= (options.rounds ?? 1) || rounds.length * options.waits < 100; seed++)
    rounds.push(await measureOnce(options, seed));
  const all = (pick: (result: Result) => readonly number[]): number[] => rounds.flatMap(pick).sort((a, b) => a - b);
  return {
    delays: all(({ delays }) => delays),
    joined: all(({ joined }) => joined),
    queued: all(({ queued }) => queued),
    readsPerMinute: mean(rounds.map(({ readsPerMinute }) => readsPerMinute)),
    mostInAMinute: Math.max(...rounds.map(({ mostInAMinute }) => mostInAMinute)),
  };
}

async function measureOnce(options: Options, seed: number): Promise<Result> {
  const { waits, strategy, lost, own = 0, newer = 0, after = 0, joining = 0, duration = lognormal } = options;
  const random = randomOf(7 * seed);
  const { client, ends, reads } = startService(random, (_, at) => (at < waits ? duration : short)(random, at));
  const create = (count: number, name: string): Promise<Audience[]> =>
    Promise.all(Array.from({ length: count }, () => client.audiences.create({ name })));
  const jobs = await create(waits, 'Audience');
  await create(newer, 'Newer');
  await sleep(after);
  const began = performance.now();
  const wait = async (audience: Audience): Promise<number> => {
    const since = Math.max(performance.now(), ends.get(audience.id) ?? 0);
    if (lost !== undefined && random() >= lost) {
      setTimeout(() => {
        const data = { ...audience, status: { id: 104, name: 'Completed' }, updated_at: wireTime() };
        client.waits.notify({ type: 'audience.completed', data });
      }, since - performance.now());
    }
    await strategy(client, audience.id);
    return Math.max(0, performance.now() - since);
  };
  let isOver = false;
  const reading = ownReads(client, own, randomOf(11 * seed), () => isOver);
  const waiting = Promise.all(jobs.map(wait));
  if (joining > 0) await sleep(2 * MINUTE);
  const joined = await Promise.all((await create(joining, 'Short')).map(wait));
  const delays = [...(await waiting), ...joined].sort((a, b) => a - b);
  isOver = true;
  const minutes = (performance.now() - began) / MINUTE;
  const queued = (await reading).toSorted((a, b) => a - b);
  await client.close();
  const inMinuteFrom = (start: number): number => reads.filter((at) => at >= start && at < start + MINUTE).length;
  const mostInAMinute = Math.max(...reads.map(inMinuteFrom));
  return { delays, joined, readsPerMinute: reads.length / Math.max(1, minutes), mostInAMinute, queued };
}

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
const p95 = (values: readonly number[]): number => values[Math.ceil(values.length * 0.95) - 1] ?? 0;
const seconds = (ms: number): string => (ms / 1000).toFixed(1).padStart(7);

const time = startVirtualTime();
// Makes the jitter of waits the same in every run.
Math.random = randomOf(3);
console.log(
  'waits  how                         mean s   p95 s   last s   reads/min   most in a minute   own reads queued, at most, s',
);
function show(
  waits: number,
  how: string,
  { delays, joined = [], queued = [], readsPerMinute, mostInAMinute }: Row,
): void {
  const times = [mean(delays), p95(delays), delays.at(-1) ?? 0].map(seconds).join(' ');
  const reads = `${readsPerMinute.toFixed(1).padStart(9)} ${String(mostInAMinute).padStart(18)}`;
  const own = queued.length > 0 ? `   ${seconds(queued.at(-1) ?? 0)}` : '';
  const note = joined.length > 0 ? `   the short ones: mean ${seconds(mean(joined)).trim()} s` : '';
  console.log(`${String(waits).padStart(5)}  ${how.padEnd(24)} ${times} ${reads}${own}${note}`);
}
type Row = Pick<Result, 'delays' | 'readsPerMinute' | 'mostInAMinute'> & Partial<Result>;
const only = process.argv[2];
const run = async (waits: number, how: string, options: Partial<Options> = {}): Promise<void> => {
  if (only !== undefined && !how.includes(only)) return;
  show(waits, how, await time.until(measure({ waits, strategy: strategies.wait, ...options })));
};
for (const waits of [1, 10, 100, 1_000]) {
  for (const [name, strategy] of Object.entries(strategies)) await run(waits, name, { strategy });
  await run(waits, 'wait, 1 % events lost', { lost: 0.01 });
  // The bound: each page is read once per period at half of the bucket, and jobs end at random within a period.
  const period = (Math.ceil(waits / 100) / HALF) * MINUTE;
  const even = Array.from({ length: 1_000 }, (_, at) => (period * (at + 0.5)) / 1_000);
  if (only === undefined)
    show(waits, 'bound at half the bucket', { delays: even, readsPerMinute: HALF, mostInAMinute: HALF });
}
await run(10, 'wait, 1,500 newer rows', { newer: 1_500 });
const durations = {
  'jobs of 2 to 7 s': short,
  'jobs of 20 to 60 s': between(20, 60),
  'jobs of 60 s': between(60, 62),
  'jobs of 10 min': lognormal,
};
for (const waits of [1, 10, 60, 1_000]) {
  for (const [name, duration] of Object.entries(durations)) await run(waits, name, { duration, own: 30 });
}
await run(1_000, 'all ended before', { duration: short, after: MINUTE });
await run(1_000, '10 short ones join 990', { waits: 990, joining: 10 });
if (only === undefined) {
  const { queued } = await time.until(measure({ waits: 1_000, strategy: strategies.wait, own: 30 }));
  console.log(`\n${queued.length} reads of the user's own, 30 a minute, during 1,000 waits:`);
  console.log(`queued ${seconds(mean(queued)).trim()} s on average, p95 ${seconds(p95(queued)).trim()} s`);
}
time.end();
