import { NAME } from '../terminal/command-name.ts';
import type { Context, GlobalFlags } from '../terminal/context.ts';
import { messageOf } from '../terminal/error-texts.ts';
import { CommandError, EXIT, type ExitCode } from '../terminal/exit-codes.ts';
import { chooseProfile, openProfile, profileName, profileNames } from './profiles.ts';

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

/** `profiles list`: prints the profiles, and marks the profile that commands use. */
export async function listProfiles({ output, env }: Context, flags: GlobalFlags): Promise<ExitCode> {
  const current = profileName(env, flags.profile);
  const rows = profileNames(env).map(async (name) => {
    const profile = await (await openProfile(env, name)).read().catch((error: unknown) => {
      output.log('warning', messageOf(error));
      return undefined;
    });
    const { baseUrl = null, email = null, expiresAt = null } = profile ?? {};
    return { name, current: name === current, base_url: baseUrl, email, expires_at: expiresAt };
  });
  const profiles = await Promise.all(rows);
  const marked = profiles.map((row) => ({ ...row, current: row.current ? '*' : '' }));
  await output.list(output.isJson ? profiles : marked, ['current', 'name', 'base_url', 'email', 'expires_at']);
  if (profiles.length === 0) output.note(`There are no profiles. \`${NAME} login\` creates one.`);
  if (flags.profile === undefined) warnOfEnvironment({ output, env }, current);
  return EXIT.done;
}

export async function useProfile(
  { output, env }: Context,
  _: object,
  [name = '']: readonly string[],
): Promise<ExitCode> {
  const names = profileNames(env);
  if (!names.includes(name)) {
    const message = `Profile "${name}" does not exist. Profiles: ${names.join(', ') || 'none'}.`;
    throw new CommandError(message, { code: 'profile-not-found' });
  }
  await chooseProfile(env, name);
  output.note(`Commands use profile "${name}" by default.`);
  warnOfEnvironment({ output, env }, name);
  return EXIT.done;
}

/** Warns that commands will not use the profile, because the environment takes precedence over profiles. */
export function warnOfEnvironment({ output, env }: Pick<Context, 'output' | 'env'>, name: string): void {
  const variable = ['AUDIENCE_TOKEN_COMMAND', 'AUDIENCE_TOKEN'].find((key) => env[key]);
  if (variable === undefined) return;
  const message = `Commands use ${variable} instead of a profile. Unset the variable, or pass --profile ${name} to each command.`;
  output.log('warning', message);
}
