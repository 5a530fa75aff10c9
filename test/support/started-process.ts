import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { onTestFinished } from 'vitest';
import { within } from './within.ts';

/** Starts a program that reports when it waits for messages. It is killed after the running test. */
export async function startProcess(program: URL, ...args: readonly string[]): Promise<ChildProcess> {
  const child = fork(program, args);
  onTestFinished(() => void child.kill('SIGKILL'));
  await nextMessage(child, `${basename(program.pathname)} to start`);
  return child;
}

/** Sends a message to a process, and returns its next one. */
export function ask(child: ChildProcess, message: string): Promise<unknown> {
  const response = nextMessage(child, `the response of a process to "${message}"`);
  child.send(message);
  return response;
}

/** Starts the work of a process; returns its next message. */
export const go = (child: ChildProcess): Promise<unknown> => ask(child, 'go');

/** Returns the next message of a process; rejects if the process ends instead. */
function nextMessage(child: ChildProcess, what: string): Promise<unknown> {
  const { promise, resolve, reject } = Promise.withResolvers<unknown>();
  const onExit = (code: number | null, signal: string | null): void =>
    reject(new Error(`A process ended with ${code ?? signal} while the test waited for ${what}.`));
  child.once('message', resolve).once('exit', onExit);
  const result = within(promise, () => what).finally(() => child.off('message', resolve).off('exit', onExit));
  // A test that has failed no longer awaits it.
  result.catch(() => {});
  return result;
}

/** Sends a signal to a process, and returns its exit code and signal when it has ended. */
export async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<unknown[]> {
  const exited = once(child, 'exit');
  child.kill(signal);
  return within(exited, () => `the end of a process after ${signal}`);
}

/** Reads from Linux whether a process is suspended. */
export async function isStopped({ pid }: ChildProcess): Promise<boolean> {
  return /^State:\s+T/m.test(await readFile(`/proc/${pid}/status`, 'utf8'));
}
