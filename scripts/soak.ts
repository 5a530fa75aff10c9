import { spawnSync } from 'node:child_process';

/** Runs the random tests at full length; `SEED=…` repeats a run that failed. */
const env = { ...process.env, SOAK: '1' };
const { status } = spawnSync('vitest', ['run', '--project', 'node', 'test/reliability', ...process.argv.slice(2)], {
  stdio: 'inherit',
  env,
});
process.exit(status ?? 1);
