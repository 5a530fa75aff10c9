import { randomBytes } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { CommandError, EXIT } from './exit-codes.ts';
import { configFolder } from './profiles.ts';

/**
 * Returns the secret that `listen` and `trigger` sign with: that of the flag, of AUDIENCE_WEBHOOK_SECRET, or one that is
 * created once and kept for this user.
 *
 * @throws {CommandError} if it cannot be kept.
 */
export async function webhookSecret(flag: string | undefined): Promise<string> {
  const chosen = flag ?? process.env.AUDIENCE_WEBHOOK_SECRET;
  if (chosen) return chosen;
  const path = join(configFolder(), 'webhook-secret');
  const existing = (await readFile(path, 'utf8').catch(() => '')).trim();
  if (existing !== '') return existing;
  const secret = `whsec_${randomBytes(24).toString('hex')}`;
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await writeFile(path, `${secret}\n`, { mode: 0o600, flag: 'wx' });
    return secret;
  } catch (cause) {
    // Another process may have created it meanwhile.
    const winner = (await readFile(path, 'utf8').catch(() => '')).trim();
    if (winner !== '') return winner;
    const reason = cause instanceof Error ? cause.message : String(cause);
    const message = `The signing secret cannot be kept: ${reason}. Pass --secret, or set AUDIENCE_WEBHOOK_SECRET.`;
    throw new CommandError(message, { exitCode: EXIT.unexpected, cause });
  }
}
