import { Argument, type Command } from 'commander';
import { idempotencyKey, keyValue } from '../input/flag-values.ts';
import { DATASETS } from '../input/resource-table.ts';
import { type Action, addDryRun, addListFlags } from '../input/shared-flags.ts';

export function addServiceCommands(program: Command, action: Action): void {
  const load = () => import('./service-commands.ts');
  program
    .command('check')
    .description('check which assumptions about the service hold; without --write, sends only reads')
    .option('--write', 'also create and delete one project, and reserve one upload')
    .option('--out <file>', 'merge the findings into a contract file, which keeps all other settings')
    .option('--against <file>', 'report whether the service has changed since a check wrote this file')
    .option('--yes', 'do not ask for confirmation before writing and deleting')
    .option('--all', 'print all assumptions, not only the differences')
    .action(action(async () => (await import('../check/check-command.ts')).check));
  const reference = program
    .command('reference')
    .description('print a reference table')
    .addArgument(new Argument('<dataset>', 'group of tables').choices(DATASETS))
    .argument('<table>', 'name of the table');
  addListFlags(reference).action(action(async () => (await load()).reference));
  program
    .command('usage')
    .description('print the usage report of a month')
    .option('--month <YYYY-MM>', 'month (default: the current month)')
    .action(action(async () => (await load()).usage));
  program
    .command('budget')
    .description('print the build budget: used, limit and left, by hour and day')
    .action(action(async () => (await load()).budget));
  addDryRun(program.command('request'))
    .description('send a request to any path of the service')
    .argument('<method>', 'GET, POST, PUT, PATCH or DELETE')
    .argument('<path>', 'path, such as /api/v2/webhooks/index')
    .option('-d, --data <json>', 'body as JSON; @file reads a file, - standard input')
    .option('--query <name=value>', 'query parameter; repeatable', keyValue)
    .option(
      '--idempotency-key <key>',
      'idempotency key of a create request. Without a key, the command does not retry the request after a lost response',
      idempotencyKey,
    )
    .action(action(async () => (await load()).request));
}
