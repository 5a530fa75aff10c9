import { ConfigurationError } from '../errors/audience-error.ts';

/** A client or cluster of `redis` (node-redis), as far as it is used. */
export interface NodeRedis {
  evalSha(sha: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>;
  eval(script: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>;
}

/** A client or cluster of `ioredis`, as far as it is used. */
export interface IoRedis {
  evalsha(sha: string, keys: number, ...rest: string[]): Promise<unknown>;
  eval(script: string, keys: number, ...rest: string[]): Promise<unknown>;
}

/** A connected client of either package, as it is. */
export type RedisClient = NodeRedis | IoRedis;

/** A Lua script of one key, which the server keeps by its hash. */
export interface Script {
  readonly source: string;
  sha?: Promise<string>;
}

/** Runs a script on the key of one slot of a cluster. */
export type RunScript = (script: Script, key: string, args: readonly (string | number)[]) => Promise<unknown>;

async function shaOf(source: string): Promise<string> {
  const hash = await crypto.subtle.digest('SHA-1', new TextEncoder().encode(source));
  return Array.from(new Uint8Array(hash), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** After a restart or `SCRIPT FLUSH` the server does not know a script by its hash any more. */
const isUnknown = (error: unknown): boolean => error instanceof Error && error.message.startsWith('NOSCRIPT');

/**
 * How scripts run on a client of either package.
 *
 * @throws {ConfigurationError} for anything else.
 */
export function scriptRunner(client: RedisClient): RunScript {
  const { byHash, byText } = commandsOf(client);
  return async (script, key, args) => {
    const texts = args.map(String);
    script.sha ??= shaOf(script.source);
    const sha = await script.sha;
    try {
      return await byHash(sha, key, texts);
    } catch (error) {
      if (!isUnknown(error)) throw error;
      return await byText(script.source, key, texts);
    }
  };
}

type Run = (script: string, key: string, args: string[]) => Promise<unknown>;

function commandsOf(client: RedisClient): { readonly byHash: Run; readonly byText: Run } {
  if (typeof client === 'object' && client !== null) {
    if ('evalSha' in client && typeof client.evalSha === 'function') {
      return {
        byHash: (sha, key, args) => client.evalSha(sha, { keys: [key], arguments: args }),
        byText: (source, key, args) => client.eval(source, { keys: [key], arguments: args }),
      };
    }
    if ('evalsha' in client && typeof client.evalsha === 'function') {
      return {
        byHash: (sha, key, args) => client.evalsha(sha, 1, key, ...args),
        byText: (source, key, args) => client.eval(source, 1, key, ...args),
      };
    }
  }
  const hint = client instanceof Promise ? ' This is the promise of one: await it.' : '';
  throw new ConfigurationError(`A connected client of \`redis\` (node-redis) or \`ioredis\` is needed.${hint}`);
}
