import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** A worker of a queue, in its own process. */
export interface WorkerProcess {
  readonly child: ChildProcess;
  /** Resolves when the process has ended: its exit code, or the signal that killed it. */
  readonly ended: Promise<number | NodeJS.Signals>;
}

/** Starts a worker with its task. */
export function startWorker(program: URL, task: object): WorkerProcess {
  const child = spawn(process.execPath, [fileURLToPath(program), JSON.stringify(task)], { stdio: 'inherit' });
  const kill = (): void => void child.kill('SIGKILL');
  process.once('exit', kill);
  const ended = once(child, 'exit').then(([code, signal]) => {
    process.off('exit', kill);
    return code ?? signal;
  });
  return { child, ended };
}

/** Stops a worker as a deployment does. Resolves with its exit code. */
export function stopWorker({ child, ended }: WorkerProcess): Promise<number | NodeJS.Signals> {
  child.kill('SIGTERM');
  return ended;
}
