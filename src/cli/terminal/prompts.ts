import type { Key } from 'node:readline';
import type { Context, Stdin } from './context.ts';
import { CommandError, usageError } from './exit-codes.ts';

/** Streams and signal of a command that prompts. */
type Asking = Pick<Context, 'output' | 'signal' | 'stdin'>;

interface PromptOptions {
  readonly input: Stdin;
  readonly output: NodeJS.WriteStream;
  readonly signal: AbortSignal;
}

/** Asks for an input in the terminal. */
export async function askText(asking: Asking, message: string): Promise<string> {
  const { text } = await import('@clack/prompts');
  return nonEmpty(await answerOf(asking, (options) => text({ message, ...options })));
}

/** Asks for a password in the terminal, without showing it. */
export async function askPassword(asking: Asking, message: string): Promise<string> {
  const { password } = await import('@clack/prompts');
  return nonEmpty(await answerOf(asking, (options) => password({ message, ...options })));
}

/** Asks for a decision in the terminal. Enter alone declines. */
export async function askConfirmation(asking: Asking, message: string): Promise<boolean> {
  const { confirm } = await import('@clack/prompts');
  return (await answerOf(asking, (options) => confirm({ message, initialValue: false, ...options }))) === true;
}

function nonEmpty(answer: string | undefined): string {
  if (!answer) throw usageError('Nothing was entered.');
  return answer;
}

/**
 * Returns the response to a prompt.
 *
 * @throws {CommandError} `interrupted` after Ctrl-C or Ctrl-D, or the reason of the signal.
 */
async function answerOf<Answer>(
  { output, signal, stdin }: Asking,
  prompt: (options: PromptOptions) => Promise<Answer>,
): Promise<Exclude<Answer, symbol>> {
  // Handle Ctrl-D, after which the promise of the prompt would never settle.
  const closed = new AbortController();
  const onKey = (_: unknown, { ctrl, name }: Key): void => {
    if (ctrl && name === 'd') closed.abort();
  };
  const input = stdin();
  input.on('keypress', onKey);
  // Prompt on standard error, because standard output is for data.
  const stderr = output.stderr as NodeJS.WriteStream;
  try {
    const answer = await prompt({ input, output: stderr, signal: AbortSignal.any([signal, closed.signal]) });
    signal.throwIfAborted();
    if (typeof answer === 'symbol') throw new CommandError('Cancelled.', { code: 'interrupted' });
    // The compiler cannot exclude a symbol from a type parameter.
    return answer as Exclude<Answer, symbol>;
  } finally {
    input.off('keypress', onKey);
  }
}
