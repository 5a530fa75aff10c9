import { createHash } from 'node:crypto';
import type { Redis } from 'ioredis';
import type { IoRedis } from '../../src/redis/index.ts';
import { connectTo } from './redis-clients.ts';

/** The way of a command to the server and back: it takes time, waits, or loses the command, if the promise rejects. */
export interface Link {
  /** Awaited before the command reaches the server. */
  readonly request?: () => Promise<unknown>;
  /** Awaited before the reply reaches the client. */
  readonly reply?: () => Promise<unknown>;
}

/** A real Redis server whose scripts see the clock of this process, which may be virtual. */
export interface VirtualRedis {
  /** Returns a client like that of another process. */
  connect(link?: Link): IoRedis;
  /** Number of scripts that the server was asked to run. */
  readonly commands: number;
  /** True while a command is in flight. */
  readonly isBusy: boolean;
  /** Runs commands on the server, past the links. */
  inspect<T>(work: (redis: Redis) => Promise<T>): Promise<T>;
  close(): void;
}

/** Gives a script the clock of the client, in its last two arguments, and no expiry by the clock of the server. */
const PRELUDE = `
local redis = {call = function(command, ...)
  if command == 'TIME' then return {ARGV[#ARGV - 1], ARGV[#ARGV]} end
  if command == 'PEXPIRE' then return 1 end
  return redis.call(command, ...)
end}
`;

const sha1 = (source: string): string => createHash('sha1').update(source).digest('hex');

/** Connects to a server. Its connection must not use virtual timers, so open it before time becomes virtual. */
export async function connectVirtualRedis(url: string): Promise<VirtualRedis> {
  const { client: redis, close } = await connectTo('ioredis', url);
  /** SHA-1 of each script as this process runs it, by the SHA-1 of its source. */
  const hashes = new Map<string, string>();
  let commands = 0;
  let inFlight = 0;
  async function counted<T>(command: Promise<T>): Promise<T> {
    inFlight++;
    try {
      return await command;
    } finally {
      inFlight--;
    }
  }
  function timed(args: readonly string[]): string[] {
    const now = Date.now();
    // The clock of a server advances between two commands.
    return [...args, String(Math.floor(now / 1_000)), String((now % 1_000) * 1_000 + (++commands % 1_000))];
  }
  return {
    connect({ request, reply }: Link = {}) {
      async function through(run: () => Promise<unknown>): Promise<unknown> {
        await request?.();
        const result = await counted(run());
        await reply?.();
        return result;
      }
      return {
        evalsha: (sha, keys, ...args) => through(() => redis.evalsha(hashes.get(sha) ?? sha, keys, ...timed(args))),
        eval(source, keys, ...args) {
          const script = PRELUDE + source;
          hashes.set(sha1(source), sha1(script));
          return through(() => redis.eval(script, keys, ...timed(args)));
        },
      };
    },
    get commands() {
      return commands;
    },
    get isBusy() {
      return inFlight > 0;
    },
    inspect: (work) => counted(work(redis)),
    close,
  };
}
