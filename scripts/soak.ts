import { spawnSync } from 'node:child_process';

/** Runs the random tests at full length; `SEED=…` repeats a run that failed. */
const env = { ...process.env, VOLUME: 'soak' };
const run = (command: string, ...args: string[]): void => {
  const { status } = spawnSync(command, args, { stdio: 'inherit', env });
  if (status !== 0) process.exit(status ?? 1);
};
const args = process.argv.slice(2);

run('vitest', 'run', '--project', 'node', 'test/reliability', ...args);
run('vitest', 'run', '--project', 'process', '--passWithNoTests', 'test/reliability/calls-memory', ...args);
// Workers and commands that are killed run the built package.
run('npm', 'run', '-s', 'build');
run(
  'vitest',
  'run',
  '--project',
  'process',
  '--passWithNoTests',
  'test/examples/queue-worker',
  'test/examples/pg-boss',
  'test/cli/run-killed',
  ...args,
);
