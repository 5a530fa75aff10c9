import { run } from './run.ts';

/** Runs the random tests at full length; `SEED=…` repeats a run that failed. */
process.env.VOLUME = 'soak';
const args = process.argv.slice(2);
const testProcesses = (...paths: string[]): void =>
  run('vitest', 'run', '--project', 'process', '--passWithNoTests', ...paths, ...args);

run('vitest', 'run', '--project', 'node', 'test/reliability', ...args);
testProcesses('test/reliability/calls-memory', 'test/reliability/waits-memory');
// Workers and commands that are killed run the built package.
run('npm', 'run', '-s', 'build');
testProcesses('test/examples/queue-worker', 'test/examples/pg-boss', 'test/cli/batch/run-killed');
