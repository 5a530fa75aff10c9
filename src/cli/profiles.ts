import { readdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { TokenStore } from '../index.ts';
import { CommandError, EXIT, usageError } from './exit-codes.ts';

/** Name of the profile that is used if none is chosen. */
export const DEFAULT_PROFILE = 'default';

/**
 * Returns the folder of what the command keeps: AUDIENCE_CONFIG_DIR, or a folder in that of the user's configurations.
 *
 * @throws {CommandError} if the user has no home folder.
 */
export function configFolder(): string {
  const { AUDIENCE_CONFIG_DIR, XDG_CONFIG_HOME, APPDATA } = process.env;
  if (AUDIENCE_CONFIG_DIR) return AUDIENCE_CONFIG_DIR;
  const parent = process.platform === 'win32' ? APPDATA : XDG_CONFIG_HOME;
  return join(parent || join(homeFolder(), '.config'), 'audience-activation');
}

function homeFolder(): string {
  let cause: unknown;
  try {
    const home = homedir();
    if (home) return home;
  } catch (error) {
    cause = error;
  }
  const message = 'The user has no home folder: set AUDIENCE_CONFIG_DIR.';
  throw new CommandError(message, { exitCode: EXIT.unexpected, cause });
}

/** Returns the name of a profile: that of the flag, of AUDIENCE_PROFILE, or `default`. */
export function profileName(flag: string | undefined): string {
  const name = flag ?? (process.env.AUDIENCE_PROFILE || DEFAULT_PROFILE);
  if (/^[\w-][\w.-]*$/.test(name)) return name;
  throw usageError(`A profile's name consists of letters, digits, ".", "_" and "-": "${name}" does not.`);
}

/** Returns the file of a profile: its API token, with the address and the account that it belongs to. */
export const profilePath = (name: string): string => join(configFolder(), 'profiles', `${name}.json`);

/** Returns the file with the OAuth tokens of a profile. */
export const oauthPath = (name: string): string => join(configFolder(), 'oauth', `${name}.json`);

/** Returns the names of all profiles, sorted. Never throws: completion uses it. */
export function profileNames(): string[] {
  const namesIn = (folder: string): string[] => {
    try {
      return readdirSync(join(configFolder(), folder)).flatMap(
        (file) => /^([\w-][\w.-]*)\.json$/.exec(file)?.[1] ?? [],
      );
    } catch {
      return [];
    }
  };
  return [...new Set([...namesIn('profiles'), ...namesIn('oauth')])].sort();
}

/** An API token that `login` has kept. */
export interface Profile {
  readonly token: string;
  readonly baseUrl: string;
  readonly email: string | undefined;
  readonly expiresAt: string | undefined;
}

/** Opens the file of a profile. */
export async function openProfile(name: string) {
  // Imported only here, because scripts with a token in the environment have no use for it.
  const { fileTokenStore } = await import('../node/index.ts');
  const store = fileTokenStore(profilePath(name));
  return {
    withLock: store.withLock,
    save: (profile: Profile | undefined) => store.save(profile && { ...profile }),
    async read(): Promise<Profile | undefined> {
      const stored = await store.load();
      if (!stored) return undefined;
      const { token, baseUrl, email, expiresAt } = stored;
      if (typeof baseUrl === 'string') return { token, baseUrl, expiresAt, email: stringOf(email) };
      const message = `${profilePath(name)} was not written by \`login\`: it names no address. Choose another --profile.`;
      throw new CommandError(message, { exitCode: EXIT.unexpected });
    },
  };
}

/** Opens the OAuth tokens of a profile: a store for the OAuth client that also keeps the address they belong to. */
export async function openOAuthStore(
  name: string,
  baseUrl?: string,
): Promise<TokenStore & { address(): Promise<string | undefined> }> {
  const { fileTokenStore } = await import('../node/index.ts');
  const store = fileTokenStore(oauthPath(name));
  const address = async (): Promise<string | undefined> => baseUrl ?? stringOf((await store.load())?.baseUrl);
  return {
    load: store.load,
    withLock: store.withLock,
    save: async (token) => store.save(token && { ...token, baseUrl: await address() }),
    address,
  };
}

const stringOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
