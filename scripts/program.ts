import { globSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { run } from './run.ts';

/**
 * Builds the package, and runs a program of a folder in this process. Without a name, lists the programs.
 *
 *   npm run example -- await-audience
 *   npm run bench -- size
 */
const [folder = '', name = '', ...args] = process.argv.slice(2);
const paths = globSync([`${folder}/*.ts`, `${folder}/*/{run,server}.ts`]).sort();
const nameOf = (path: string): string => basename(/\/(?:run|server)\.ts$/.test(path) ? dirname(path) : path, '.ts');
const path = paths.find((each) => nameOf(each) === name);
if (path) {
  run('npm', 'run', '-s', 'build');
  process.argv.splice(1, Number.POSITIVE_INFINITY, resolve(path), ...args);
  await import(pathToFileURL(resolve(path)).href);
} else {
  const problem = name === '' ? '' : `There is no program "${name}". `;
  console.error(`${problem}The programs: ${paths.map(nameOf).join(', ')}.`);
  process.exitCode = name === '' ? 0 : 1;
}
