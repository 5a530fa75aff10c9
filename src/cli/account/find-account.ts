import { readContract } from '../input/contract-file.ts';
import { NAME } from '../terminal/command-name.ts';
import type { Account, Context } from '../terminal/context.ts';
import { EXAMPLE_ADDRESS, HIDDEN } from '../terminal/dry-run.ts';
import { CommandError, usageError } from '../terminal/exit-codes.ts';
import { checkAddress, checkToken, isSameAddress } from './account-input.ts';
import { openProfile, type Profile, profileFlag, profileName, profilePath } from './profiles.ts';
import { findSandbox } from './running-sandboxes.ts';
import { commandToken } from './token-command.ts';

/**
 * Returns the account of a command. Flags take precedence over the environment, and the environment over profiles.
 * Combines a token only with the address for which it was set.
 *
 * @returns `undefined` with `--sandbox` if no sandbox is running.
 * @throws {CommandError} if no address or no token is set, or they do not belong together.
 */
export async function findAccount(context: Context): Promise<Account | undefined> {
  const contract = await readContract(context);
  const account = await (context.flags.sandbox ? sandboxAccount(context) : loginAccount(context));
  return account && contract ? { ...account, contract } : account;
}

/** Returns the account of flags, environment or profile. */
async function loginAccount(context: Context): Promise<Account> {
  const { flags } = context;
  const env = environmentOf(context);
  const address = flags.baseUrl || env.AUDIENCE_BASE_URL;
  if (address) checkAddress(address, flags.allowInsecure);
  const command = flags.tokenCommand || env.AUDIENCE_TOKEN_COMMAND;
  if (!command && !env.AUDIENCE_TOKEN) return profileAccount(context, address);
  const source = command ? 'token command' : 'AUDIENCE_TOKEN';
  if (!address) throw usageError('No service address is set for the token: pass --base-url, or set AUDIENCE_BASE_URL.');
  if (!flags.tokenCommand && env.AUDIENCE_BASE_URL && !isSameAddress(address, env.AUDIENCE_BASE_URL))
    throw foreignToken(`The token of ${command ? 'AUDIENCE_TOKEN_COMMAND' : source}`, env.AUDIENCE_BASE_URL, address);
  if (command) {
    const advice = 'The token command must print another token.';
    return { baseUrl: address, token: commandToken(command, context), source, advice };
  }
  const { AUDIENCE_TOKEN: token = '' } = env;
  checkToken(token, source);
  const advice = `Set AUDIENCE_TOKEN to another token, or unset the variable and log in with \`${NAME} login\`.`;
  return { baseUrl: address, token, source, advice };
}

/** Returns the environment variables, or none with `--profile`, which takes precedence. */
export const environmentOf = ({ flags, env }: Pick<Context, 'flags' | 'env'>): NodeJS.ProcessEnv =>
  flags.profile === undefined ? env : {};

/** Returns the account that `login` stored. */
async function profileAccount({ flags, output, env }: Context, address: string | undefined): Promise<Account> {
  const name = profileName(env, flags.profile);
  const profile = await (await openProfile(env, name)).read();
  if (!profile && flags.dryRun) {
    if (!address)
      output.note(`No service address is set, so the output contains the example address ${EXAMPLE_ADDRESS}.`);
    return { baseUrl: address ?? EXAMPLE_ADDRESS, token: HIDDEN, source: 'none', advice: '' };
  }
  const login = `${NAME} login${profileFlag(name)}`;
  if (!profile) {
    const message = `Not logged in: run \`${login}\`, set AUDIENCE_BASE_URL and AUDIENCE_TOKEN, or use a sandbox with --sandbox.`;
    throw new CommandError(message, { code: 'not-logged-in' });
  }
  const { token, baseUrl, email, expiresAt, contract }: Profile = profile;
  if (address && !isSameAddress(address, baseUrl))
    throw foreignToken(`The token of profile "${name}"`, baseUrl, address);
  checkAddress(baseUrl, flags.allowInsecure);
  checkToken(token, profilePath(env, name));
  const advice = `Log in again with \`${login}\`.`;
  return { baseUrl, token, source: profilePath(env, name), advice, profile: name, email, expiresAt, contract };
}

/** Returns the error for a token that belongs to another address. */
export const foreignToken = (token: string, owner: string, address: string): CommandError =>
  new CommandError(
    `${token} belongs to ${owner}, so the command does not send the token to ${address}. Log in at ${address} with another --profile and pass that profile, or set a token for that address.`,
    {
      code: 'token-of-other-address',
    },
  );

async function sandboxAccount({ flags, output, env }: Context): Promise<Account | undefined> {
  const running = await findSandbox(env, { baseUrl: flags.baseUrl });
  if (running) {
    output.note(`Using the sandbox at ${running.url}.`);
    // Allow `http:`, because the address may contain a name of this machine that is not loopback.
    const { url: baseUrl, token, contract } = running;
    return { baseUrl, token, contract, source: 'sandbox', advice: '', allowInsecure: true };
  }
  return flags.dryRun ? { baseUrl: 'http://localhost', token: HIDDEN, source: 'sandbox', advice: '' } : undefined;
}
