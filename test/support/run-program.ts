import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** Time for a program that needs some seconds on a quiet machine. */
const LIMIT_MS = 150_000;

/** What a program has printed. */
interface Printed {
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Runs a program to its end.
 *
 * @throws The error of `execFile`, with `code`, `stdout` and `stderr`, if the program fails; an error with what it has
 * printed if it does not end.
 */
export async function runProgram(
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
  command = process.execPath,
): Promise<Printed> {
  const options = { timeout: LIMIT_MS, maxBuffer: 2 ** 26, env: { ...process.env, ...env } };
  try {
    return await promisify(execFile)(command, args, options);
  } catch (error) {
    const { killed, stdout, stderr } = Object(error);
    if (killed !== true) throw error;
    throw new Error(
      `Waited ${LIMIT_MS / 1_000} s for the end of ${args.join(' ')}, which has printed ${stdout}${stderr}`,
    );
  }
}
