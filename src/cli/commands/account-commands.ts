import type { Key } from 'node:readline';
import { AudienceClient, AuthenticationError, type ClientOptions, type Credentials } from '../../index.ts';
import { signInWithBrowser } from '../../node/index.ts';
import { createOAuthClient } from '../../oauth/index.ts';
import { checkAddress, isSameAddress } from '../account-checks.ts';
import { readStdin } from '../body-input.ts';
import { NAME } from '../command-name.ts';
import { OAUTH_REDIRECT, optionsOf } from '../connection.ts';
import type { Context, GlobalFlags } from '../context.ts';
import { readContract } from '../contract-file.ts';
import { EXAMPLE_ADDRESS, HIDDEN } from '../dry-run.ts';
import { messageOf } from '../error-texts.ts';
import { CommandError, EXIT, type ExitCode, usageError } from '../exit-codes.ts';
import {
  chooseProfile,
  oauthPath,
  openOAuthStore,
  openProfile,
  type Profile,
  profileName,
  profileNames,
  profilePath,
} from '../profiles.ts';
import { findSandbox } from '../running-sandboxes.ts';

interface LoginFlags extends GlobalFlags {
  readonly email?: string;
  readonly oauth?: boolean;
  readonly browser: boolean;
  readonly force?: boolean;
}

/** `login`: issues an API token, and keeps it in the profile; with `--oauth`, signs in with the browser. */
export async function login(context: Context, flags: LoginFlags): Promise<ExitCode> {
  const { output } = context;
  const name = profileName(flags.profile);
  const file = await openProfile(name);
  const existing = await file.read();
  const baseUrl = (await addressOf(flags)) ?? existing?.baseUrl ?? (await ask(context, 'Address'));
  checkAddress(baseUrl, flags.allowInsecure);
  if (flags.oauth) return loginWithBrowser(context, flags, baseUrl);
  warnOfEnvironment(output, name);
  const contract =
    (await readContract(flags)) ??
    (existing && isSameAddress(existing.baseUrl, baseUrl) ? existing.contract : undefined);
  const isKept = async (profile: Profile | undefined, email = profile?.email): Promise<boolean> =>
    !flags.force &&
    !!profile &&
    profile.email === email &&
    isSameAddress(profile.baseUrl, baseUrl) &&
    (await isValid({ ...profile, contract }, context));
  if (await isKept(existing, flags.email)) {
    output.note(
      `Already logged in as ${existing?.email} at ${baseUrl}. For another account: --email; for a new token: --force`,
    );
    if (existing && flags.contract !== undefined) {
      await file.withLock(() => file.save({ ...existing, contract }));
      output.note(`The contract of ${flags.contract} is kept with profile "${name}".`);
    }
    await printProfile(context, name, existing);
    return EXIT.done;
  }
  const credentials = await readCredentials(context, flags.email ?? existing?.email);
  // Under the lock, a folder that cannot be written is noticed before a token is issued, and other logins are awaited:
  // an account may have ten tokens.
  const profile = await file.withLock(async () => {
    const current = await file.read();
    const isOther = current?.token !== existing?.token;
    if (isOther && (await isKept(current, credentials.email))) return current;
    await file.trySaving();
    const issued = await issueToken(context, { baseUrl, credentials, contract });
    await file.save(issued).catch((error: unknown) => {
      const advice = 'The token was issued, but cannot be kept: it is one of ten until `tokens revoke`.';
      throw new CommandError(`${messageOf(error)} ${advice}`, { code: 'profile-unwritable', cause: error });
    });
    return issued;
  });
  output.note(`Logged in as ${credentials.email} at ${baseUrl}.`);
  output.note(
    `The token is kept in ${profilePath(name)}, readable only by you (mode 0600), until ${profile?.expiresAt}.`,
  );
  if (existing?.email !== undefined && existing.email !== credentials.email)
    output.note(`It replaces the token of ${existing.email}. To keep both: --profile <name>`);
  await printProfile(context, name, profile);
  return EXIT.done;
}

/** Warns that a login will not be used, because the environment takes precedence over profiles. */
function warnOfEnvironment(output: Context['output'], name: string): void {
  const variable = ['AUDIENCE_TOKEN_COMMAND', 'AUDIENCE_TOKEN'].find((key) => process.env[key]);
  if (variable === undefined) return;
  const message = `${variable} is set: commands use it instead of a profile. Unset it, or pass them --profile ${name}.`;
  output.log('warning', message);
}

/** Prints a profile for programs; people read it in the notes. */
async function printProfile({ output }: Context, name: string, profile: Profile | undefined): Promise<void> {
  if (!output.isJson) return;
  const { baseUrl: base_url, email, expiresAt: expires_at } = profile ?? {};
  await output.object({ profile: name, base_url, email, expires_at, path: profilePath(name) }, { isDone: true });
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

/** Checks a kept token with one request. */
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

async function loginWithBrowser({ output, signal }: Context, flags: LoginFlags, baseUrl: string): Promise<ExitCode> {
  const name = profileName(flags.profile);
  const owner = await (await openOAuthStore(name)).address();
  if (owner && !isSameAddress(owner, baseUrl))
    throw usageError(
      `Profile "${name}" is signed in at ${owner}: choose another --profile, or run \`${NAME} logout\`.`,
    );
  const store = await openOAuthStore(name, baseUrl);
  const { allowInsecure, requestTimeout: timeout } = flags;
  const oauth = createOAuthClient({ baseUrl, redirectUri: OAUTH_REDIRECT, store, allowInsecure, timeout });
  const onUrl = (url: string): void => {
    // Without a browser, the user needs the address even with --quiet.
    if (output.isQuiet && !flags.browser) output.stderr.write(`${url}\n`);
    output.log('info', 'Open this address to sign in:');
    output.log('info', url);
  };
  await signInWithBrowser(oauth, { signal, open: flags.browser, onUrl });
  const path = oauthPath(name);
  output.note(`Signed in. The tokens are kept in ${path}, readable only by you (mode 0600).`);
  output.note(`They are valid for the service's MCP endpoint: \`${NAME} request POST /api/v2/mcp --data …\``);
  if (output.isJson) await output.object({ profile: name, base_url: baseUrl, path }, { isDone: true });
  return EXIT.done;
}

/** `logout`: removes the tokens of a profile from this machine; OAuth tokens are revoked, too. */
export async function logout({ output, signal }: Context, flags: GlobalFlags): Promise<ExitCode> {
  const name = profileName(flags.profile);
  const file = await openProfile(name);
  const profile = await file.read();
  const store = await openOAuthStore(name);
  const baseUrl = await store.address();
  if (baseUrl) {
    const { allowInsecure, requestTimeout: timeout } = flags;
    const oauth = createOAuthClient({ baseUrl, redirectUri: OAUTH_REDIRECT, store, allowInsecure, timeout });
    await oauth.revoke({ signal }).catch((error: unknown) => {
      signal.throwIfAborted();
      output.log('warning', `The OAuth tokens could not be revoked: ${messageOf(error)}`);
    });
    await store.save(undefined);
    output.note('The OAuth tokens are revoked, and removed from this machine.');
  }
  if (profile) {
    await file.withLock(() => file.save(undefined));
    output.note(
      `The token of ${profile.email} is removed from this machine. It stays valid until ${profile.expiresAt};`,
    );
    output.note(`\`${NAME} tokens revoke\` ends all API tokens of an account.`);
  }
  if (!profile && !baseUrl) output.note(`Profile "${name}" is not logged in.`);
  const removed = profile !== undefined || baseUrl !== undefined;
  if (output.isJson) await output.object({ profile: name, removed }, { isDone: true });
  return EXIT.done;
}

/** `whoami`: prints the account that commands use, and checks its token with one request. */
export async function whoami({ output, signal, account, connect }: Context): Promise<ExitCode> {
  const { baseUrl, source, profile, email, expiresAt } = await account();
  const client = await connect();
  await client.webhooks.list({ signal });
  await output.object({
    base_url: baseUrl,
    email: email ?? null,
    profile: profile ?? null,
    token_from: source,
    expires_at: expiresAt ?? null,
  });
  return EXIT.done;
}

/** `profiles list`: prints the profiles, and marks the one that commands use. */
export async function listProfiles({ output }: Context, flags: GlobalFlags): Promise<ExitCode> {
  const current = profileName(flags.profile);
  const rows = profileNames().map(async (name) => {
    const profile = await (await openProfile(name)).read().catch((error: unknown) => {
      output.log('warning', messageOf(error));
      return undefined;
    });
    const { baseUrl = null, email = null, expiresAt = null } = profile ?? {};
    return { name, current: name === current, base_url: baseUrl, email, expires_at: expiresAt };
  });
  const profiles = await Promise.all(rows);
  const marked = profiles.map((row) => ({ ...row, current: row.current ? '*' : '' }));
  await output.list(output.isJson ? profiles : marked, ['current', 'name', 'base_url', 'email', 'expires_at']);
  if (profiles.length === 0) output.note(`No profiles: \`${NAME} login\` keeps one.`);
  if (flags.profile === undefined) warnOfEnvironment(output, current);
  return EXIT.done;
}

/** `profiles use`: makes a profile the default one. */
export async function useProfile({ output }: Context, _: object, [name = '']: readonly string[]): Promise<ExitCode> {
  const names = profileNames();
  if (!names.includes(name)) {
    const message = `There is no profile "${name}". Profiles: ${names.join(', ') || 'none'}.`;
    throw new CommandError(message, { code: 'profile-not-found' });
  }
  await chooseProfile(name);
  output.note(`Commands use profile "${name}" from now on.`);
  warnOfEnvironment(output, name);
  return EXIT.done;
}

interface RevokeFlags extends GlobalFlags {
  readonly email?: string;
  readonly mcp?: boolean;
}

/** `tokens revoke`: revokes every API token of an account, or with `--mcp` every MCP token. */
export async function revokeTokens(context: Context, flags: RevokeFlags): Promise<ExitCode> {
  const { output, signal } = context;
  const file = await openProfile(profileName(flags.profile));
  const profile = await file.read();
  const baseUrl = (await addressOf(flags)) ?? profile?.baseUrl ?? (flags.dryRun ? EXAMPLE_ADDRESS : undefined);
  if (!baseUrl) throw usageError('No address: pass --base-url, or set AUDIENCE_BASE_URL.');
  checkAddress(baseUrl, flags.allowInsecure);
  const credentials = await readCredentials(context, flags.email ?? profile?.email);
  const contract = (await readContract(flags)) ?? profile?.contract;
  await using client = new AudienceClient({ ...optionsOf(flags, output), baseUrl, credentials, contract });
  const { revoked } = flags.mcp
    ? await client.auth.revokeMcpTokens(credentials, { signal })
    : await client.auth.revokeApiTokens(credentials, { signal });
  const isRevoked = profile?.email === credentials.email && isSameAddress(profile.baseUrl, baseUrl);
  if (!flags.mcp && isRevoked) await file.withLock(() => file.save(undefined));
  await output.object({ revoked }, { isDone: true });
  return EXIT.done;
}

/** Returns the address of flags or environment; with `--sandbox`, that of the running one. */
async function addressOf({ baseUrl, sandbox }: GlobalFlags): Promise<string | undefined> {
  const running = sandbox ? await findSandbox() : undefined;
  return baseUrl || running?.url || process.env.AUDIENCE_BASE_URL || undefined;
}

/** Returns email and password: from prompts in a terminal; elsewhere, the password is the first line of standard input. */
async function readCredentials(context: Context, initial: string | undefined): Promise<Credentials> {
  if (context.flags.dryRun) return { email: initial ?? HIDDEN, password: HIDDEN };
  const email = initial ?? (await ask(context, 'Email'));
  if (process.stdin.isTTY) return { email, password: await askPassword(context, `Password of ${email}`) };
  const password = (await readStdin(context.signal)).split(/\r?\n/, 1)[0];
  if (!password) throw usageError('Pass the password on standard input, or run this in a terminal.');
  return { email, password };
}

/** Asks a question in the terminal. */
async function ask({ output, signal }: Context, message: 'Email' | 'Address'): Promise<string> {
  const flag = message === 'Email' ? '--email' : '--base-url';
  if (!process.stdin.isTTY) throw usageError(`Pass ${flag}: standard input is not a terminal.`);
  const { text } = await import('@clack/prompts');
  return answerOf(signal, (signal) => text({ message, output: streamOf(output), signal }));
}

async function askPassword({ output, signal }: Context, message: string): Promise<string> {
  const { password } = await import('@clack/prompts');
  return answerOf(signal, (signal) => password({ message, output: streamOf(output), signal }));
}

// Prompts are for people: standard output is for data.
const streamOf = ({ stderr }: Context['output']): NodeJS.WriteStream => stderr as NodeJS.WriteStream;

/** Returns the response to a prompt. */
async function answerOf(
  signal: AbortSignal,
  prompt: (signal: AbortSignal) => Promise<string | symbol | undefined>,
): Promise<string> {
  // Ctrl-D closes the prompt without a response, which would then never come.
  const closed = new AbortController();
  const onKey = (_: unknown, { ctrl, name }: Key): void => {
    if (ctrl && name === 'd') closed.abort();
  };
  process.stdin.on('keypress', onKey);
  try {
    const answer = await prompt(AbortSignal.any([signal, closed.signal]));
    signal.throwIfAborted();
    if (typeof answer !== 'string' && answer !== undefined)
      throw new CommandError('Cancelled.', { code: 'interrupted' });
    if (!answer) throw usageError('Nothing was entered.');
    return answer;
  } finally {
    process.stdin.off('keypress', onKey);
  }
}
