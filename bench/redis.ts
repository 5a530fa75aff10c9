/**
 * Cost of sharing limits through Redis: operations of Redis for each call, and how much longer a call takes, by
 * 1, 4 and 16 processes with clients of both packages, beside the limiter of one process.
 *
 *   npm run bench:redis
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { createClient } from 'redis';
import { startRedis } from '../examples/support/redis.ts';
import type { Settings, Task } from './support/limited-process.ts';
import { printTable, printTitle } from './support/report.ts';
import { median, medianRatio } from './support/rounds.ts';

const FLEETS = [1, 4, 16];
const KINDS = ['redis', 'ioredis'] as const;
/** Reads by each limiter in all, one after the other in each process. */
const PACED = 960;
/** Milliseconds between two of a process: however many there are, the machine has as much to do. */
const gapOf = (size: number): number => Math.max(6, 2.5 * size);
/** Never reached; and reached by far. */
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

/** Scripts that a server has run. */
async function operations(kind: (typeof KINDS)[number]): Promise<number> {
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

async function ask(child: ChildProcess, task: Task) {
  const answered = once(child, 'message');
  child.send(task);
  return (await answered)[0];
}

async function end(children: readonly ChildProcess[]): Promise<void> {
  const ended = children.map((child) => once(child, 'exit'));
  for (const child of children) child.disconnect();
  await Promise.all(ended);
}

async function unsaturated(size: number): Promise<string[][]> {
  const children = await startFleet(size, LIMITS.unsaturated);
  const each = (rounds: number) => Promise.all(children.map((child) => ask(child, { rounds, gap: gapOf(size) })));
  await each(10);
  const before = { redis: await operations('redis'), ioredis: await operations('ioredis') };
  const times: Readonly<Record<string, readonly number[]>>[] = await each(PACED / size);
  await end(children);
  const timesOf = (name: string): number[] => times.flatMap((one) => one[name] ?? []);
  const own = timesOf('own');
  const rows = [[`${size}, own limiter`, '', median(own).toFixed(2), '', '1.00']];
  for (const kind of KINDS) {
    const shared = timesOf(kind);
    const added = median(shared.map((ms, at) => ms - (own[at] ?? 0)));
    const perCall = ((await operations(kind)) - before[kind]) / shared.length;
    const ratio = medianRatio(shared, own).toFixed(2);
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
      // A new fleet for each round: earlier calls no longer count.
      const children = await startFleet(size, LIMITS.saturated);
      const [kind] = KINDS.filter((one) => one === name);
      if (kind) await inspectors[kind].flushAll();
      // What is loaded with the first call is there before.
      await Promise.all(children.map((child) => ask(child, { rush: 'unlimited', calls: 1 })));
      const before = kind ? await operations(kind) : 0;
      const began = performance.now();
      await Promise.all(children.map((child) => ask(child, { rush: name, calls: calls / size })));
      rate.push(((WINDOWS - 1) * interval) / (performance.now() - began));
      if (kind) perCall.push(((await operations(kind)) - before) / calls);
      await end(children);
    }
  }
  return [...results].map(([name, { perCall, rate }]) => {
    const operationsPerCall = perCall.length > 0 ? median(perCall).toFixed(2) : '';
    return [
      `${size}, ${name === 'own' ? 'own limiter' : name}`,
      operationsPerCall,
      `${(median(rate) * 100).toFixed(0)} %`,
    ];
  });
}

printTitle('Limits shared through Redis', ['redis', 'ioredis']);
const version = /redis_version:(\S+)/.exec(await inspectors.redis.info('server'))?.[1];
console.log(`Redis ${version} on loopback\n`);
const quiet: string[][] = [];
for (const size of FLEETS) quiet.push(...(await unsaturated(size)));
printTable(['Processes, client', 'Operations a call', 'ms a call', 'added ms', 'ratio'], quiet);
const busy: string[][] = [];
for (const size of FLEETS) busy.push(...(await saturated(size)));
printTable(['Processes, client', 'Operations a call', 'of the limit'], busy);
for (const inspector of Object.values(inspectors)) inspector.destroy();
await Promise.all(Object.values(servers).map((server) => server.stop()));
service.kill();
