import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, globSync, readFileSync, rmSync } from 'node:fs';
import { ENGINES } from '../test/support/engines.ts';

/**
 * `npm test` runs the tests that need no second process and do not measure time. `npm run test:full` builds the package
 * and runs every test with coverage, including those that need processes, browsers, Redis or the built package. In CI, it
 * continues with what `npm test` has recorded, so that only random tests run twice: here with ten times the volume.
 */
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 22 || (major === 22 && minor < 12)) {
  console.error(`Node ${process.versions.node} is too old. Run this with npm, which uses the Node of this project.`);
  process.exit(1);
}

/** Runs a command to its end; if it fails, ends this process. */
async function run(command: string, ...args: string[]): Promise<void> {
  const [status] = await once(spawn(command, args, { stdio: 'inherit' }), 'exit');
  if (status !== 0) process.exit(status ?? 1);
}

const BLOBS = 'reports/blobs';
const inCi = process.env.CI === 'true';

/** Arguments by which vitest records coverage, to be merged. The thresholds apply to the merged one. */
const COVERAGE = [
  '--coverage',
  '--coverage.reporter=json-summary',
  '--coverage.thresholds.lines=0',
  '--coverage.thresholds.branches=0',
];

/** Arguments by which vitest records results, to be merged. */
const record = (name: string): string[] => [
  ...['default', './test/support/summary-reporter.ts', 'blob'].map((reporter) => `--reporter=${reporter}`),
  `--outputFile.blob=${BLOBS}/${name}.json`,
];

/** Returns the files of the node tests whose volume depends on `VOLUME`. */
const randomTests = (): string[] =>
  globSync('test/**/*.test.ts')
    .filter((path) => !/\.(process|engines|timed|browser)\.test\.ts$/.test(path))
    .filter((path) => readFileSync(path, 'utf8').includes("/volume.ts'"));

const args = process.argv.slice(2);
if (args[0] === '--full') {
  if (!inCi) rmSync(BLOBS, { recursive: true, force: true });
  // In CI, the tests of the package have built it.
  if (!inCi || !existsSync('dist')) await run('npm', 'run', '-s', 'build');
  if (!existsSync(`${BLOBS}/node.json`)) await run('vitest', 'run', '--project=node', ...COVERAGE, ...record('node'));
  process.env.VOLUME = 'many';
  await run('vitest', 'run', '--project=node', ...randomTests());
  // Of the browsers, only Chromium can record coverage.
  const uncovered = ENGINES.map(({ name }) => name).filter((name) => name !== 'chromium');
  const hasChromium = uncovered.length < ENGINES.length;
  const covered = uncovered.map((name) => `--project=!${name}`);
  const others = ['process', 'timed'].map((name) => `--project=${name}`);
  await run('vitest', 'run', ...others, ...COVERAGE, ...record('others'));
  const browsers = uncovered.map((name) => `--project=${name}`);
  // At the same time, because they wait more than they compute.
  await Promise.all([
    ...(hasChromium ? [run('vitest', 'run', '--project=chromium', ...COVERAGE, ...record('chromium'))] : []),
    ...(browsers.length > 0 ? [run('vitest', 'run', ...browsers, ...record('browsers'))] : []),
    ...(ENGINES.length > 0 ? [run('vitest', 'run', '--project=engines', ...record('engines'))] : []),
  ]);
  await run('vitest', `--merge-reports=${BLOBS}`, ...covered, '--coverage');
} else {
  const isRecorded = inCi && args.length === 0;
  await run('vitest', 'run', '--project=node', ...(isRecorded ? [...COVERAGE, ...record('node')] : []), ...args);
}
