import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { run } from './run.ts';

/** A program of a command such as `npm run bench`. */
interface Program {
  readonly path: string;
  readonly about: string;
}

/**
 * Builds the package and runs the program that the first argument names, in this process, with the other arguments.
 * Without a name, prints the list of programs.
 */
export async function runProgram(command: string, programs: Readonly<Record<string, Program>>): Promise<void> {
  const [name = '', ...args] = process.argv.slice(2);
  const program = programs[name];
  if (!program) {
    const width = Math.max(...Object.keys(programs).map(({ length }) => length));
    const lines = Object.entries(programs).map(([each, { about }]) => `  ${each.padEnd(width)}  ${about}`);
    const problem = name === '' ? [] : [`There is no program "${name}".`];
    console.error([...problem, `Usage: npm run ${command} -- NAME`, '', ...lines].join('\n'));
    process.exitCode = name === '' ? 0 : 1;
    return;
  }
  run('npm', 'run', '-s', 'build');
  const path = resolve(program.path);
  process.argv.splice(1, Number.POSITIVE_INFINITY, path, ...args);
  await import(pathToFileURL(path).href);
}
