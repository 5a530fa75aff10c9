import { AudienceClient, AuthenticationError, type ClientOptions, type Credentials } from '../../index.ts';
import { signInWithBrowser } from '../../node/index.ts';
import { createOAuthClient } from '../../oauth/index.ts';
import { readContract } from '../input/contract-file.ts';
import { NAME } from '../terminal/command-name.ts';
import type { Context, GlobalFlags } from '../terminal/context.ts';
import { EXAMPLE_ADDRESS } from '../terminal/dry-run.ts';
import { messageOf } from '../terminal/error-texts.ts';
import { CommandError, EXIT, type ExitCode, usageError } from '../terminal/exit-codes.ts';
import { checkAddress, isSameAddress } from './account-input.ts';
import { OAUTH_REDIRECT, optionsOf } from './connection.ts';
import { addressOf, askFor, readCredentials } from './login-input.ts';
import { warnOfEnvironment } from './profile-commands.ts';
import {
  oauthPath,
  openOAuthStore,
  openProfile,
  type Profile,
  profileFlag,
  profileName,
  profilePath,
} from './profiles.ts';

interface LoginFlags extends GlobalFlags {
  readonly email?: string;
  readonly oauth?: boolean;
  readonly browser: boolean;
  readonly force?: boolean;
}

/** `login`: issues an API token, and stores it in the profile. With `--oauth`, signs in with the browser. */
export async function login(context: Context, flags: LoginFlags): Promise<ExitCode> {
  const { output, env } = context;
  const name = profileName(env, flags.profile);
  const file = await openProfile(env, name);
  const existing = await file.read();
  const baseUrl = (await addressOf(context)) ?? existing?.baseUrl ?? (await askFor(context, 'Address'));
  checkAddress(baseUrl, flags.allowInsecure);
  if (flags.oauth) return loginWithBrowser(context, flags, baseUrl);
  warnOfEnvironment(context, name);
  const contract =
    (await readContract(context)) ??
    (existing && isSameAddress(existing.baseUrl, baseUrl) ? existing.contract : undefined);
  const isKept = async (profile: Profile | undefined, email = profile?.email): Promise<boolean> =>
    !flags.force &&
    !!profile &&
    profile.email === email &&
    isSameAddress(profile.baseUrl, baseUrl) &&
    (await isValid({ ...profile, contract }, context));
  if (await isKept(existing, flags.email)) {
    output.note(
      `Already logged in as ${existing?.email} at ${baseUrl}. To use another account, pass --email. To get a new token, pass --force.`,
    );
    if (existing && flags.contract !== undefined) {
      await file.withLock(() => file.save({ ...existing, contract }));
      output.note(`Profile "${name}" now uses the contract of ${flags.contract}.`);
    }
    await printProfile(context, name, existing);
    return EXIT.done;
  }
  const credentials = await readCredentials(context, flags.email ?? existing?.email);
  // Acquire the lock before issuing a token: this waits for other logins, and fails if the folder is not writable.
  // Otherwise, the login could waste one of the account's ten tokens.
  const profile = await file.withLock(async () => {
    const current = await file.read();
    const isOther = current?.token !== existing?.token;
    if (isOther && (await isKept(current, credentials.email))) return current;
    await file.trySaving();
    const issued = await issueToken(context, { baseUrl, credentials, contract });
    await file.save(issued).catch((error: unknown) => {
      const advice = `The service issued a token, but the command could not store the token. The token counts as one of the account's ten API tokens until \`${NAME} tokens revoke\` revokes all of them.`;
      throw new CommandError(`${messageOf(error)} ${advice}`, { code: 'profile-unwritable', cause: error });
    });
    return issued;
  });
  output.note(`Logged in as ${credentials.email} at ${baseUrl}.`);
  output.note(
    `The token is stored in ${profilePath(env, name)} (mode 0600: only you can read it), and expires at ${profile?.expiresAt}.`,
  );
  if (existing?.email !== undefined && existing.email !== credentials.email)
    output.note(`The new token replaces the token of ${existing.email}. To keep both, pass --profile <name>.`);
  await printProfile(context, name, profile);
  return EXIT.done;
}

/** Prints a profile as JSON. Without `--json`, prints nothing, because the notes contain the profile. */
async function printProfile({ output, env }: Context, name: string, profile: Profile | undefined): Promise<void> {
  if (!output.isJson) return;
  const { baseUrl: base_url, email, expiresAt: expires_at } = profile ?? {};
  await output.object({ profile: name, base_url, email, expires_at, path: profilePath(env, name) }, { isDone: true });
}

async function issueToken(
  { flags, output, signal }: Context,
  {
    baseUrl,
    credentials,
    contract,
  }: Required<Pick<ClientOptions, 'contract'>> & { readonly baseUrl: string; readonly credentials: Credentials },
): Promise<Profile> {
  await using client = new AudienceClient({ ...optionsOf(flags, output), baseUrl, credentials, contract });
  const { token, expires_at } = await client.auth.createApiToken(credentials, { signal });
  return { token, baseUrl, email: credentials.email, expiresAt: expires_at, contract };
}

/** Checks a stored token with one request. */
async function isValid({ baseUrl, token, contract }: Profile, { flags, output, signal }: Context): Promise<boolean> {
  await using client = new AudienceClient({ ...optionsOf(flags, output), baseUrl, token, contract });
  try {
    await client.webhooks.list({ signal });
    return true;
  } catch (error) {
    if (AuthenticationError.isInstance(error)) return false;
    throw error;
  }
}

async function loginWithBrowser(
  { output, signal, env }: Context,
  flags: LoginFlags,
  baseUrl: string,
): Promise<ExitCode> {
  const name = profileName(env, flags.profile);
  const owner = await (await openOAuthStore(env, name)).address();
  if (owner && !isSameAddress(owner, baseUrl))
    throw usageError(
      `Profile "${name}" is signed in at ${owner}: choose another --profile, or run \`${NAME} logout${profileFlag(name)}\`.`,
    );
  const store = await openOAuthStore(env, name, baseUrl);
  const { allowInsecure, requestTimeout: timeout } = flags;
  const oauth = createOAuthClient({ baseUrl, redirectUri: OAUTH_REDIRECT, store, allowInsecure, timeout });
  const onUrl = (url: string): void => {
    // Print the address even with `--quiet`: the browser opens only if the optional package `open` is installed.
    if (output.isQuiet) output.stderr.write(`${url}\n`);
    output.log('info', 'Open this address to sign in:');
    output.log('info', url);
  };
  await signInWithBrowser(oauth, { signal, open: flags.browser, onUrl });
  const path = oauthPath(env, name);
  output.note(`Signed in. The tokens are stored in ${path} (mode 0600: only you can read them).`);
  output.note(
    `The tokens are valid only for the service's MCP endpoint, for example: \`${NAME} request POST /api/v2/mcp --data …\``,
  );
  if (output.isJson) await output.object({ profile: name, base_url: baseUrl, path }, { isDone: true });
  return EXIT.done;
}

/** `logout`: removes the tokens of a profile from this machine, and revokes OAuth tokens. */
export async function logout({ output, signal, env }: Context, flags: GlobalFlags): Promise<ExitCode> {
  const name = profileName(env, flags.profile);
  const file = await openProfile(env, name);
  const profile = await file.read();
  const store = await openOAuthStore(env, name);
  const baseUrl = await store.address();
  if (baseUrl) {
    const { allowInsecure, requestTimeout: timeout } = flags;
    const oauth = createOAuthClient({ baseUrl, redirectUri: OAUTH_REDIRECT, store, allowInsecure, timeout });
    const failure = await oauth.revoke({ signal }).then(
      () => undefined,
      (error: unknown) => messageOf(error),
    );
    signal.throwIfAborted();
    await store.save(undefined);
    output.note(`The OAuth tokens are ${failure === undefined ? 'revoked, and ' : ''}removed from this machine.`);
    if (failure !== undefined)
      output.log(
        'warning',
        `The OAuth tokens could not be revoked: ${failure} End the connection in the service's console, because the tokens may still be valid.`,
      );
  }
  if (profile) {
    await file.withLock(() => file.save(undefined));
    output.note(
      `The token of ${profile.email} is removed from this machine. The token stays valid until ${profile.expiresAt}.`,
    );
    output.note(`To revoke all API tokens of the account, run \`${NAME} tokens revoke\`.`);
  }
  if (!profile && !baseUrl) output.note(`Profile "${name}" is not logged in.`);
  const removed = profile !== undefined || baseUrl !== undefined;
  if (output.isJson) await output.object({ profile: name, removed }, { isDone: true });
  return EXIT.done;
}

interface RevokeFlags extends GlobalFlags {
  readonly email?: string;
  readonly mcp?: boolean;
}

/** `tokens revoke`: revokes all API tokens of an account. With `--mcp`, revokes all MCP tokens. */
export async function revokeTokens(context: Context, flags: RevokeFlags): Promise<ExitCode> {
  const { output, signal, env } = context;
  const file = await openProfile(env, profileName(env, flags.profile));
  const profile = await file.read();
  const baseUrl = (await addressOf(context)) ?? profile?.baseUrl ?? (flags.dryRun ? EXAMPLE_ADDRESS : undefined);
  if (!baseUrl) throw usageError('No service address is set: pass --base-url, or set AUDIENCE_BASE_URL.');
  checkAddress(baseUrl, flags.allowInsecure);
  const credentials = await readCredentials(context, flags.email ?? profile?.email);
  const contract = (await readContract(context)) ?? profile?.contract;
  await using client = new AudienceClient({ ...optionsOf(flags, output), baseUrl, credentials, contract });
  const { revoked } = flags.mcp
    ? await client.auth.revokeMcpTokens(credentials, { signal })
    : await client.auth.revokeApiTokens(credentials, { signal });
  const isRevoked = profile?.email === credentials.email && isSameAddress(profile.baseUrl, baseUrl);
  if (!flags.mcp && isRevoked) await file.withLock(() => file.save(undefined));
  await output.object({ revoked }, { isDone: true });
  return EXIT.done;
}
