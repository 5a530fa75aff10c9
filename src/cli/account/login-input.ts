import type { Credentials } from '../../index.ts';
import { readStdin } from '../input/body-input.ts';
import type { Context } from '../terminal/context.ts';
import { HIDDEN } from '../terminal/dry-run.ts';
import { usageError } from '../terminal/exit-codes.ts';
import { askPassword, askText } from '../terminal/prompts.ts';
import { findSandbox } from './running-sandboxes.ts';

/**
 * Returns the address from the flags or the environment. With `--sandbox`, returns the address of the running sandbox.
 */
export async function addressOf({ flags, env }: Context): Promise<string | undefined> {
  const { baseUrl, sandbox } = flags;
  const running = sandbox ? await findSandbox(env, { baseUrl }) : undefined;
  return running?.url || baseUrl || env.AUDIENCE_BASE_URL || undefined;
}

/**
 * Returns the email and the password. Prompts in a terminal. Elsewhere, reads the password from the first line of
 * standard input.
 */
export async function readCredentials(context: Context, initial: string | undefined): Promise<Credentials> {
  if (context.flags.dryRun) return { email: initial ?? HIDDEN, password: HIDDEN };
  const email = initial ?? (await askFor(context, 'Email'));
  if (context.stdin().isTTY) return { email, password: await askPassword(context, `Password of ${email}`) };
  const password = (await readStdin(context)).split(/\r?\n/, 1)[0];
  if (!password) throw usageError('Pass the password on standard input, or run the command in a terminal.');
  return { email, password };
}

/** Asks for an email or an address that no flag has set. */
export function askFor(context: Context, what: 'Email' | 'Address'): Promise<string> {
  const flag = what === 'Email' ? '--email' : '--base-url';
  if (!context.stdin().isTTY) throw usageError(`Pass ${flag}: standard input is not a terminal.`);
  return askText(context, what === 'Email' ? what : 'Address of the service');
}
