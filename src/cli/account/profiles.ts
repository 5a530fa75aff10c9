import { readdirSync, readFileSync } from 'node:fs';
import { lstat, stat, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import type { ServiceContract, TokenStore } from '../../index.ts';
import { NAME } from '../terminal/command-name.ts';
import { CommandError, usageError } from '../terminal/exit-codes.ts';
import { shellWord } from '../terminal/terminal.ts';

const DEFAULT_PROFILE = 'default';

/**
 * Returns the folder in which the command stores profiles: AUDIENCE_CONFIG_DIR, or a subfolder of the user's
 * configuration folder.
 *
 * @throws {CommandError} if the user has no home folder.
 */
export function configFolder(env: NodeJS.ProcessEnv): string {
  const { AUDIENCE_CONFIG_DIR, XDG_CONFIG_HOME, APPDATA } = env;
  if (AUDIENCE_CONFIG_DIR) return AUDIENCE_CONFIG_DIR;
  const parent = process.platform === 'win32' ? APPDATA : XDG_CONFIG_HOME;
  return join(parent || join(homeFolder(env), '.config'), 'audience-activation');
}

function homeFolder({ HOME }: NodeJS.ProcessEnv): string {
  let cause: unknown;
  try {
    const home = HOME ?? homedir();
    if (home) return home;
  } catch (error) {
    cause = error;
  }
  const message = 'The user has no home folder: set AUDIENCE_CONFIG_DIR.';
  throw new CommandError(message, { code: 'config-folder-missing', cause });
}

/** Returns the file that contains the name of the default profile. */
const chosenPath = (env: NodeJS.ProcessEnv): string => join(configFolder(env), 'profile');

function chosenProfile(env: NodeJS.ProcessEnv): string | undefined {
  try {
    return readFileSync(chosenPath(env), 'utf8').trim();
  } catch {
    return undefined;
  }
}

/** Makes a profile the default. */
export const chooseProfile = (env: NodeJS.ProcessEnv, name: string): Promise<void> =>
  writeFile(chosenPath(env), `${name}\n`, { mode: 0o600 });

/** Returns the name of the profile from the flag, AUDIENCE_PROFILE or `profiles use`. @default default */
export function profileName(env: NodeJS.ProcessEnv, flag: string | undefined): string {
  const name = flag ?? (env.AUDIENCE_PROFILE || chosenProfile(env) || DEFAULT_PROFILE);
  if (/^[\w-][\w.-]*$/.test(name)) return name;
  throw usageError(
    `The profile name "${name}" must consist of the characters A-Z a-z 0-9 . _ and -, and must not begin with a dot.`,
  );
}

/** Returns the flag that selects a profile, with a space before it. Returns an empty string for the default profile. */
export const profileFlag = (name: string): string => (name === DEFAULT_PROFILE ? '' : ` --profile ${name}`);

/** Returns the file of a profile, which contains an API token with its address and account. */
export const profilePath = (env: NodeJS.ProcessEnv, name: string): string =>
  join(configFolder(env), 'profiles', `${name}.json`);

/** Returns the file with the OAuth tokens of a profile. */
export const oauthPath = (env: NodeJS.ProcessEnv, name: string): string =>
  join(configFolder(env), 'oauth', `${name}.json`);

/** Returns the names of all profiles, sorted. Never throws: completion uses it. */
export function profileNames(env: NodeJS.ProcessEnv): string[] {
  const namesIn = (folder: string): string[] => {
    try {
      return readdirSync(join(configFolder(env), folder)).flatMap(
        (file) => /^([\w-][\w.-]*)\.json$/.exec(file)?.[1] ?? [],
      );
    } catch {
      return [];
    }
  };
  return [...new Set([...namesIn('profiles'), ...namesIn('oauth')])].sort();
}

/** An API token that `login` stored. */
export interface Profile {
  readonly token: string;
  readonly baseUrl: string;
  readonly email: string | undefined;
  readonly expiresAt: string | undefined;
  /** Differences between the service and the assumptions of this package. */
  readonly contract?: ServiceContract | undefined;
}

/** Number of bytes to write as a test for a full disk. A profile without a contract is smaller. */
const TRIAL_BYTES = 4_096;

/** Permission bits of users other than the owner. */
const OTHERS = 0o077;

/**
 * Checks that only its owner can access a token file, and that its folder is not a link to another folder.
 *
 * @param renewal Commands that replace a token that others may have read.
 * @throws {CommandError} if others can access the file, or if the folder is a link.
 */
async function checkPrivate(path: string, renewal: string): Promise<void> {
  // Windows has no file modes.
  if (process.platform === 'win32') return;
  const folder = dirname(path);
  if ((await lstat(folder).catch(() => undefined))?.isSymbolicLink()) {
    const message = `${folder} is a symbolic link, so tokens would be stored in another folder. Replace it with a folder, or set AUDIENCE_CONFIG_DIR.`;
    throw new CommandError(message, { code: 'profile-unsafe' });
  }
  const { mode = 0 } = (await stat(path).catch(() => undefined)) ?? {};
  if ((mode & OTHERS) === 0) return;
  const octal = (mode & 0o777).toString(8).padStart(4, '0');
  const message = `Other users can access the token in ${path} (mode ${octal}), so the command does not use it. Run \`chmod 600 ${shellWord(path)}\`; if somebody may have read the token, also run ${renewal}.`;
  throw new CommandError(message, { code: 'profile-unsafe' });
}

export async function openProfile(env: NodeJS.ProcessEnv, name: string) {
  // Import the store only here, because scripts with a token in the environment do not need it.
  const { fileTokenStore } = await import('../../node/index.ts');
  const path = profilePath(env, name);
  const store = fileTokenStore(path);
  const flag = profileFlag(name);
  return {
    withLock: store.withLock,
    /**
     * Writes and removes a test file beside the profile. Throws if saving the profile would fail, for example because
     * the disk is full.
     */
    async trySaving() {
      const trial = fileTokenStore(join(dirname(path), `.${name}.trial`));
      await trial.save({ token: 'x'.repeat(TRIAL_BYTES) });
      await trial.save(undefined);
    },
    save: (profile: Profile | undefined) => store.save(profile && { ...profile }),
    async read(): Promise<Profile | undefined> {
      const stored = await store.load();
      if (stored && typeof stored.baseUrl !== 'string') {
        const message = `${path} is not a profile of \`login\`: it contains no address. Choose another --profile.`;
        throw new CommandError(message, { code: 'profile-invalid' });
      }
      await checkPrivate(path, `\`${NAME} tokens revoke${flag}\` and \`${NAME} login${flag}\``);
      if (!stored) return undefined;
      const { token, baseUrl, email, expiresAt, contract } = stored;
      // The client checks the contract.
      const kept = contract as ServiceContract | undefined;
      return { token, baseUrl: String(baseUrl), expiresAt, email: stringOf(email), contract: kept };
    },
  };
}

/**
 * Opens the OAuth tokens of a profile as a token store for the OAuth client. The store also keeps the address of the
 * service.
 */
export async function openOAuthStore(
  env: NodeJS.ProcessEnv,
  name: string,
  baseUrl?: string,
): Promise<TokenStore & { address(): Promise<string | undefined> }> {
  const { fileTokenStore } = await import('../../node/index.ts');
  const store = fileTokenStore(oauthPath(env, name));
  const flag = profileFlag(name);
  await checkPrivate(oauthPath(env, name), `\`${NAME} logout${flag}\` and \`${NAME} login --oauth${flag}\``);
  const address = async (): Promise<string | undefined> => baseUrl ?? stringOf((await store.load())?.baseUrl);
  return {
    load: store.load,
    withLock: store.withLock,
    save: async (token) => store.save(token && { ...token, baseUrl: await address() }),
    address,
  };
}

const stringOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
