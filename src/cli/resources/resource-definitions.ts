import { Argument, type Command, Option } from 'commander';
import { collect, duration, idempotencyKey, integerFrom } from '../input/flag-values.ts';
import { type BodyFlag, isListed, JOB_KINDS, type ResourceName, rowOf, verbsOf } from '../input/resource-table.ts';
import { type Action, addDryRun, addListFlags } from '../input/shared-flags.ts';
import { RUN_TOPICS, textOfTopic } from '../terminal/help-topics.ts';

const ID = new Argument('<id>', 'id');

export function addJobCommands(program: Command, action: Action): void {
  program
    .command('wait')
    .description('wait for jobs, such as audience:12 cohort:7, or for jobs on standard input')
    .argument('[jobs...]', 'jobs, as kind:id or id')
    .addOption(
      new Option('--kind <kind>', 'kind of jobs that are only an id, such as 12')
        .choices(JOB_KINDS)
        .default('audience'),
    )
    .option(
      '--timeout <duration>',
      'maximum time for each job, such as 30m (default: 1h); 0 reads each job once',
      duration,
    )
    .option('--fail-fast', 'stop at the first job that does not complete')
    .option('--any', 'stop at the first job that completes')
    .action(action(async () => (await import('../jobs/wait-command.ts')).wait));
  program
    .command('run')
    .description('build each audience of a file once, however often you run the command')
    .argument('<file>', 'rows as JSON Lines, JSON or CSV; - reads standard input')
    .option(
      '--journal <file>',
      'file that records what was created; required with standard input (default: <file>.journal)',
    )
    .option(
      '--activate <json>',
      'activate each audience with these fields, such as {"identifier":"EID"}; @file reads a file',
    )
    .option('--download <folder>', 'activate each audience, and save its files to <folder>/<key>')
    .option('--retry-failed', 'create resources again that were deleted, or whose jobs failed in an earlier run')
    .option(
      '--budget-wait <duration>',
      'maximum time to wait for the build budget or a rate limit; 0 does not wait (default: no limit)',
      duration,
    )
    .option(
      '--outage-wait <duration>',
      'maximum time to wait for the end of an outage; 0 does not wait (default: 20m)',
      duration,
    )
    .option('--timeout <duration>', 'maximum time for each job, such as 30m (default: 4h)', duration)
    .option('--fail-on-blocked', 'exit with code 8 if a row is blocked')
    .option('--report <file>', 'write the result of each row to a .csv or .json file')
    .option('--status', 'print the state of each row from the journal, also during a run; sends nothing')
    .option('--resolve <key=id>', 'record the id of a row whose outcome is unknown, and exit; repeatable', collect)
    .option(
      '--forget <key>',
      'remove a key from the journal, so that the next run creates its resources again, and exit; repeatable',
      collect,
    )
    .option('--dry-run', 'print what would happen to each row; sends nothing')
    .addHelpText('after', `\n${RUN_TOPICS.map(textOfTopic).join('\n\n')}`)
    .action(action(async () => (await import('../batch/run-command.ts')).run));
  program
    .command('explain')
    .description('print whether an audience can be activated, and why not')
    .argument('<audience>', 'id of the audience')
    .addOption(
      new Option('--identifier <identifier>', 'identifier to deliver').choices(['MAID', 'IP', 'EID', 'SCID', 'HEM']),
    )
    .action(action(async () => (await import('./service-commands.ts')).explain));
}

export function addResource(program: Command, action: Action, name: ResourceName): void {
  const row = rowOf(name);
  const group = program.command(name).description(`${verbsOf(name).join(', ')} ${name}`);
  const load = () => import('./resource-commands.ts');
  const create = group.command('create').description(`create ${article(row.singular)}`);
  for (const flag of row.body) create.addOption(bodyOption(flag));
  create
    .option('-d, --data <json>', 'body as JSON; @file reads a file, - standard input')
    .option(
      '--idempotency-key <key>',
      'idempotency key: for 24 hours, repeating the request with this key creates nothing twice',
      idempotencyKey,
    );
  if (row.kind) addWaitFlags(create);
  addDryRun(create);
  create.action(action(async () => (await load()).create(name)));
  group
    .command('get')
    .description(`print ${article(row.singular)}`)
    .addArgument(ID)
    .action(action(async () => (await load()).get(name)));
  if (isListed(name)) {
    const list = group.command('list').description(`list ${name}, in the order of the service`);
    addListFlags(list).action(action(async () => (await load()).list(name)));
    addDryRun(group.command('delete'))
      .description(`delete ${name}`)
      .argument('<ids...>', 'ids')
      .action(action(async () => (await load()).remove(name)));
  }
  if (name === 'lookalikes') {
    addDryRun(group.command('cancel'))
      .description('cancel running lookalikes')
      .argument('<ids...>', 'ids')
      .action(action(async () => (await load()).cancel));
  }
  if (name === 'cohorts') {
    const upload = group
      .command('import')
      .description('upload a file and create a cohort from it')
      .argument('<file>', 'file to upload, up to 1 GiB, or - for standard input')
      .option('--name <text>', 'name of the cohort (default: name of the file)')
      .option('--project-id <id>', 'id of the project', integerFrom(1))
      .option(
        '--idempotency-key <key>',
        'idempotency key: for 24 hours, repeating the import with this key creates no second cohort',
        idempotencyKey,
      );
    addDryRun(addWaitFlags(upload)).action(action(async () => (await import('./file-commands.ts')).importCohort));
  }
  if (name === 'activations') {
    group
      .command('download')
      .description('save the results of a completed activation')
      .addArgument(ID)
      .argument('[folder]', 'folder', '.')
      .action(action(async () => (await import('./file-commands.ts')).download));
  }
}

const article = (noun: string): string => `${/^[aeiou]/.test(noun) ? 'an' : 'a'} ${noun}`;

const addWaitFlags = (command: Command): Command =>
  command
    .option('--wait', 'wait until the job has ended')
    .option('--timeout <duration>', 'maximum time to wait, such as 30m (default: 1h)', duration);

function bodyOption({ flag, description, type }: BodyFlag): Option {
  const option = new Option(flag, description);
  if (type === 'integer') return option.argParser(integerFrom(0));
  return type === 'dataset' ? option.argParser(collect) : option;
}
