import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** A worker of a queue, in its own process. */
export interface WorkerProcess {
  readonly child: ChildProcess;
  /** Resolves when the process takes jobs, or has ended: from then on, it stops in order when it receives SIGTERM. */
  readonly started: Promise<unknown>;
  /** Resolves when the process has ended: its exit code, or the signal that killed it. */
  readonly ended: Promise<number | NodeJS.Signals>;
}

/** Starts a worker with its task. */
export function startWorker(program: URL, task: object): WorkerProcess {
  const child = spawn(process.execPath, [fileURLToPath(program), JSON.stringify(task)], {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  });
  const kill = (): void => void child.kill('SIGKILL');
  process.once('exit', kill);
  const ended = once(child, 'exit').then(([code, signal]) => {
    process.off('exit', kill);
    return code ?? signal;
  });
  return { child, started: Promise.race([once(child, 'message'), ended]), ended };
}

/** Stops a worker as a deployment does. Resolves with its exit code. */
export async function stopWorker({ child, started, ended }: WorkerProcess): Promise<number | NodeJS.Signals> {
  await started;
  child.kill('SIGTERM');
  return ended;
}
