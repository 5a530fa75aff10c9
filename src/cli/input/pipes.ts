import { constants, openSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { Socket } from 'node:net';
import { addAbortSignal } from 'node:stream';
import type { Context, Stdin } from '../terminal/context.ts';

/** Standard input, and the signal that stops reading. */
export type Input = Pick<Context, 'stdin' | 'signal'>;

/**
 * Returns whether an argument stands for standard input. Includes paths such as `/dev/stdin`, which cannot be opened if
 * standard input is a socket.
 */
export const isStdin = (path: string): boolean => ['-', '/dev/stdin', '/dev/fd/0', '/proc/self/fd/0'].includes(path);

/**
 * Opens standard input or a pipe. Returns `undefined` for other files and for missing files. The signal closes the
 * pipe.
 */
export async function openPipe(path: string, { stdin, signal }: Input): Promise<Stdin | undefined> {
  if (isStdin(path)) return addAbortSignal(signal, stdin());
  const stats = await stat(path).catch(() => undefined);
  if (!stats?.isFIFO()) return undefined;
  // Without `O_NONBLOCK`, opening a pipe waits for its writer, and nothing can interrupt the call.
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  return addAbortSignal(signal, new Socket({ fd, readable: true, writable: false }));
}
