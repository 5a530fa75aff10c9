import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { configFolder } from '../account/profiles.ts';

/**
 * Returns the secret that `listen` and `trigger` sign with: that of the flag, of AUDIENCE_WEBHOOK_SECRET, or one that is
 * created once and kept for this user.
 *
 * @throws {FileError} if it cannot be kept.
 */
export async function webhookSecret(env: NodeJS.ProcessEnv, flag: string | undefined): Promise<string> {
  const chosen = flag || env.AUDIENCE_WEBHOOK_SECRET;
  if (chosen) return chosen;
  const { fileTokenStore } = await import('../../node/index.ts');
  const store = fileTokenStore(join(configFolder(env), 'webhook-secret.json'));
  const existing = await store.load();
  if (existing) return existing.token;
  return store.withLock(async () => {
    const token = (await store.load())?.token ?? `whsec_${randomBytes(24).toString('hex')}`;
    await store.save({ token });
    return token;
  });
}
