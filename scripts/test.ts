import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { ENGINES } from '../test/support/engines.ts';

/**
 * Runs the tests of one stage, with further arguments of vitest:
 *
 *   npm test                 what needs nothing but Node
 *   npm run test:processes   what needs other processes, Redis or the built package
 *   npm run test:browsers    what runs in browsers, or drives them
 *   npm run test:full        all of these, with the coverage of the first
 *   npm run test:volume      the random tests of the first, with more volume
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

const [stage, ...args] = process.argv.slice(2);
const test = (projects: readonly string[], ...more: readonly string[]): Promise<void> =>
  run('vitest', 'run', ...projects.map((name) => `--project=${name}`), ...more, ...args);

/** The stages that use the built package. In CI, the tests of the package have built it. */
async function testBuilt(work: () => Promise<void>): Promise<void> {
  if (process.env.CI !== 'true' || !existsSync('dist')) await run('npm', 'run', '-s', 'build');
  await work();
}

const testProcesses = (): Promise<void> => test(['process']);
const testBrowsers = async (): Promise<void> => {
  if (ENGINES.length > 0) await test([...ENGINES.map(({ name }) => name), 'engines']);
};

switch (stage) {
  case 'processes':
    await testBuilt(testProcesses);
    break;
  case 'browsers':
    await testBuilt(testBrowsers);
    break;
  case 'full':
    await testBuilt(async () => {
      await test(['node'], '--coverage');
      await testProcesses();
      await testBrowsers();
    });
    break;
  case 'volume': {
    process.env.VOLUME = 'many';
    const random = globSync('test/**/*.test.ts')
      .filter((path) => !/\.(process|engines|browser)\.test\.ts$/.test(path))
      .filter((path) => readFileSync(path, 'utf8').includes("/volume.ts'"));
    await test(['node'], ...random);
    break;
  }
  default:
    await test(['node']);
}
