import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { configFolder } from '../account/profiles.ts';

/**
 * Returns the signing secret of `listen` and `trigger`, from the flag or AUDIENCE_WEBHOOK_SECRET. Without these,
 * returns a secret that the command creates once and stores for this user.
 *
 * @throws {FileError} if the secret cannot be stored.
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
