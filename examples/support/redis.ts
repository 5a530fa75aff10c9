import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './free-port.ts';

/** A Redis to work with. */
export interface Redis {
  readonly url: string;
  stop(): Promise<void>;
}

/** There is no program to start a Redis with. */
export class NoRedisError extends Error {
  constructor(program: string) {
    super(`There is no ${program}: install Redis, name its program by REDIS_SERVER_PATH, or a server by REDIS_URL.`);
    this.name = 'NoRedisError';
  }
}

/** Starts a Redis of its own on a free loopback port, which keeps nothing on a disk. */
export async function startRedis(): Promise<Redis> {
  const program = process.env.REDIS_SERVER_PATH ?? 'redis-server';
  const port = await freePort();
  const folder = await mkdtemp(join(tmpdir(), 'audience-activation-'));
  const child = spawn(program, ['--bind', '127.0.0.1', '--port', String(port), '--dir', folder, '--save', ''], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const end = (): void => void child.kill('SIGKILL');
  process.once('exit', end);
  // Ctrl-C ends both: it goes to every process of a terminal.
  const exit = (): void => process.exit(1);
  process.once('SIGTERM', exit);
  await new Promise<void>((resolve, reject) => {
    let written = '';
    child.once('error', () => reject(new NoRedisError(program)));
    child.once('exit', () => reject(new Error(`Redis has not started: ${written}`)));
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      written += text;
      if (written.includes('Ready to accept connections')) resolve();
    });
  });
  return {
    url: `redis://127.0.0.1:${port}`,
    async stop() {
      end();
      await exited;
      process.off('exit', end).off('SIGTERM', exit);
      await rm(folder, { recursive: true, force: true });
    },
  };
}
