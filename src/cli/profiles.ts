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
  const message = 'There is no home folder to keep anything in: set AUDIENCE_CONFIG_DIR.';
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
export const oauthPath = (name: string): string => join(configFolder(), 'profiles', `${name}.oauth.json`);

/** Returns the names of all profiles, sorted. Never throws: completion uses it. */
export function profileNames(): string[] {
  try {
    const files = readdirSync(join(configFolder(), 'profiles'));
    const names = files.flatMap((file) => /^([\w-][\w.-]*?)(?:\.oauth)?\.json$/.exec(file)?.[1] ?? []);
    return [...new Set(names)].sort();
  } catch {
    return [];
  }
}

/** An API token that `login` has kept. */
export interface Profile {
  readonly token: string;
  readonly baseUrl: string;
  readonly email: string | undefined;
  readonly expiresAt: string | undefined;
}

/** Returns what `login` has kept in a store; nothing if it is empty. */
export async function readProfile(store: TokenStore): Promise<Profile | undefined> {
  const stored = await store.load();
  if (!stored) return undefined;
  const { token, baseUrl, email, expiresAt } = stored;
  if (typeof baseUrl !== 'string') {
    const message =
      'The file of the profile was not written by `login`: it names no address. Choose another --profile.';
    throw new CommandError(message, { exitCode: EXIT.unexpected });
  }
  return { token, baseUrl, expiresAt, email: typeof email === 'string' ? email : undefined };
}
