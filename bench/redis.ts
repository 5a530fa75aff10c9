/**
 * Measures the cost of limits that are shared through Redis: commands per call, added latency, and the used part of a
 * saturated limit. Runs 1, 4 and 16 processes with both Redis clients, compared with the limiter of one process.
 *
 *   npm run bench:redis
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { createClient } from 'redis';
import { startRedis } from '../examples/support/redis.ts';
import type { Settings, Task } from './support/limited-process.ts';
import { printTable, printTitle } from './support/report.ts';
import { median, ratioWithRange } from './support/rounds.ts';

const FLEETS = [1, 4, 16];
const KINDS = ['redis', 'ioredis'] as const;
/** Number of reads with each limiter in an unsaturated run, divided among the processes, which read sequentially. */
const PACED = 960;
/**
 * Returns the milliseconds between two reads of a process: with more processes, each reads less often, to bound the
 * load.
 */
const gapOf = (size: number): number => Math.max(6, 2.5 * size);
/** A limit that is never reached, and one that is exceeded by far. */
const LIMITS = {
  unsaturated: { limit: 100_000, interval: 1_000 },
  saturated: { limit: 240, interval: 3_000 },
} as const;
const MARGIN = 250;
const WINDOWS = 3;
const ROUNDS = 2;

const service = fork(new URL('./support/echo-server.ts', import.meta.url));
const [baseUrl] = await once(service, 'message');
const servers = { redis: await startRedis(), ioredis: await startRedis() };
const urls = { redis: servers.redis.url, ioredis: servers.ioredis.url };
const inspectors = {
  redis: await createClient({ url: urls.redis }).connect(),
  ioredis: await createClient({ url: urls.ioredis }).connect(),
};

/** Returns the number of scripts that a server has run. */
async function scriptRuns(kind: (typeof KINDS)[number]): Promise<number> {
  const stats = await inspectors[kind].info('commandstats');
  return [...stats.matchAll(/cmdstat_eval(?:sha)?:calls=(\d+)/g)].reduce((sum, [, calls]) => sum + Number(calls), 0);
}

async function startFleet(size: number, read: Settings['read']): Promise<ChildProcess[]> {
  const settings: Settings = { baseUrl, read, margin: MARGIN, urls };
  const program = new URL('./support/limited-process.ts', import.meta.url);
  const children = Array.from({ length: size }, () => fork(program, [JSON.stringify(settings)]));
  await Promise.all(children.map((child) => once(child, 'message')));
  return children;
}

async function run(child: ChildProcess, task: Task) {
  const reply = once(child, 'message');
  child.send(task);
  return (await reply)[0];
}

async function stop(children: readonly ChildProcess[]): Promise<void> {
  const exits = children.map((child) => once(child, 'exit'));
  for (const child of children) child.disconnect();
  await Promise.all(exits);
}

async function unsaturated(size: number): Promise<string[][]> {
  const children = await startFleet(size, LIMITS.unsaturated);
  const each = (rounds: number) => Promise.all(children.map((child) => run(child, { rounds, gap: gapOf(size) })));
  await each(10);
  const before = { redis: await scriptRuns('redis'), ioredis: await scriptRuns('ioredis') };
  const times: Readonly<Record<string, readonly number[]>>[] = await each(PACED / size);
  await stop(children);
  const timesOf = (name: string): number[] => times.flatMap((each) => each[name] ?? []);
  const unshared = timesOf('own');
  const rows = [[`${size}, own limiter`, '', median(unshared).toFixed(2), '', '1.00']];
  for (const kind of KINDS) {
    const shared = timesOf(kind);
    const added = median(shared.map((ms, at) => ms - (unshared[at] ?? 0)));
    const perCall = ((await scriptRuns(kind)) - before[kind]) / shared.length;
    const ratio = ratioWithRange(shared, unshared);
    rows.push([`${size}, ${kind}`, perCall.toFixed(2), median(shared).toFixed(2), added.toFixed(2), ratio]);
  }
  return rows;
}

async function saturated(size: number): Promise<string[][]> {
  const { limit, interval } = LIMITS.saturated;
  const names = size === 1 ? ['own', ...KINDS] : KINDS;
  const results = new Map(names.map((name) => [name, { perCall: [] as number[], rate: [] as number[] }]));
  const calls = WINDOWS * limit;
  for (let round = 0; round < ROUNDS; round++) {
    for (const [name, { perCall, rate }] of results) {
      // Start new processes with an empty log, so that earlier calls do not count.
      const children = await startFleet(size, LIMITS.saturated);
      const kind = KINDS.find((client) => client === name);
      if (kind) await inspectors[kind].flushAll();
      // Load everything that a first call loads, before the measurement.
      await Promise.all(children.map((child) => run(child, { rush: 'unlimited', calls: 1 })));
      const before = kind ? await scriptRuns(kind) : 0;
      const startedAt = performance.now();
      await Promise.all(children.map((child) => run(child, { rush: name, calls: calls / size })));
      rate.push(((WINDOWS - 1) * interval) / (performance.now() - startedAt));
      if (kind) perCall.push(((await scriptRuns(kind)) - before) / calls);
      await stop(children);
    }
  }
  return [...results].map(([name, { perCall, rate }]) => {
    const commandsPerCall = perCall.length > 0 ? median(perCall).toFixed(2) : '';
    return [
      `${size}, ${name === 'own' ? 'own limiter' : name}`,
      commandsPerCall,
      `${(median(rate) * 100).toFixed(0)} %`,
    ];
  });
}

printTitle('Limits shared through Redis', ['redis', 'ioredis']);
const version = /redis_version:(\S+)/.exec(await inspectors.redis.info('server'))?.[1];
console.log(`Redis ${version} on loopback\n`);
const quiet: string[][] = [];
for (const size of FLEETS) quiet.push(...(await unsaturated(size)));
printTable(['Processes, client', 'Commands a call', 'ms a call', 'added ms', 'ratio'], quiet);
const busy: string[][] = [];
for (const size of FLEETS) busy.push(...(await saturated(size)));
printTable(['Processes, client', 'Commands a call', 'of the limit'], busy);
for (const inspector of Object.values(inspectors)) inspector.destroy();
await Promise.all(Object.values(servers).map((server) => server.stop()));
service.kill();
