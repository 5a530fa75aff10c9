import type { Command } from 'commander';
import { type Action, addDryRun } from '../input/shared-flags.ts';

export function addAccountCommands(program: Command, action: Action): void {
  const load = () => import('./login-commands.ts');
  const loadProfiles = () => import('./profile-commands.ts');
  program
    .command('login')
    .description('issue an API token with email and password, and store it for later commands')
    .option(
      '--email <email>',
      'email of the account. The command asks for the password, or reads it from standard input',
    )
    .option('--oauth', 'sign in with the browser instead of a password. The token is valid only for the MCP endpoint')
    .option('--no-browser', 'with --oauth: only print the address, and do not open the browser')
    .option('--force', 'issue a new token even if the stored token is valid')
    .action(action(async () => (await load()).login));
  program
    .command('logout')
    .description('remove the tokens of a profile from this machine, and revoke its OAuth tokens')
    .action(action(async () => (await load()).logout));
  program
    .command('whoami')
    .description('print the account in use, and check its token')
    .action(action(async () => (await loadProfiles()).whoami));
  const profiles = program.command('profiles').description('list the accounts that `login` has stored, or choose one');
  profiles
    .command('list')
    .description('list profiles, and mark the profile in use')
    .action(action(async () => (await loadProfiles()).listProfiles));
  profiles
    .command('use')
    .description('use a profile by default; flags and environment variables take precedence')
    .argument('<name>', 'profile')
    .action(action(async () => (await loadProfiles()).useProfile));
  addDryRun(program.command('tokens').description('revoke tokens').command('revoke'))
    .description('revoke every API token of an account')
    .option(
      '--email <email>',
      'email of the account. The command asks for the password, or reads it from standard input',
    )
    .option('--mcp', 'revoke the MCP tokens of the account instead of its API tokens')
    .action(action(async () => (await load()).revokeTokens));
}
