import { spawnSync } from 'node:child_process';

/** The test command: builds the package (tests try the built one, too) and runs every suite with coverage. */
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 22 || (major === 22 && minor < 12)) {
  console.error(`Node ${process.versions.node} is too old: run this by npm, which brings its own Node.`);
  process.exit(1);
}

function run(command: string, ...args: string[]): void {
  const { status } = spawnSync(command, args, { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}

run('npm', 'run', '-s', 'build');
run('vitest', 'run', '--coverage', ...process.argv.slice(2));
