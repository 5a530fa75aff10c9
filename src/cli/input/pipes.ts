import { constants, openSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { Socket } from 'node:net';
import { addAbortSignal } from 'node:stream';
import type { Context, Stdin } from '../terminal/context.ts';

/** Standard input, and the signal that stops reading. */
export type Input = Pick<Context, 'stdin' | 'signal'>;

/** Returns whether an argument stands for standard input. If standard input is a socket, its path cannot be opened. */
export const isStdin = (path: string): boolean => ['-', '/dev/stdin', '/dev/fd/0', '/proc/self/fd/0'].includes(path);

/** Opens standard input or a pipe, which the signal closes. Returns `undefined` for other or missing files. */
export async function openPipe(path: string, { stdin, signal }: Input): Promise<Stdin | undefined> {
  if (isStdin(path)) return addAbortSignal(signal, stdin());
  const stats = await stat(path).catch(() => undefined);
  if (!stats?.isFIFO()) return undefined;
  // Without this flag, opening a pipe waits for its writer, and neither a signal nor the end of the process stops this
  // wait.
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  return addAbortSignal(signal, new Socket({ fd, readable: true, writable: false }));
}
