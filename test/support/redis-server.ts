import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, onTestFinished } from 'vitest';
import { freePort } from '../../examples/support/free-port.ts';
import { REDIS_SERVER } from '../../scripts/redis-server.ts';
import { type ClientKind, type Clients, connectTo } from './redis-clients.ts';

/** A Redis server that stores nothing on disk. */
export interface RedisServer {
  readonly url: string;
  readonly port: number;
  /** Kills the server (SIGKILL); its data are lost. */
  kill(): Promise<void>;
  /** Stops the server (SIGTERM). */
  stop(): Promise<void>;
  /** Starts the server on the same port without data, after killing it if it runs. */
  restart(): Promise<void>;
  /** Suspends the server (SIGSTOP): it sends no replies, and its connections stay open. */
  pause(): void;
  resume(): void;
  /** Connects a client, which is closed at the end of the test or the suite. */
  connect<Kind extends ClientKind>(kind: Kind): Promise<Clients[Kind]>;
}

/** Registers a function to run at the end of a test or a suite, as `onTestFinished` does. */
export type AtEnd = (end: () => void | Promise<void>) => void;

/** Starts a server and waits until it accepts connections. Rejects with its output if it exits before. */
async function launch(port: number, dir: string): Promise<ChildProcess> {
  const options = ['--bind', '127.0.0.1', '--port', String(port), '--dir', dir, '--save', '', '--appendonly', 'no'];
  const child = spawn(REDIS_SERVER, options, { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  await new Promise<void>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', () => reject(new Error(`Redis did not start: ${output}`)));
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      output += chunk;
      if (output.includes('Ready to accept connections')) resolve();
    });
  });
  return child;
}

/** Starts a server on a free port. Retries, because another program may take the port first. */
async function launchAnywhere(dir: string): Promise<{ readonly port: number; readonly child: ChildProcess }> {
  for (let attempt = 1; ; attempt++) {
    const port = await freePort();
    try {
      return { port, child: await launch(port, dir) };
    } catch (error) {
      if (attempt === 3 || !String(error).includes('Address already in use')) throw error;
    }
  }
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill(signal);
  // Continue a suspended process: it handles only SIGKILL.
  child.kill('SIGCONT');
  await exited;
}

/** Starts a Redis server for the running test; for a suite use {@link suiteRedis}. */
export async function startRedis(atEnd: AtEnd = onTestFinished): Promise<RedisServer> {
  const dir = await mkdtemp(join(tmpdir(), 'audience-activation-redis-'));
  let finish = async (): Promise<void> => {};
  atEnd(async () => {
    await finish();
    await rm(dir, { recursive: true, force: true });
  });
  const launched = await launchAnywhere(dir);
  const { port } = launched;
  let { child } = launched;
  const endWithProcess = (): void => void child.kill('SIGKILL');
  process.once('exit', endWithProcess);
  finish = async () => {
    await end(child, 'SIGKILL');
    process.off('exit', endWithProcess);
  };
  const url = `redis://127.0.0.1:${port}`;
  return {
    url,
    port,
    kill: () => end(child, 'SIGKILL'),
    stop: () => end(child, 'SIGTERM'),
    async restart() {
      await end(child, 'SIGKILL');
      child = await launch(port, dir);
    },
    pause: () => void child.kill('SIGSTOP'),
    resume: () => void child.kill('SIGCONT'),
    async connect(kind) {
      const { client, close } = await connectTo(kind, url);
      atEnd(close);
      return client;
    },
  };
}

/** Registers functions to run at the end of a file or a `describe`, the last one first. */
export function atSuiteEnd(): AtEnd {
  const ends: (() => void | Promise<void>)[] = [];
  afterAll(async () => {
    for (const end of ends.reverse()) await end();
  });
  return (end) => void ends.push(end);
}

/** Starts one Redis server for all tests of a file or a `describe`. Call the returned function inside a test. */
export function suiteRedis(atEnd = atSuiteEnd()): () => RedisServer {
  let server: RedisServer | undefined;
  beforeAll(async () => {
    server = await startRedis(atEnd);
  });
  return () => {
    if (!server) throw new Error('Call this inside a test.');
    return server;
  };
}
