import { spawnSync } from 'node:child_process';

/**
 * `npm test` runs the tests that need no second process and do not measure time. `npm run test:full` builds the package
 * and runs every test with coverage, including those that need processes, browsers, Redis or the built package.
 */
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 22 || (major === 22 && minor < 12)) {
  console.error(`Node ${process.versions.node} is too old. Run this with npm, which uses the Node of this project.`);
  process.exit(1);
}

function run(command: string, ...args: string[]): void {
  const { status } = spawnSync(command, args, { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}

const args = process.argv.slice(2);
if (args[0] === '--full') {
  run('npm', 'run', '-s', 'build');
  run('vitest', 'run', '--coverage', ...args.slice(1));
} else {
  run('vitest', 'run', '--project', 'node', ...args);
}
