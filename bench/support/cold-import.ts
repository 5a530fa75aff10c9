import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const exec = promisify(execFile);
const run = (code: string, ...flags: string[]) =>
  exec(process.execPath, [...flags, '--input-type=module', '--eval', code]);

/** Milliseconds that a process of its own takes for a module's code, from start to end. */
export async function milliseconds(code: string): Promise<number> {
  const began = performance.now();
  await run(code);
  return performance.now() - began;
}

/** Bytes of heap in use in a process of its own once a module's code has run. */
export async function heap(code: string): Promise<number> {
  const { stdout } = await run(`${code} gc(); console.log(process.memoryUsage().heapUsed);`, '--expose-gc');
  return Number(stdout);
}
