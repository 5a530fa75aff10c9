import { run } from './run.ts';

/**
 * Runs mutation tests of the modules that make decisions. Stryker is installed for this run only, because it is large
 * and rarely used.
 */
const VERSION = '10.1.1';
const packages = ['core', 'vitest-runner'].map((name) => `@stryker-mutator/${name}@${VERSION}`);
run('npm', 'install', '--no-save', '--no-audit', '--no-fund', ...packages);
run('stryker', 'run', 'scripts/mutation/stryker.json', ...process.argv.slice(2));
