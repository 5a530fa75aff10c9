import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { onTestFinished } from 'vitest';
import { temporaryDirectory } from '../support/directory.ts';
import type { ClientKind } from '../support/redis-clients.ts';

/** Argument of `redis-process.ts`. */
export interface RedisProcessOptions {
  readonly kind: ClientKind;
  readonly redisUrl: string;
  readonly key: string;
  readonly lease?: number;
  /** URL of the sandbox. */
  readonly baseUrl?: string;
  readonly credentials?: { readonly email: string; readonly password: string };
  /** How long the action `hold` keeps the lock, in milliseconds. */
  readonly hold?: number;
}

/** Starts `redis-process.ts`; resolves when it waits for messages. */
export async function startOnRedis(options: RedisProcessOptions, env: NodeJS.ProcessEnv = {}): Promise<ChildProcess> {
  const program = new URL('./redis-process.ts', import.meta.url);
  const child = fork(program, [JSON.stringify(options)], { env: { ...process.env, ...env } });
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child, 'message');
  return child;
}

/** Starts `count` processes of `redis-process.ts`. The first one fills the compile cache for the others. */
export async function startManyOnRedis(count: number, options: RedisProcessOptions): Promise<ChildProcess[]> {
  const env = { NODE_COMPILE_CACHE: await temporaryDirectory() };
  const first = await startOnRedis(options, env);
  const others = Array.from({ length: count - 1 }, () => startOnRedis(options, env));
  return [first, ...(await Promise.all(others))];
}
