import { ConfigurationError } from '../errors/audience-error.ts';

/** Commands of a `redis` (node-redis) client or cluster that this package uses. */
export interface NodeRedis {
  /** EVALSHA: runs a script that the server has cached, by its SHA-1. */
  evalSha(sha: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>;
  /** EVAL: runs a script, which the server caches. */
  eval(script: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>;
}

/** Commands of an `ioredis` client or cluster that this package uses. */
export interface IoRedis {
  /** EVALSHA: runs a script that the server has cached, by its SHA-1. */
  evalsha(sha: string, keys: number, ...rest: string[]): Promise<unknown>;
  /** EVAL: runs a script, which the server caches. */
  eval(script: string, keys: number, ...rest: string[]): Promise<unknown>;
}

/** A connected client or cluster of `redis` (node-redis) or `ioredis`. */
export type RedisClient = NodeRedis | IoRedis;

/** A Lua script. The server caches it by `sha`, its SHA-1. */
export interface Script {
  readonly source: string;
  sha?: Promise<string>;
}

/** Runs a script on a key, or on several keys of one slot of a cluster. */
export type RunScript = (
  script: Script,
  keys: string | readonly string[],
  args: readonly (string | number)[],
) => Promise<unknown>;

async function sha1(source: string): Promise<string> {
  const hash = await crypto.subtle.digest('SHA-1', new TextEncoder().encode(source));
  return Array.from(new Uint8Array(hash), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/**
 * Returns whether an error means that the server has not cached the script, for example after a restart or `SCRIPT
 * FLUSH`.
 */
const isNoScript = (error: unknown): boolean => error instanceof Error && error.message.startsWith('NOSCRIPT');

/**
 * Returns a function that runs scripts on a client or cluster of `redis` (node-redis) or `ioredis`.
 *
 * @throws {ConfigurationError} for any other `client`.
 */
export function scriptRunner(client: RedisClient): RunScript {
  const { evalSha, evalSource } = commandsOf(client);
  return async (script, keyOrKeys, args) => {
    const keys = [keyOrKeys].flat();
    const strings = args.map(String);
    script.sha ??= sha1(script.source);
    const sha = await script.sha;
    try {
      return await evalSha(sha, keys, strings);
    } catch (error) {
      if (!isNoScript(error)) throw error;
      return await evalSource(script.source, keys, strings);
    }
  };
}

type Evaluate = (script: string, keys: string[], args: string[]) => Promise<unknown>;

function commandsOf(client: RedisClient): { readonly evalSha: Evaluate; readonly evalSource: Evaluate } {
  if (typeof client === 'object' && client !== null) {
    if ('evalSha' in client && typeof client.evalSha === 'function') {
      return {
        evalSha: (sha, keys, args) => client.evalSha(sha, { keys, arguments: args }),
        evalSource: (source, keys, args) => client.eval(source, { keys, arguments: args }),
      };
    }
    if ('evalsha' in client && typeof client.evalsha === 'function') {
      return {
        evalSha: (sha, keys, args) => client.evalsha(sha, keys.length, ...keys, ...args),
        evalSource: (source, keys, args) => client.eval(source, keys.length, ...keys, ...args),
      };
    }
  }
  const advice = client instanceof Promise ? 'You passed a promise: await the client first.' : undefined;
  throw new ConfigurationError('The first argument must be a connected client of `redis` (node-redis) or `ioredis`.', {
    advice,
  });
}
