import { spawnSync } from 'node:child_process';

/** Runs a command to its end; if it fails, ends this process with its exit code. */
export function run(command: string, ...args: string[]): void {
  const { status } = spawnSync(command, args, { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}
