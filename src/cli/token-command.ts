import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import type { TokenSource } from '../index.ts';
import { isUsableToken } from './account-checks.ts';
import { CommandError } from './exit-codes.ts';

/** Maximum duration of a token command. */
export const TOKEN_COMMAND_MS = 60_000;

/** Creates a token source that runs a command for the token, once, and again if the service refuses the token. */
export function commandToken(command: string, signal: AbortSignal): TokenSource {
  let current: Promise<string> | undefined;
  return {
    async get({ rejected }) {
      if (!current || (rejected !== undefined && (await current) === rejected)) current = runForToken(command, signal);
      return current;
    },
  };
}

/**
 * Runs a command, and returns the first line that it prints. The line is never shown.
 *
 * @throws {CommandError} `token-command-failed`
 */
export async function runForToken(command: string, signal: AbortSignal): Promise<string> {
  const child = spawn(command, { shell: true, stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = new Promise<string>((resolve, reject) => {
    child.once('error', reject).once('close', (code, killedBy) => resolve(killedBy ?? `exit code ${code}`));
  });
  // A program that the command has started may keep the pipe open after the command has ended.
  const stop = (): void => {
    child.kill();
    child.stdout.destroy();
    child.unref();
  };
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    stop();
  }, TOKEN_COMMAND_MS);
  signal.addEventListener('abort', stop, { once: true });
  const failed = (problem: string): CommandError =>
    new CommandError(`The token command ${problem}.`, { code: 'token-command-failed' });
  try {
    const [output, end] = await Promise.all([text(child.stdout), exited]);
    const token = output.split('\n', 1)[0]?.trim();
    if (end !== 'exit code 0') throw failed(`failed with ${end}`);
    if (!token) throw failed('printed nothing');
    if (!isUsableToken(token)) throw failed('printed no token: one is visible ASCII without white space');
    return token;
  } catch (error) {
    signal.throwIfAborted();
    throw isLate ? failed(`did not end within ${TOKEN_COMMAND_MS / 1_000} seconds`) : error;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
  }
}
