import { ConfigurationError } from '../errors/audience-error.ts';

/** The part of a client or cluster of `redis` (node-redis) that is used. */
export interface NodeRedis {
  evalSha(sha: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>;
  eval(script: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>;
}

/** The part of a client or cluster of `ioredis` that is used. */
export interface IoRedis {
  evalsha(sha: string, keys: number, ...rest: string[]): Promise<unknown>;
  eval(script: string, keys: number, ...rest: string[]): Promise<unknown>;
}

/** A connected client of either package. */
export type RedisClient = NodeRedis | IoRedis;

/** A Lua script of one key. The server caches it by its hash. */
export interface Script {
  readonly source: string;
  sha?: Promise<string>;
}

/** Runs a script on one key. */
export type RunScript = (script: Script, key: string, args: readonly (string | number)[]) => Promise<unknown>;

async function sha1(source: string): Promise<string> {
  const hash = await crypto.subtle.digest('SHA-1', new TextEncoder().encode(source));
  return Array.from(new Uint8Array(hash), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Returns whether the server does not have a script, as after a restart or `SCRIPT FLUSH`. */
const isNoScript = (error: unknown): boolean => error instanceof Error && error.message.startsWith('NOSCRIPT');

/**
 * Returns a function that runs scripts on a client of either package.
 *
 * @throws {ConfigurationError} for anything else.
 */
export function scriptRunner(client: RedisClient): RunScript {
  const { evalSha, evalSource } = commandsOf(client);
  return async (script, key, args) => {
    const strings = args.map(String);
    script.sha ??= sha1(script.source);
    const sha = await script.sha;
    try {
      return await evalSha(sha, key, strings);
    } catch (error) {
      if (!isNoScript(error)) throw error;
      return await evalSource(script.source, key, strings);
    }
  };
}

type Evaluate = (script: string, key: string, args: string[]) => Promise<unknown>;

function commandsOf(client: RedisClient): { readonly evalSha: Evaluate; readonly evalSource: Evaluate } {
  if (typeof client === 'object' && client !== null) {
    if ('evalSha' in client && typeof client.evalSha === 'function') {
      return {
        evalSha: (sha, key, args) => client.evalSha(sha, { keys: [key], arguments: args }),
        evalSource: (source, key, args) => client.eval(source, { keys: [key], arguments: args }),
      };
    }
    if ('evalsha' in client && typeof client.evalsha === 'function') {
      return {
        evalSha: (sha, key, args) => client.evalsha(sha, 1, key, ...args),
        evalSource: (source, key, args) => client.eval(source, 1, key, ...args),
      };
    }
  }
  const hint = client instanceof Promise ? ' This is a promise of one: await it.' : '';
  throw new ConfigurationError(`Pass a connected client of \`redis\` (node-redis) or \`ioredis\`.${hint}`);
}
