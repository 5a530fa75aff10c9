import { Command } from 'commander';
import { VERSION } from '../util/version.ts';
import { addAccountCommands } from './account/account-definitions.ts';
import { fieldPaths, integerFrom, requestTimeLimit, timeLimit } from './input/flag-values.ts';
import { RESOURCE_NAMES } from './input/resource-table.ts';
import type { Action } from './input/shared-flags.ts';
import { addSandboxCommands } from './local-sandbox/sandbox-definitions.ts';
import { addJobCommands, addResource } from './resources/resource-definitions.ts';
import { addServiceCommands } from './resources/service-definitions.ts';
import { HELP_TOPICS, textOfTopic } from './terminal/help-topics.ts';
import { addWebhookCommands } from './webhooks/webhook-definitions.ts';

const notes = (name: string): string => `
Examples:
  ${name} login --base-url https://api.example.com
  ${name} audiences create --name Visitors --dataset WebDomain:2026-10-20:2026-11-20 --wait
  ${name} wait audience:12 cohort:7 --timeout 2h
  ${name} audiences list --fields id,status.name | cut -f 1
  ${name} audiences create --name "No account needed" --wait --sandbox

The command prints data to standard output: in a terminal as tables, elsewhere as fields separated by tabs, or as JSON.
Messages and errors go to standard error. Durations look like 90s, 10m and 1h30m. A number without a unit means seconds.

${Object.values(HELP_TOPICS).map(textOfTopic).join('\n\n')}`;

/** Creates the command with all its subcommands. */
export function createProgram(name: string, action: Action): Command {
  const program: Command = new Command(name)
    .description('Builds audiences, waits for them and activates them.')
    .version(VERSION, '-v, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .option('-j, --json', 'print JSON: one object, or one line for each row or change. Errors are also JSON')
    .option('--fields <paths>', 'fields to print, such as id,status.name,datastreams.0.results.uri', fieldPaths)
    .option('-q, --quiet', 'print data and errors only')
    .option('-p, --profile <name>', 'profile to use (AUDIENCE_PROFILE)')
    .option('--base-url <url>', 'address of the service (AUDIENCE_BASE_URL)')
    .option(
      '--token-command <command>',
      'command that prints the token, for example from a vault (AUDIENCE_TOKEN_COMMAND)',
    )
    .option(
      '--contract <file>',
      'JSON file with the differences between your service and the assumptions of the client (AUDIENCE_CONTRACT)',
    )
    .option('--max-retries <n>', 'maximum retries of a request after transient errors (default: 4)', integerFrom(0))
    .option(
      '--request-timeout <duration>',
      'maximum time for one attempt of a request, up to 5m (default: 30s)',
      requestTimeLimit,
    )
    .option(
      '--deadline <duration>',
      'maximum time for the entire command, including retries, waits and transfers',
      timeLimit,
    )
    .option('--allow-insecure', 'allow http: URLs of other machines')
    .option('--sandbox', 'use the running sandbox, or a new one in this process')
    .option('--verbose', 'print each request and retry')
    .helpCommand(false)
    .addHelpText('after', notes(name))
    .addHelpText('afterAll', ({ command }) =>
      command.parent ? `\nGlobal options, such as --json and --profile: ${name} --help` : '',
    )
    .exitOverride();
  addJobCommands(program, action);
  for (const resource of RESOURCE_NAMES) addResource(program, action, resource);
  addServiceCommands(program, action);
  addWebhookCommands(program, action);
  addAccountCommands(program, action);
  addSandboxCommands(program, action);
  program
    .command('help')
    .description('print the help of a command')
    .argument('[command...]', 'command, such as audiences create; or environment, exit-codes')
    .action((names: readonly string[]) => {
      const [, topic] = Object.entries(HELP_TOPICS).find(([topic]) => topic === names.join(' ')) ?? [];
      if (topic) program.configureOutput().writeOut?.(`${textOfTopic(topic)}\n`);
      else findCommand(program, names).help();
    });
  return program;
}

/** Adds `completion` to the help without importing `completion.ts`. */
export function describeCompletion(program: Command): void {
  program
    .command('completion')
    .description('print the completion script of a shell: bash, zsh, fish, powershell')
    .argument('<shell>');
}

/**
 * Returns the command with a name such as `audiences create`. Ends with commander's error if there is no such command.
 */
function findCommand(program: Command, names: readonly string[]): Command {
  return names.reduce((command, name) => {
    const next = command.commands.find((command) => command.name() === name);
    return next ?? command.error(`error: unknown command '${name}'`);
  }, program);
}
