import type { Key } from 'node:readline';
import type { Context } from './context.ts';
import { CommandError, usageError } from './exit-codes.ts';

/** Streams and signal of a command that asks. */
type Asking = Pick<Context, 'output' | 'signal'>;

/** Asks for an input in the terminal. */
export async function askText({ output, signal }: Asking, message: string): Promise<string> {
  const { text } = await import('@clack/prompts');
  return nonEmpty(await answerOf(signal, (signal) => text({ message, output: streamOf(output), signal })));
}

/** Asks for a password in the terminal, which does not show it. */
export async function askPassword({ output, signal }: Asking, message: string): Promise<string> {
  const { password } = await import('@clack/prompts');
  return nonEmpty(await answerOf(signal, (signal) => password({ message, output: streamOf(output), signal })));
}

/** Asks for a decision in the terminal; Enter alone declines. */
export async function askConfirmation({ output, signal }: Asking, message: string): Promise<boolean> {
  const { confirm } = await import('@clack/prompts');
  const options = { message, initialValue: false, output: streamOf(output) };
  return (await answerOf(signal, (signal) => confirm({ ...options, signal }))) === true;
}

// Prompts are for people: standard output is for data.
const streamOf = ({ stderr }: Context['output']): NodeJS.WriteStream => stderr as NodeJS.WriteStream;

function nonEmpty(answer: string | undefined): string {
  if (!answer) throw usageError('Nothing was entered.');
  return answer;
}

/**
 * Returns the response to a prompt.
 *
 * @throws {CommandError} `interrupted` after Ctrl-C or Ctrl-D; the reason of the signal if it aborts.
 */
async function answerOf<Answer>(
  signal: AbortSignal,
  prompt: (signal: AbortSignal) => Promise<Answer>,
): Promise<Exclude<Answer, symbol>> {
  // Ctrl-D closes the prompt without a response, which would then never come.
  const closed = new AbortController();
  const onKey = (_: unknown, { ctrl, name }: Key): void => {
    if (ctrl && name === 'd') closed.abort();
  };
  process.stdin.on('keypress', onKey);
  try {
    const answer = await prompt(AbortSignal.any([signal, closed.signal]));
    signal.throwIfAborted();
    if (typeof answer === 'symbol') throw new CommandError('Cancelled.', { code: 'interrupted' });
    // The compiler cannot exclude a symbol from a type parameter.
    return answer as Exclude<Answer, symbol>;
  } finally {
    process.stdin.off('keypress', onKey);
  }
}
