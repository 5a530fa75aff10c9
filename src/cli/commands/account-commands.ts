import { AudienceClient, AuthenticationError, type Credentials } from '../../index.ts';
import { fileTokenStore, signInWithBrowser } from '../../node/index.ts';
import { createOAuthClient } from '../../oauth/index.ts';
import { readStdin } from '../body-input.ts';
import { findAccount, OAUTH_REDIRECT } from '../connection.ts';
import type { Context, GlobalFlags } from '../context.ts';
import { CommandError, EXIT, type ExitCode, usageError } from '../exit-codes.ts';
import { oauthPath, profileName, profilePath, readProfile } from '../profiles.ts';

interface LoginFlags extends GlobalFlags {
  readonly email?: string;
  readonly oauth?: boolean;
  readonly browser: boolean;
  readonly force?: boolean;
}

/** `login`: issues an API token, and keeps it in the profile; with `--oauth`, signs in with the browser. */
export async function login(context: Context, flags: LoginFlags): Promise<ExitCode> {
  const { output, signal } = context;
  const name = profileName(flags.profile);
  const store = fileTokenStore(profilePath(name));
  const existing = await readProfile(store);
  const baseUrl =
    flags.baseUrl || process.env.AUDIENCE_BASE_URL || existing?.baseUrl || (await ask(context, 'Address'));
  if (flags.oauth) return loginWithBrowser(context, flags, baseUrl);
  if (existing && !flags.force && existing.baseUrl === baseUrl && (await isValid(existing.token, baseUrl, flags))) {
    output.note(
      `Already logged in as ${existing.email} at ${baseUrl}, until ${existing.expiresAt}. Another account: --force`,
    );
    return EXIT.done;
  }
  const credentials = await readCredentials(context, flags.email ?? existing?.email);
  await using client = new AudienceClient({ baseUrl, credentials, allowInsecure: flags.allowInsecure });
  // Under the lock, a folder that cannot be written is noticed before a token is issued: an account may have ten.
  const expiresAt = await store.withLock(async () => {
    const { token, expires_at } = await client.auth.createApiToken(credentials, { signal });
    await store.save({ token, expiresAt: expires_at, baseUrl, email: credentials.email });
    return expires_at;
  });
  output.note(`Logged in as ${credentials.email} at ${baseUrl}.`);
  output.note(`The token is kept in ${profilePath(name)}, readable only by you (mode 0600), until ${expiresAt}.`);
  return EXIT.done;
}

async function loginWithBrowser({ output, signal }: Context, flags: LoginFlags, baseUrl: string): Promise<ExitCode> {
  const path = oauthPath(profileName(flags.profile));
  const oauth = createOAuthClient({
    baseUrl,
    redirectUri: OAUTH_REDIRECT,
    store: fileTokenStore(path),
    allowInsecure: flags.allowInsecure,
  });
  const onUrl = (url: string): void => void output.stderr.write(`Open this address to sign in:\n  ${url}\n`);
  await signInWithBrowser(oauth, { signal, open: flags.browser, onUrl });
  output.note(`Signed in. The tokens are kept in ${path}, readable only by you (mode 0600).`);
  output.note("They are valid for the service's MCP endpoint: `audience-activation request POST /api/v2/mcp --data …`");
  return EXIT.done;
}

async function isValid(token: string, baseUrl: string, { allowInsecure }: GlobalFlags): Promise<boolean> {
  await using client = new AudienceClient({ baseUrl, token, allowInsecure });
  try {
    await client.webhooks.list();
    return true;
  } catch (error) {
    if (AuthenticationError.isInstance(error)) return false;
    throw error;
  }
}

/** `logout`: removes the tokens of a profile from this machine; OAuth tokens are revoked, too. */
export async function logout({ output, signal }: Context, flags: GlobalFlags): Promise<ExitCode> {
  const name = profileName(flags.profile);
  const store = fileTokenStore(profilePath(name));
  const profile = await readProfile(store);
  const oauthStore = fileTokenStore(oauthPath(name));
  const hasOAuth = (await oauthStore.load()) !== undefined;
  const baseUrl = flags.baseUrl || process.env.AUDIENCE_BASE_URL || profile?.baseUrl;
  if (hasOAuth && baseUrl) {
    const oauth = createOAuthClient({ baseUrl, redirectUri: OAUTH_REDIRECT, store: oauthStore });
    await oauth.revoke({ signal }).catch((error: unknown) => {
      signal.throwIfAborted();
      output.warn(`The OAuth tokens could not be revoked: ${error instanceof Error ? error.message : error}`);
    });
  }
  if (hasOAuth) await oauthStore.save(undefined);
  if (profile) {
    await store.withLock(() => store.save(undefined));
    output.note(
      `The token of ${profile.email} is removed from this machine. It stays valid until ${profile.expiresAt};`,
    );
    output.note('`audience-activation tokens revoke` ends all API tokens of an account.');
  }
  if (!profile && !hasOAuth) output.note(`Profile "${name}" is not logged in.`);
  return EXIT.done;
}

/** `whoami`: prints the account that commands use, and checks its token with one request. */
export async function whoami({ output, signal, connect }: Context, flags: GlobalFlags): Promise<ExitCode> {
  const { baseUrl, source, profile, email, expiresAt } = await findAccount(flags, output, signal);
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

interface RevokeFlags extends GlobalFlags {
  readonly email?: string;
  readonly mcp?: boolean;
}

/** `tokens revoke`: revokes every API token of an account, or with `--mcp` every MCP token. */
export async function revokeTokens(context: Context, flags: RevokeFlags): Promise<ExitCode> {
  const { output, signal } = context;
  const store = fileTokenStore(profilePath(profileName(flags.profile)));
  const profile = await readProfile(store);
  const baseUrl = flags.baseUrl || process.env.AUDIENCE_BASE_URL || profile?.baseUrl;
  if (!baseUrl) throw usageError('No address: pass --base-url, or set AUDIENCE_BASE_URL.');
  const credentials = await readCredentials(context, flags.email ?? profile?.email);
  await using client = new AudienceClient({ baseUrl, credentials, allowInsecure: flags.allowInsecure });
  const revoke = flags.mcp
    ? client.auth.revokeMcpTokens(credentials, { signal })
    : client.auth.revokeApiTokens(credentials, { signal });
  const { revoked } = await revoke;
  if (!flags.mcp && profile?.email === credentials.email) await store.withLock(() => store.save(undefined));
  await output.object({ revoked });
  return EXIT.done;
}

/** Returns email and password: from prompts in a terminal; elsewhere, the password is the first line of standard input. */
async function readCredentials(context: Context, initial: string | undefined): Promise<Credentials> {
  const email = initial ?? (await ask(context, 'Email'));
  if (process.stdin.isTTY) return { email, password: await askPassword(context, `Password of ${email}`) };
  const password = (await readStdin(context.signal)).split(/\r?\n/, 1)[0];
  if (!password) throw usageError('Pass the password on standard input, or run this in a terminal.');
  return { email, password };
}

/** Asks a question in the terminal. */
async function ask({ output, signal }: Context, message: string): Promise<string> {
  if (!process.stdin.isTTY)
    throw usageError(`Pass --${message === 'Email' ? 'email' : 'base-url'}: there is no terminal to ask in.`);
  const { text } = await import('@clack/prompts');
  return answerOf(await text({ message, output: streamOf(output), signal }));
}

async function askPassword({ output, signal }: Context, message: string): Promise<string> {
  const { password } = await import('@clack/prompts');
  return answerOf(await password({ message, output: streamOf(output), signal }));
}

// Prompts are for people: standard output is for data.
const streamOf = ({ stderr }: Context['output']): NodeJS.WriteStream => stderr as NodeJS.WriteStream;

function answerOf(answer: string | symbol | undefined): string {
  if (typeof answer === 'string' && answer !== '') return answer;
  throw new CommandError('Cancelled.', { exitCode: EXIT.interrupted });
}
