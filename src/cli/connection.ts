import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { AudienceClient, type ClientOptions, type TokenSource } from '../index.ts';
import type { GlobalFlags } from './context.ts';
import { CommandError, EXIT, usageError } from './exit-codes.ts';
import type { Output } from './output.ts';
import { DEFAULT_PROFILE, oauthPath, type Profile, profileName, profilePath, readProfile } from './profiles.ts';
import { findSandbox } from './running-sandboxes.ts';

/** Address and token of the account that a command uses, with where they come from. */
export interface Account {
  readonly baseUrl: string;
  readonly token: Exclude<ClientOptions['token'], undefined>;
  /** Where the token comes from, for people: `AUDIENCE_TOKEN`. */
  readonly source: string;
  readonly profile?: string;
  readonly email?: string | undefined;
  readonly expiresAt?: string | undefined;
  /** Handles the requests of a sandbox in this process. */
  readonly fetch?: ClientOptions['fetch'];
}

/** Where the browser returns to after a sign-in. The port is chosen then. */
export const OAUTH_REDIRECT = 'http://127.0.0.1/callback';

/** Duration of a job of a sandbox in this process. */
const SANDBOX_JOB_MS = 3_000;

/** A `Retry-After` of this length is announced. */
const ANNOUNCED_WAIT_MS = 2_000;

/**
 * Returns the account of a command. Flags take precedence over the environment, and the environment over profiles.
 *
 * @throws {CommandError} if no address or no token is set.
 */
export async function findAccount(flags: GlobalFlags, output: Output, signal: AbortSignal): Promise<Account> {
  if (flags.sandbox) return sandboxAccount(output);
  const { baseUrl, profile, env } = await findAddress(flags);
  const command = flags.tokenCommand ?? env.AUDIENCE_TOKEN_COMMAND;
  if (command) return { baseUrl, token: commandToken(command, signal), source: 'token command' };
  if (env.AUDIENCE_TOKEN) return { baseUrl, token: env.AUDIENCE_TOKEN, source: 'AUDIENCE_TOKEN' };
  const name = profileName(flags.profile);
  if (!profile) throw notLoggedIn(name);
  if (originOf(profile.baseUrl) !== originOf(baseUrl)) {
    const message = `The token of profile "${name}" is for ${originOf(profile.baseUrl)}, and is not sent to ${originOf(baseUrl)}. Log in there, or set AUDIENCE_TOKEN.`;
    throw new CommandError(message, { exitCode: EXIT.authentication });
  }
  const { token, email, expiresAt } = profile;
  return { baseUrl, token, source: profilePath(name), profile: name, email, expiresAt };
}

function notLoggedIn(profile: string): CommandError {
  const which = profile === DEFAULT_PROFILE ? '' : ` --profile ${profile}`;
  const message = `Not logged in: run \`audience-activation login${which}\`, or set AUDIENCE_BASE_URL and AUDIENCE_TOKEN.`;
  return new CommandError(message, { exitCode: EXIT.authentication });
}

/** Returns the address of the service, with the profile if one is used, and the environment that applies. */
async function findAddress(flags: GlobalFlags) {
  // A profile that is chosen by flag takes precedence over the environment.
  const env: NodeJS.ProcessEnv = flags.profile === undefined ? process.env : {};
  const address = flags.baseUrl || env.AUDIENCE_BASE_URL;
  const hasToken = flags.tokenCommand || env.AUDIENCE_TOKEN_COMMAND || env.AUDIENCE_TOKEN;
  const profile = address && hasToken ? undefined : await loadProfile(profileName(flags.profile));
  const baseUrl = address || profile?.baseUrl;
  if (baseUrl) return { baseUrl, profile, env };
  if (hasToken) throw usageError('The address of the service is missing: pass --base-url, or set AUDIENCE_BASE_URL.');
  throw notLoggedIn(profileName(flags.profile));
}

async function loadProfile(name: string): Promise<Profile | undefined> {
  // Imported only here, because scripts with a token in the environment have no use for it.
  const { fileTokenStore } = await import('../node/index.ts');
  return readProfile(fileTokenStore(profilePath(name)));
}

/** Returns a client for an account. Its warnings go to standard error. */
export function createClient(account: Account, flags: GlobalFlags, output: Output): AudienceClient {
  const { baseUrl, token, fetch } = account;
  const log = (message: string): void => output.warn(message);
  const options: ClientOptions = {
    baseUrl,
    token,
    fetch,
    logger: { error: log, warn: log, info: (line) => output.note(line), debug: (line) => output.note(line) },
    logLevel: flags.verbose ? 'debug' : 'warn',
    onRetry({ wait, operation, error }) {
      if (wait < ANNOUNCED_WAIT_MS || flags.verbose) return;
      output.note(`${operation}: trying again in ${Math.ceil(wait / 1_000)} s (${error.message})`);
    },
    maxRetries: flags.maxRetries,
    allowInsecure: flags.allowInsecure,
  };
  return new AudienceClient(options);
}

/** Returns a client for the service's MCP endpoint, with AUDIENCE_MCP_TOKEN or the OAuth tokens of a profile. */
export async function createMcpClient(flags: GlobalFlags, output: Output): Promise<AudienceClient> {
  const [{ createOAuthClient }, { fileTokenStore }] = await Promise.all([
    import('../oauth/index.ts'),
    import('../node/index.ts'),
  ]);
  const { baseUrl, env } = await findAddress(flags);
  const store = fileTokenStore(oauthPath(profileName(flags.profile)));
  const log = (message: string): void => output.warn(message);
  const logger = { error: log, warn: log, info: log, debug: log };
  const { allowInsecure } = flags;
  const mcpToken =
    env.AUDIENCE_MCP_TOKEN || createOAuthClient({ baseUrl, store, redirectUri: OAUTH_REDIRECT, logger, allowInsecure });
  return new AudienceClient({ baseUrl, mcpToken, logger, allowInsecure });
}

/** Returns the origin of a URL; the text itself if it is none, so that the client names the mistake. */
const originOf = (url: string): string => (URL.canParse(url) ? new URL(url).origin : url);

/** Returns the account of a sandbox that runs already, or of a new one in this process. */
async function sandboxAccount(output: Output): Promise<Account> {
  const running = await findSandbox();
  if (running) {
    output.note(`Using the sandbox at ${running.url}.`);
    return { baseUrl: running.url, token: running.token, source: 'sandbox' };
  }
  output.note('Using a new sandbox, which ends with this command. `audience-activation sandbox` runs one that stays.');
  const { createSandbox } = await import('../sandbox/index.ts');
  const sandbox = createSandbox({ jobs: { duration: SANDBOX_JOB_MS } });
  const token = sandbox.accounts.create({ email: 'dev@example.com', password: 'sandbox' }).token('api');
  return { baseUrl: 'http://localhost', token, source: 'sandbox', fetch: sandbox.fetch };
}

/** Creates a token source that runs a command for the token, once, and again if the service refuses the token. */
function commandToken(command: string, signal: AbortSignal): TokenSource {
  let current: Promise<string> | undefined;
  return {
    async get({ rejected }) {
      if (!current || (rejected !== undefined && (await current) === rejected)) current = runForToken(command, signal);
      return current;
    },
  };
}

/** Runs a command, and returns the first line that it prints. The line is never shown. */
async function runForToken(command: string, signal: AbortSignal): Promise<string> {
  const child = spawn(command, { shell: true, stdio: ['ignore', 'pipe', 'inherit'], signal });
  const exited = new Promise<number | null>((resolve, reject) => child.once('error', reject).once('close', resolve));
  const [output, code] = await Promise.all([text(child.stdout), exited]);
  const token = output.split('\n', 1)[0]?.trim();
  if (code === 0 && token) return token;
  const problem = code === 0 ? 'printed nothing' : `failed with exit code ${code}`;
  throw new CommandError(`The token command ${problem}.`, { exitCode: EXIT.authentication });
}
