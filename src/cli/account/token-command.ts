import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import type { TokenSource } from '../../index.ts';
import { isUsableToken } from '../../util/input-checks.ts';
import type { Context } from '../terminal/context.ts';
import { CommandError } from '../terminal/exit-codes.ts';

/** Maximum duration of a token command, in milliseconds. */
export const TOKEN_COMMAND_MS = 60_000;

/** Maximum length of the line with the token, in UTF-16 code units. */
const MAX_LINE_LENGTH = 65_536;

/** Milliseconds to wait for the output after a token command has ended. */
const DRAIN_MS = 250;

/** Environment of a token command, and the signal that ends it. */
type TokenContext = Pick<Context, 'env' | 'signal'>;

/** Creates a token source that runs a command once to get the token, and again if the service refuses the token. */
export function commandToken(command: string, context: TokenContext): TokenSource {
  let current: Promise<string> | undefined;
  return {
    async get({ rejected }) {
      if (!current || (rejected !== undefined && (await current) === rejected)) current = runForToken(command, context);
      return current;
    },
  };
}

/**
 * Runs a command, and returns the first line of its output. Errors never show this line.
 *
 * @throws {CommandError} `token-command-failed`
 */
export async function runForToken(command: string, { env, signal }: TokenContext): Promise<string> {
  const child = spawn(command, { shell: true, env, stdio: ['ignore', 'pipe', 'inherit'] });
  const { stdout } = child;
  const late = new AbortController();
  const timers = [setTimeout(() => late.abort(), TOKEN_COMMAND_MS)];
  try {
    const exited = once(child, 'exit', { signal: AbortSignal.any([signal, late.signal]) });
    const line = firstLine(stdout);
    const [code, killedBy] = await Promise.race([exited, line.then(() => exited)]);
    if (code !== 0) throw failed(`failed with ${killedBy ?? `exit code ${code}`}`);
    // A background program of the command may keep the pipe open.
    timers.push(setTimeout(() => stdout.destroy(), DRAIN_MS));
    const token = (await line).trim();
    if (!token) throw failed('printed no token: the first line of its output is empty');
    if (!isUsableToken(token)) throw failed('printed no token: a token is visible ASCII without white space');
    return token;
  } catch (error) {
    signal.throwIfAborted();
    throw late.signal.aborted ? failed(`did not end within ${TOKEN_COMMAND_MS / 1_000} seconds`) : error;
  } finally {
    for (const timer of timers) clearTimeout(timer);
    child.kill();
    stdout.destroy();
    child.unref();
  }
}

/**
 * Returns the first line of a stream. Reads and discards the rest, so that its writer can end.
 *
 * @throws {CommandError} if the line is too long.
 */
function firstLine(stream: Readable): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    const onData = (chunk: string): void => {
      text += chunk;
      const end = text.indexOf('\n');
      if (end === -1 && text.length <= MAX_LINE_LENGTH) return;
      if (end === -1) reject(failed('printed no token: its first line is longer than 64 KiB'));
      else resolve(text.slice(0, end));
      stream.off('data', onData).resume();
    };
    stream.setEncoding('utf8').on('data', onData);
    stream.once('close', () => resolve(text));
  });
}

const failed = (problem: string): CommandError =>
  new CommandError(`The token command ${problem}.`, { code: 'token-command-failed' });
