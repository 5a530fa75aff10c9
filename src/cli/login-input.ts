import type { Credentials } from '../index.ts';
import { readStdin } from './body-input.ts';
import type { Context, GlobalFlags } from './context.ts';
import { HIDDEN } from './dry-run.ts';
import { usageError } from './exit-codes.ts';
import { askPassword, askText } from './prompts.ts';
import { findSandbox } from './running-sandboxes.ts';

/** Returns the address of flags or environment; with `--sandbox`, that of the running one. */
export async function addressOf({ baseUrl, sandbox }: GlobalFlags): Promise<string | undefined> {
  const running = sandbox ? await findSandbox({ baseUrl }) : undefined;
  return running?.url || baseUrl || process.env.AUDIENCE_BASE_URL || undefined;
}

/** Returns email and password: from prompts in a terminal; elsewhere, the password is the first line of standard input. */
export async function readCredentials(context: Context, initial: string | undefined): Promise<Credentials> {
  if (context.flags.dryRun) return { email: initial ?? HIDDEN, password: HIDDEN };
  const email = initial ?? (await askFor(context, 'Email'));
  if (process.stdin.isTTY) return { email, password: await askPassword(context, `Password of ${email}`) };
  const password = (await readStdin(context.signal)).split(/\r?\n/, 1)[0];
  if (!password) throw usageError('Pass the password on standard input, or run this in a terminal.');
  return { email, password };
}

/** Asks for an email or an address, which a flag could have passed. */
export function askFor(context: Context, what: 'Email' | 'Address'): Promise<string> {
  const flag = what === 'Email' ? '--email' : '--base-url';
  if (!process.stdin.isTTY) throw usageError(`Pass ${flag}: standard input is not a terminal.`);
  return askText(context, what);
}
