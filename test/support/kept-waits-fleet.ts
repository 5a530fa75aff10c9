import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import type { RateLimit } from '../../src/spec/limits.ts';
import { temporaryDirectory } from './directory.ts';
import { type ClientKind, KINDS } from './redis-clients.ts';
import { wireAudience } from './wire-audience.ts';

/** The task of one process of `kept-waits-process.ts`. */
export interface KeptWaitsTask {
  readonly kind: ClientKind;
  readonly redisUrl: string;
  readonly prefix: string;
  readonly baseUrl: string;
  readonly read: RateLimit;
}

/** Processes that handle the outcomes of kept waits, for the jobs of a service that end one after the other. */
export interface KeptFleet {
  readonly baseUrl: string;
  readonly read: RateLimit;
  /** Kills the process at an index, and starts another one in its place. */
  replace(index: number): Promise<void>;
  /** Lets the jobs end from now on, over so many milliseconds. */
  begin(ms: number): void;
}

/** A generous limit, so that the number of waits is what takes time. */
const READ = { limit: 2_400, interval: 60_000 } as const;

/** Starts `count` processes, half of them with each Redis client, and a service with so many jobs. */
export async function startKeptFleet(redisUrl: string, count: number, jobs: number): Promise<KeptFleet> {
  let endOf = (_: number): number => Number.POSITIVE_INFINITY;
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://localhost');
    const show = (id: number) => {
      return wireAudience(id, Date.now() < endOf(id) ? { id: 102, name: 'A' } : { id: 104, name: 'B' });
    };
    const id = Number(/\/(\d+)$/.exec(pathname)?.[1] ?? 0);
    const first = jobs - (Number(searchParams.get('page') ?? 1) - 1) * 100;
    const rows = () => Array.from({ length: Math.max(0, Math.min(100, first)) }, (_, at) => show(first - at));
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ status: 'success', code: 200, message: '', data: id > 0 ? show(id) : rows() }));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  const env = { ...process.env, NODE_COMPILE_CACHE: await temporaryDirectory() };
  async function startProcess(index: number): Promise<ChildProcess> {
    const kind = KINDS[index % KINDS.length] ?? 'redis';
    const task: KeptWaitsTask = { kind, redisUrl, prefix: 'kept', baseUrl, read: READ };
    const child = fork(new URL('./kept-waits-process.ts', import.meta.url), [JSON.stringify(task)], { env });
    onTestFinished(() => void child.kill('SIGKILL'));
    await once(child, 'message');
    return child;
  }
  const processes = await Promise.all(Array.from({ length: count }, (_, index) => startProcess(index)));
  return {
    baseUrl,
    read: READ,
    async replace(index) {
      processes[index]?.kill('SIGKILL');
      processes[index] = await startProcess(index);
    },
    begin(ms) {
      const startedAt = Date.now();
      endOf = (id) => startedAt + (id / jobs) * ms;
    },
  };
}
