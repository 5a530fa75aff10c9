import { AudienceClient, type ClientOptions, type RequestEvent, type ServiceContract, TimeoutError } from '../index.ts';
import { checkAddress, checkToken, isSameAddress } from './account-checks.ts';
import { NAME } from './command-name.ts';
import type { Account, GlobalFlags } from './context.ts';
import { readContract } from './contract-file.ts';
import { dryRunOptions, EXAMPLE_ADDRESS, HIDDEN } from './dry-run.ts';
import { SIGN_IN } from './error-texts.ts';
import { CommandError, usageError } from './exit-codes.ts';
import type { Output } from './output.ts';
import {
  DEFAULT_PROFILE,
  oauthPath,
  openOAuthStore,
  openProfile,
  type Profile,
  profileName,
  profilePath,
} from './profiles.ts';
import { findSandbox } from './running-sandboxes.ts';
import { commandToken } from './token-command.ts';
import { waitNotices } from './wait-notices.ts';

/** Where the browser returns to after a sign-in. The port is chosen then. */
export const OAUTH_REDIRECT = 'http://127.0.0.1/callback';

/** Duration of a job of a sandbox in this process. */
const SANDBOX_JOB_MS = 3_000;

/** Time without a response after which it is reported. */
const SILENCE_MS = 5_000;

/** Duration of an attempt without --request-timeout, as of every client. */
const TIMEOUT_MS = 30_000;

/**
 * Returns the account of a command. Flags take precedence over the environment, and the environment over profiles. A
 * token is used with the address only that it was set with.
 *
 * @throws {CommandError} if no address or no token is set, or they do not belong together.
 */
export async function findAccount(flags: GlobalFlags, output: Output, signal: AbortSignal): Promise<Account> {
  const contract = await readContract(flags);
  const account = await findLogin(flags, output, signal, contract);
  return contract ? { ...account, contract } : account;
}

async function findLogin(
  flags: GlobalFlags,
  output: Output,
  signal: AbortSignal,
  contract: ServiceContract | undefined,
): Promise<Account> {
  if (flags.sandbox) return sandboxAccount(flags, output, contract);
  const env = environmentOf(flags);
  const address = flags.baseUrl || env.AUDIENCE_BASE_URL;
  if (address) checkAddress(address, flags.allowInsecure);
  const command = flags.tokenCommand || env.AUDIENCE_TOKEN_COMMAND;
  if (!command && !env.AUDIENCE_TOKEN) return profileAccount(flags, address, output);
  const source = command ? 'token command' : 'AUDIENCE_TOKEN';
  if (!address)
    throw usageError(`The address is missing that ${source} belongs to: pass --base-url, or set AUDIENCE_BASE_URL.`);
  if (!flags.tokenCommand && env.AUDIENCE_BASE_URL && !isSameAddress(address, env.AUDIENCE_BASE_URL))
    throw foreignToken(`The token of the environment (${source})`, env.AUDIENCE_BASE_URL, address);
  if (command) {
    const advice = 'The command must print another one.';
    return { baseUrl: address, token: commandToken(command, signal), source, advice };
  }
  const { AUDIENCE_TOKEN: token = '' } = env;
  checkToken(token, source);
  const advice = `Set it to another one, or unset it and log in with \`${NAME} login\`.`;
  return { baseUrl: address, token, source, advice };
}

/** Returns the environment that applies: none if a profile is chosen by flag, which takes precedence over it. */
const environmentOf = ({ profile }: GlobalFlags): NodeJS.ProcessEnv => (profile === undefined ? process.env : {});

/** Returns the account that `login` has kept. */
async function profileAccount(flags: GlobalFlags, address: string | undefined, output: Output): Promise<Account> {
  const name = profileName(flags.profile);
  const profile = await (await openProfile(name)).read();
  if (!profile && flags.dryRun) {
    if (!address) output.note(`No address is set: ${EXAMPLE_ADDRESS} stands for it.`);
    return { baseUrl: address ?? EXAMPLE_ADDRESS, token: HIDDEN, source: 'none', advice: '' };
  }
  const login = `${NAME} login${name === DEFAULT_PROFILE ? '' : ` --profile ${name}`}`;
  if (!profile) {
    const message = `Not logged in: run \`${login}\`, set AUDIENCE_BASE_URL and AUDIENCE_TOKEN, or try it with --sandbox.`;
    throw new CommandError(message, { code: 'not-logged-in' });
  }
  const { token, baseUrl, email, expiresAt, contract }: Profile = profile;
  if (address && !isSameAddress(address, baseUrl))
    throw foreignToken(`The token of profile "${name}"`, baseUrl, address);
  checkAddress(baseUrl, flags.allowInsecure);
  checkToken(token, profilePath(name));
  const advice = `Log in again with \`${login}\`.`;
  return { baseUrl, token, source: profilePath(name), advice, profile: name, email, expiresAt, contract };
}

const foreignToken = (token: string, owner: string, address: string): CommandError =>
  new CommandError(`${token} is for ${owner}, and is not sent to ${address}. Log in there, or set its token.`, {
    code: 'token-of-other-address',
  });

/** Returns a client for an account. Its warnings go to standard error. */
export function createClient(account: Account, flags: GlobalFlags, output: Output): AudienceClient {
  const { baseUrl, fetch, contract, allowInsecure = flags.allowInsecure } = account;
  const token = flags.dryRun ? HIDDEN : account.token;
  output.token = account;
  return new AudienceClient({ fetch, contract, ...optionsOf(flags, output), baseUrl, token, allowInsecure });
}

/** Returns a client for the service's MCP endpoint, with AUDIENCE_MCP_TOKEN or the OAuth tokens of a profile. */
export async function createMcpClient(flags: GlobalFlags, output: Output): Promise<AudienceClient> {
  const env = environmentOf(flags);
  const name = profileName(flags.profile);
  const store = await openOAuthStore(name);
  const { AUDIENCE_MCP_TOKEN: token } = env;
  const owner = token ? env.AUDIENCE_BASE_URL : await store.address();
  const address = flags.baseUrl || env.AUDIENCE_BASE_URL || owner;
  const baseUrl = address || (flags.dryRun ? EXAMPLE_ADDRESS : undefined);
  if (!baseUrl) {
    const message = `Not signed in: run \`${NAME} login --oauth\`, or set AUDIENCE_BASE_URL and AUDIENCE_MCP_TOKEN.`;
    throw new CommandError(message, { code: 'not-logged-in' });
  }
  checkAddress(baseUrl, flags.allowInsecure);
  const source = token ? 'AUDIENCE_MCP_TOKEN' : oauthPath(name);
  if (owner && !isSameAddress(owner, baseUrl)) throw foreignToken(`The token of ${source}`, owner, baseUrl);
  output.token = { source, advice: SIGN_IN };
  const options = { ...optionsOf(flags, output), baseUrl, contract: await readContract(flags) };
  if (flags.dryRun) return new AudienceClient({ ...options, mcpToken: HIDDEN });
  if (token) {
    checkToken(token, source);
    return new AudienceClient({ ...options, mcpToken: token });
  }
  const { createOAuthClient } = await import('../oauth/index.ts');
  const { logger, allowInsecure, timeout } = options;
  const mcpToken = createOAuthClient({ baseUrl, store, redirectUri: OAUTH_REDIRECT, logger, allowInsecure, timeout });
  return new AudienceClient({ ...options, mcpToken });
}

/** Returns the options that every client of the command has. */
export function optionsOf(flags: GlobalFlags, output: Output) {
  const warn = (message: string): void => output.log('warning', message);
  const debug = (message: string): void => output.log('debug', message);
  const silence = noticeOfSilence(flags, output);
  const waits = waitNotices(output);
  return {
    logger: { error: warn, warn, info: debug, debug },
    logLevel: flags.verbose ? 'debug' : undefined,
    maxRetries: flags.maxRetries,
    timeout: flags.requestTimeout,
    allowInsecure: flags.allowInsecure,
    ...silence,
    ...waits,
    onRetry(event) {
      silence.onRetry(event);
      waits.onRetry(event);
    },
    onEnd(event) {
      silence.onEnd(event);
      waits.onEnd(event);
    },
    ...(flags.dryRun && dryRunOptions(output)),
  } as const satisfies ClientOptions;
}

/** Returns hooks that report once that the service does not respond. */
function noticeOfSilence({ requestTimeout = TIMEOUT_MS, deadline }: GlobalFlags, output: Output) {
  const timers = new Map<string, NodeJS.Timeout>();
  const stop = ({ callId }: RequestEvent): void => {
    clearTimeout(timers.get(callId));
    timers.delete(callId);
  };
  let isReported = false;
  const report = (baseUrl: string): void => {
    if (isReported) return;
    isReported = true;
    const entire =
      deadline === undefined ? '--deadline limits the entire command' : `the command after ${deadline / 1_000} s`;
    const message = `No response from ${baseUrl} for ${SILENCE_MS / 1_000} s; still waiting. An attempt ends after ${requestTimeout / 1_000} s (--request-timeout), ${entire}.`;
    output.log('info', message);
  };
  return {
    onRequest({ callId, baseUrl, bucket }) {
      // Transfers have no bucket, and show their progress.
      if (bucket === undefined || timers.has(callId)) return;
      timers.set(callId, setTimeout(() => report(baseUrl), SILENCE_MS).unref());
    },
    onResponse: stop,
    onRetry(event) {
      // After a refusal it is the client that waits; a service that is silent in one attempt may be so in the next.
      if (!TimeoutError.isInstance(event.error)) stop(event);
    },
    onEnd: stop,
  } as const satisfies ClientOptions;
}

/** Returns the account of a sandbox that runs already, or of a new one in this process. */
async function sandboxAccount(
  flags: GlobalFlags,
  output: Output,
  contract: ServiceContract | undefined,
): Promise<Account> {
  const running = await findSandbox({ baseUrl: flags.baseUrl });
  if (running) {
    output.note(`Using the sandbox at ${running.url}.`);
    // It may be known by a name of this machine.
    const { url: baseUrl, token, contract } = running;
    return { baseUrl, token, contract, source: 'sandbox', advice: '', allowInsecure: true };
  }
  if (flags.dryRun) return { baseUrl: 'http://localhost', token: HIDDEN, source: 'sandbox', advice: '' };
  output.note(`Using a new sandbox, which ends with this command. \`${NAME} sandbox\` runs one that stays.`);
  const { createSandbox } = await import('../sandbox/index.ts');
  const sandbox = createSandbox({ jobs: { duration: SANDBOX_JOB_MS }, contract });
  const token = sandbox.accounts.create({ email: 'dev@example.com', password: 'sandbox' }).token('api');
  return {
    baseUrl: 'http://localhost',
    token,
    source: 'sandbox',
    advice: '',
    fetch: sandbox.fetch,
    endsWithCommand: true,
  };
}
