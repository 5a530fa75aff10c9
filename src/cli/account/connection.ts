import { AudienceClient, type ClientOptions } from '../../index.ts';
import { readContract } from '../input/contract-file.ts';
import { NAME } from '../terminal/command-name.ts';
import type { Account, Context, GlobalFlags } from '../terminal/context.ts';
import { dryRunOptions, EXAMPLE_ADDRESS, HIDDEN } from '../terminal/dry-run.ts';
import { SIGN_IN } from '../terminal/error-texts.ts';
import { CommandError } from '../terminal/exit-codes.ts';
import type { Output } from '../terminal/output.ts';
import { silenceNotices } from '../terminal/silence-notices.ts';
import { waitNotices } from '../terminal/wait-notices.ts';
import { checkAddress, checkToken, isSameAddress } from './account-input.ts';
import { environmentOf, foreignToken } from './find-account.ts';
import { oauthPath, openOAuthStore, profileFlag, profileName } from './profiles.ts';

/** Redirect URI of a sign-in. The sign-in adds a free port. */
export const OAUTH_REDIRECT = 'http://127.0.0.1/callback';

/** Returns a client for an account. Its warnings go to standard error. */
export function createClient(account: Account, flags: GlobalFlags, output: Output): AudienceClient {
  const { baseUrl, fetch, contract, allowInsecure = flags.allowInsecure } = account;
  const token = flags.dryRun ? HIDDEN : account.token;
  output.token = account;
  return new AudienceClient({ fetch, contract, ...optionsOf(flags, output), baseUrl, token, allowInsecure });
}

/** Returns a client for the service's MCP endpoint, with AUDIENCE_MCP_TOKEN or the OAuth tokens of a profile. */
export async function createMcpClient(context: Context): Promise<AudienceClient> {
  const { flags, output } = context;
  const env = environmentOf(context);
  const name = profileName(context.env, flags.profile);
  const store = await openOAuthStore(context.env, name);
  const { AUDIENCE_MCP_TOKEN: token } = env;
  const owner = token ? env.AUDIENCE_BASE_URL : await store.address();
  const address = flags.baseUrl || env.AUDIENCE_BASE_URL || owner;
  const baseUrl = address || (flags.dryRun ? EXAMPLE_ADDRESS : undefined);
  if (!baseUrl) {
    const message = `Not signed in: run \`${NAME} login --oauth${profileFlag(name)}\`, or set AUDIENCE_BASE_URL and AUDIENCE_MCP_TOKEN.`;
    throw new CommandError(message, { code: 'not-logged-in' });
  }
  checkAddress(baseUrl, flags.allowInsecure);
  const source = token ? 'AUDIENCE_MCP_TOKEN' : oauthPath(context.env, name);
  if (owner && !isSameAddress(owner, baseUrl)) throw foreignToken(`The token in ${source}`, owner, baseUrl);
  output.token = { source, advice: SIGN_IN };
  const options = { ...optionsOf(flags, output), baseUrl, contract: await readContract(context) };
  if (flags.dryRun) return new AudienceClient({ ...options, mcpToken: HIDDEN });
  if (token) {
    checkToken(token, source);
    return new AudienceClient({ ...options, mcpToken: token });
  }
  const { createOAuthClient } = await import('../../oauth/index.ts');
  const { logger, allowInsecure, timeout } = options;
  const mcpToken = createOAuthClient({ baseUrl, store, redirectUri: OAUTH_REDIRECT, logger, allowInsecure, timeout });
  return new AudienceClient({ ...options, mcpToken });
}

/** Returns the common options of the command's clients. */
export function optionsOf(flags: GlobalFlags, output: Output) {
  const warn = (message: string): void => output.log('warning', message);
  const debug = (message: string): void => output.log('debug', message);
  const silence = silenceNotices(flags, output);
  const waits = waitNotices(output);
  return {
    logger: { error: warn, warn, info: debug, debug },
    logLevel: flags.verbose ? 'debug' : undefined,
    maxRetries: flags.maxRetries,
    timeout: flags.requestTimeout,
    allowInsecure: flags.allowInsecure,
    ...silence,
    ...waits,
    onEnd(event) {
      silence.onEnd(event);
      waits.onEnd(event);
    },
    ...(flags.dryRun && dryRunOptions(output)),
  } as const satisfies ClientOptions;
}
