import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { onTestFinished } from 'vitest';

/** Starts a program that reports when it waits for messages. It is killed after the running test. */
export async function startProcess(program: URL, ...args: readonly string[]): Promise<ChildProcess> {
  const child = fork(program, args);
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child, 'message');
  return child;
}

/** Starts the work of a process; returns its next message. */
export async function go(child: ChildProcess): Promise<unknown> {
  const responded = once(child, 'message');
  child.send('go');
  return (await responded)[0];
}

/** Sends a signal to a process, and returns its exit code and signal when it has ended. */
export async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<unknown[]> {
  const exited = once(child, 'exit');
  child.kill(signal);
  return exited;
}

/** Reads from Linux whether a process is suspended. */
export async function isStopped({ pid }: ChildProcess): Promise<boolean> {
  return /^State:\s+T/m.test(await readFile(`/proc/${pid}/status`, 'utf8'));
}
