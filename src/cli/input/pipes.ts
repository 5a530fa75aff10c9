import { constants, openSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { Socket } from 'node:net';
import { addAbortSignal, type Readable } from 'node:stream';
import type { Context } from '../terminal/context.ts';

/** Standard input, and the signal that ends its reading. */
export type Input = Pick<Context, 'stdin' | 'signal'>;

/** Returns whether a path is one of the names of standard input. */
export const isStdin = (path: string): boolean => ['-', '/dev/stdin', '/dev/fd/0', '/proc/self/fd/0'].includes(path);

/** Returns whether a path is standard input, or a file descriptor such as that of `<(…)`: it has no name. */
export const isUnnamed = (path: string): boolean => isStdin(path) || path.startsWith('/dev/fd/');

/** Opens standard input or a pipe, which the signal closes. Returns `undefined` for other files, and if there is none. */
export async function openPipe(path: string, { stdin, signal }: Input): Promise<Readable | undefined> {
  if (isStdin(path)) return addAbortSignal(signal, stdin());
  const stats = await stat(path).catch(() => undefined);
  if (!stats?.isFIFO()) return undefined;
  // Otherwise, opening a pipe waits for its writer, and neither a signal nor the end of the process ends that wait.
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  return addAbortSignal(signal, new Socket({ fd, readable: true, writable: false }));
}
