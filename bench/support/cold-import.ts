import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const exec = promisify(execFile);
const run = (code: string, ...flags: string[]) =>
  exec(process.execPath, [...flags, '--input-type=module', '--eval', code]);

/** Returns the milliseconds that a new process takes to run a module's code, from start to exit. */
export async function milliseconds(code: string): Promise<number> {
  const began = performance.now();
  await run(code);
  return performance.now() - began;
}

/** Returns the bytes of heap that a new process uses after it has run a module's code. */
export async function heap(code: string): Promise<number> {
  const { stdout } = await run(`${code} gc(); console.log(process.memoryUsage().heapUsed);`, '--expose-gc');
  return Number(stdout);
}
