import { Argument, type Command, Option } from 'commander';
import { collect, commaSeparated, duration, integerFrom, nonNegative } from '../input/flag-values.ts';
import { type Action, addDryRun } from '../input/shared-flags.ts';
import { EVENT_TYPES } from './sample-events.ts';

export function addWebhookCommands(program: Command, action: Action): void {
  const companyId = new Option('--company-id <n>', '`company_id` of the events').argParser(integerFrom(0)).default(1);
  const secret = new Option(
    '--secret <secret>',
    'signing secret (AUDIENCE_WEBHOOK_SECRET; default: a secret that the command creates and stores)',
  );
  program
    .command('listen')
    .description('watch jobs, and send a webhook event to a local receiver when a job ends; needs no tunnel')
    .option('--forward-to <url>', 'receiver, such as http://localhost:3000/webhooks')
    .option('--jobs <jobs>', 'jobs to watch: audience:12,cohort:7', commaSeparated)
    .option('--all', 'watch running and new jobs in the first 100 rows of each list')
    .addOption(secret)
    .option('--print-secret', 'print the signing secret, and exit')
    .option('--retry-speed <n>', 'retry this many times faster than the service; 0 does not retry', nonNegative, 60)
    .option('--rate <n>', 'send at most this many requests per second', integerFrom(1), 50)
    .addOption(companyId)
    .action(action(async () => (await import('./listen-command.ts')).listen));
  addDryRun(program.command('trigger'))
    .description('send one signed example event to a receiver')
    .addArgument(new Argument('<event>', 'type of the event').choices(EVENT_TYPES))
    .requiredOption('--forward-to <url>', 'receiver, such as http://localhost:3000/webhooks')
    .option('-d, --data <json>', 'fields of the resource to replace; @file reads a file, - standard input')
    .addOption(secret)
    .addOption(companyId)
    .action(action(async () => (await import('./webhook-commands.ts')).trigger));
  const webhooks = program.command('webhooks').description('list endpoints, verify a signature');
  webhooks
    .command('list')
    .description('list the webhook endpoints of the organization')
    .action(action(async () => (await import('../resources/service-commands.ts')).listWebhooks));
  webhooks
    .command('verify')
    .description('check the signature of a delivery whose body is on standard input')
    .requiredOption('--header <value>', 'value of the signature header (by default Service-Signature)')
    .option('--secret <secret>', 'signing secret (AUDIENCE_WEBHOOK_SECRET); repeatable', collect)
    .option(
      '--tolerance <duration>',
      'maximum difference between the timestamp of the signature and now (default: 5m)',
      duration,
    )
    .action(action(async () => (await import('./webhook-commands.ts')).verify));
}
