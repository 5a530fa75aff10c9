import { spawnSync } from 'node:child_process';

/** Builds the package, which some tests import, and runs every test with coverage. */
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 22 || (major === 22 && minor < 12)) {
  console.error(`Node ${process.versions.node} is too old. Use \`npm test\`, which runs the Node of the dependencies.`);
  process.exit(1);
}

function run(command: string, ...args: string[]): void {
  const { status } = spawnSync(command, args, { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}

run('npm', 'run', '-s', 'build');
run('vitest', 'run', '--coverage', ...process.argv.slice(2));
