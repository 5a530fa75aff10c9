import type { IoRedis } from 'audience-activation/redis';
import { Redis } from 'ioredis';

/** A real Redis server whose scripts see the clock of this process, which may be virtual. */
export interface VirtualRedis {
  readonly client: IoRedis;
  /** Number of commands so far. */
  readonly commands: number;
  /** True while a command is in flight. */
  readonly isBusy: boolean;
  /** Returns the bytes that the server uses for its data. */
  memory(): Promise<number>;
  flush(): Promise<void>;
  close(): void;
}

/** Connects to a server. Its connection must not use virtual timers, so it is opened before time becomes virtual. */
export async function connectVirtualRedis(
  url: string,
  fails: () => 'command' | 'reply' | undefined = () => undefined,
): Promise<VirtualRedis> {
  const redis = new Redis(url, { lazyConnect: true });
  await redis.connect();
  const state = { commands: 0, inFlight: 0 };
  async function counted<T>(command: Promise<T>): Promise<T> {
    state.inFlight++;
    try {
      return await command;
    } finally {
      state.inFlight--;
    }
  }
  // The client names scripts by their SHA-1, which another thread computes in real time.
  const digest = crypto.subtle.digest.bind(crypto.subtle);
  crypto.subtle.digest = (...args) => counted(digest(...args));
  async function evaluate(source: string, keys: number, ...rest: string[]): Promise<unknown> {
    state.commands++;
    const now = Date.now();
    // The clock of a server advances between two commands.
    const time = [Math.floor(now / 1_000), (now % 1_000) * 1_000 + (state.commands % 1_000)].map(String);
    const script = source.replaceAll("redis.call('TIME')", '{ARGV[#ARGV - 1], ARGV[#ARGV]}');
    const lost = fails();
    if (lost === 'command') throw new Error('The connection was lost.');
    const reply = await counted(redis.eval(script, keys, ...rest, ...time));
    if (lost === 'reply') throw new Error('The connection was lost.');
    return reply;
  }
  return {
    client: {
      eval: evaluate,
      evalsha: () => Promise.reject(new Error('NOSCRIPT')),
    },
    get commands() {
      return state.commands;
    },
    get isBusy() {
      return state.inFlight > 0;
    },
    async memory() {
      const info = await counted(redis.info('memory'));
      return Number(/used_memory_dataset:(\d+)/.exec(info)?.[1]);
    },
    flush: async () => void (await counted(redis.flushall())),
    close: () => redis.disconnect(),
  };
}
