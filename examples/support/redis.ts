import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './free-port.ts';

/** A Redis server. */
export interface Redis {
  readonly url: string;
  stop(): Promise<void>;
}

/** The Redis server program is missing. */
export class NoRedisError extends Error {
  constructor(program: string) {
    super(`${program} was not found. Install Redis, or set REDIS_SERVER_PATH to its program or REDIS_URL to a server.`);
    this.name = 'NoRedisError';
  }
}

/** Starts a Redis server on a free loopback port, without persistence. */
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
  // Only SIGTERM is handled: a terminal sends Ctrl-C to both processes.
  const exit = (): void => process.exit(1);
  process.once('SIGTERM', exit);
  await new Promise<void>((resolve, reject) => {
    let output = '';
    child.once('error', () => reject(new NoRedisError(program)));
    child.once('exit', () => reject(new Error(`Redis has not started: ${output}`)));
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      if (output.includes('Ready to accept connections')) resolve();
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
