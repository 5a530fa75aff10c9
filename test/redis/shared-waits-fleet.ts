import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import type { RateLimit } from '../../src/spec/limits.ts';
import { temporaryDirectory } from '../support/directory.ts';
import { type ClientKind, KINDS } from '../support/redis-clients.ts';
import { wireAudience } from '../support/wire-audience.ts';

/** The task of one process of `shared-waits-process.ts`. */
export interface SharedWaitsTask {
  readonly kind: ClientKind;
  readonly redisUrl: string;
  readonly prefix: string;
  readonly baseUrl: string;
  readonly read: RateLimit;
  readonly name: string;
  readonly ids: readonly number[];
}

/** The end of a wait, as its process reports it. */
interface WaitEnd {
  readonly id: number;
  readonly status: number | string;
  readonly at: number;
}

/** Processes that share their waits for the jobs of a service, which end one after the other. */
export interface WaitingFleet {
  readonly processes: readonly ChildProcess[];
  readonly ends: readonly WaitEnd[];
  /** Number of reads that the service has refused with 429. */
  readonly refused: number;
  /** When each job ends, by its id. */
  endOf(id: number): number;
  /** Returns the index of the process that has sent the last read. */
  leader(): number;
  /** Resolves with the ends of the waits of all processes but those given. */
  ended(except?: readonly number[]): Promise<readonly WaitEnd[]>;
}

const PROCESSES = 6;
const WAITS = 10;
/** The limit of the service. Waits use half of it. */
const READ = { limit: 60, interval: 5_000 } as const;
/** Jobs end from the first to the last of these times after the start. Milliseconds. */
const ENDS = { first: 1_500, last: 13_000 } as const;

/** Starts the processes, half of them with each Redis client, and their waits. */
export async function startWaitingFleet(redisUrl: string): Promise<WaitingFleet> {
  let startedAt = Number.POSITIVE_INFINITY;
  const count = PROCESSES * WAITS;
  const endOf = (id: number): number => startedAt + ENDS.first + (id / count) * (ENDS.last - ENDS.first);
  const reads: { readonly by: number; readonly at: number }[] = [];
  let refused = 0;
  const server = createServer((request, response) => {
    const now = Date.now();
    const send = (code: number, data: unknown): void => {
      const body = { status: code < 400 ? 'success' : 'error', code, message: '', data };
      response.writeHead(code, { 'content-type': 'application/json', ...(code === 429 && { 'retry-after': '1' }) });
      response.end(JSON.stringify(body));
    };
    if (reads.filter(({ at }) => now - at < READ.interval).length >= READ.limit) {
      refused++;
      send(429, []);
      return;
    }
    reads.push({ by: Number(request.headers['x-process']), at: now });
    const show = (id: number) => wireAudience(id, now < endOf(id) ? { id: 102, name: 'A' } : { id: 104, name: 'B' });
    const id = Number(/\/(\d+)$/.exec(request.url ?? '')?.[1] ?? 0);
    send(200, id > 0 ? show(id) : Array.from({ length: count }, (_, at) => show(count - at)));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;

  const env = { ...process.env, NODE_COMPILE_CACHE: await temporaryDirectory() };
  const ends: WaitEnd[] = [];
  const wake = new EventTarget();
  async function startProcess(index: number): Promise<ChildProcess> {
    const ids = Array.from({ length: WAITS }, (_, at) => 1 + index + at * PROCESSES);
    const kind = KINDS[index % KINDS.length] ?? 'redis';
    const baseUrl = `http://127.0.0.1:${port}`;
    const task: SharedWaitsTask = { kind, redisUrl, prefix: 'fleet', baseUrl, read: READ, name: String(index), ids };
    const child = fork(new URL('./shared-waits-process.ts', import.meta.url), [JSON.stringify(task)], { env });
    onTestFinished(() => void child.kill('SIGKILL'));
    await once(child, 'message');
    child.on('message', (end: WaitEnd) => {
      ends.push(end);
      wake.dispatchEvent(new Event('end'));
    });
    return child;
  }
  const processes = await Promise.all(Array.from({ length: PROCESSES }, (_, index) => startProcess(index)));
  startedAt = Date.now();
  for (const child of processes) child.send('start');
  return {
    processes,
    ends,
    endOf,
    get refused() {
      return refused;
    },
    leader: () => reads.at(-1)?.by ?? -1,
    async ended(except = []) {
      const expected = Array.from({ length: count }, (_, at) => at + 1).filter(
        (id) => !except.includes((id - 1) % PROCESSES),
      );
      while (!expected.every((id) => ends.some((end) => end.id === id))) await once(wake, 'end');
      return ends.filter(({ id }) => expected.includes(id));
    },
  };
}
