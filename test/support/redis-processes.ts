import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { onTestFinished } from 'vitest';
import type { RedisProcessOptions } from './redis-process-options.ts';

/** A process of test/support/redis-process.ts that waits to be told. */
export async function startOnRedis(options: RedisProcessOptions): Promise<ChildProcess> {
  const child = fork(new URL('./redis-process.ts', import.meta.url), [JSON.stringify(options)]);
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child, 'message');
  return child;
}
