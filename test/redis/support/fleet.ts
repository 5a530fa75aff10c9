import { type ChildProcess, fork } from 'node:child_process';
import { on, once } from 'node:events';
import { onTestFinished } from 'vitest';
import type { RateLimit } from '../../../src/spec/limits.ts';
import type { ClientKind } from '../../support/redis-clients.ts';

/** Settings of a process of a fleet. */
export interface FleetSettings {
  readonly baseUrl: string;
  readonly read: RateLimit;
  /** The shared log in Redis. Without it, the process counts alone. */
  readonly shared?: {
    readonly kind: ClientKind;
    readonly url: string;
    readonly margin: number;
    readonly processes: number;
    readonly prefix: string;
  };
}

/** Results of the calls of one process. */
export interface FleetReport {
  readonly failed: readonly string[];
  /** Warnings of the process's limiter. */
  readonly warnings: readonly string[];
}

/** Processes that call one service. */
export interface Fleet {
  /** Makes `count` concurrent calls in the process with index `at`; resolves when all of them have settled. */
  calls(at: number, count: number): Promise<FleetReport>;
  /** Sends a signal, such as SIGKILL, to the process with index `at`. */
  signal(at: number, signal: NodeJS.Signals): void;
}

/** Starts processes of `fleet-process.ts`, which end with the test; resolves when all are ready. */
export async function startFleet(each: readonly FleetSettings[]): Promise<Fleet> {
  const program = new URL('./fleet-process.ts', import.meta.url);
  const children = each.map((settings) => fork(program, [JSON.stringify(settings)]));
  onTestFinished(() => {
    for (const child of children) child.kill('SIGKILL');
  });
  await Promise.all(children.map(ready));
  let next = 0;
  const childAt = (at: number): ChildProcess => {
    const child = children[at];
    if (!child) throw new Error(`There is no process ${at}.`);
    return child;
  };
  return {
    async calls(at, count) {
      const child = childAt(at);
      const id = next++;
      child.send({ id, count });
      for await (const [{ done, report }] of on(child, 'message', { close: ['exit'] })) {
        if (done === id) return report;
      }
      throw new Error(`Process ${at} ended before its calls did.`);
    },
    signal: (at, signal) => void childAt(at).kill(signal),
  };
}

async function ready(child: ChildProcess): Promise<void> {
  const [message] = await Promise.race([once(child, 'message'), once(child, 'exit')]);
  if (message !== 'ready') throw new Error(`A process of the fleet ended with ${message} before it was ready.`);
}

/** Divides an integer into parts that differ by at most 1. */
export const shares = (total: number, parts: number): number[] =>
  Array.from({ length: parts }, (_, at) => Math.floor((total + at) / parts));
