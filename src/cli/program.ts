import { Argument, Command, Option, type OptionValues } from 'commander';
import { VERSION } from '../version.ts';
import type { Handler } from './context.ts';
import {
  collect,
  commaSeparated,
  duration,
  fieldPaths,
  idempotencyKey,
  integerFrom,
  keyValue,
  nonNegative,
  timeLimit,
} from './flag-values.ts';
import { HELP_TOPICS, textOfTopic } from './help-topics.ts';
import {
  type BodyFlag,
  DATASETS,
  isListed,
  JOB_KINDS,
  RESOURCE_NAMES,
  type ResourceName,
  rowOf,
  verbsOf,
} from './resource-table.ts';
import { EVENT_TYPES } from './sample-events.ts';

/** Returns the action of a command, whose code is loaded when the command runs. */
export type Action = <Flags extends OptionValues>(
  load: () => Promise<Handler<Flags>>,
) => (this: Command) => Promise<void>;

const PORT = integerFrom(0, 65_535);
const ID = new Argument('<id>', 'id');

const notes = (name: string): string => `
Examples:
  ${name} login --base-url https://api.example.com
  ${name} audiences create --name Visitors --dataset WebDomain:2026-10-20:2026-11-20 --wait
  ${name} wait audience:12 cohort:7 --timeout 2h
  ${name} audiences list --fields id,status.name | cut -f 1
  ${name} audiences create --name "No account needed" --wait --sandbox

Data go to standard output: tables in a terminal, elsewhere fields separated by tabs, or JSON. Everything else goes to
standard error. Durations are such as 90s, 10m and 1h30m; a number alone is in seconds.

${Object.values(HELP_TOPICS).map(textOfTopic).join('\n\n')}`;

/** Creates the command with all its subcommands. */
export function createProgram(name: string, action: Action): Command {
  const program: Command = new Command(name)
    .description('Builds audiences, waits for them and activates them.')
    .version(VERSION, '-v, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .option('-j, --json', 'print JSON: one object, or a line for each row or change; errors, too')
    .option('--fields <paths>', 'fields to print, such as id,status.name,datastreams.0.results.uri', fieldPaths)
    .option('-q, --quiet', 'print data and errors only')
    .option('-p, --profile <name>', 'profile of `login` to use (AUDIENCE_PROFILE)')
    .option('--base-url <url>', 'address of the service (AUDIENCE_BASE_URL)')
    .option('--token-command <command>', 'command that prints the token, such as of a vault (AUDIENCE_TOKEN_COMMAND)')
    .option('--contract <file>', 'how the service differs from the assumptions, as JSON (AUDIENCE_CONTRACT)')
    .option('--max-retries <n>', 'retries of a request after a failure that may pass (default: 4)', integerFrom(0))
    .option('--request-timeout <duration>', 'time for one attempt of a request (default: 30s)', timeLimit)
    .option('--deadline <duration>', 'time for the entire command, with its retries, waits and transfers', timeLimit)
    .option('--allow-insecure', 'allow http: beyond this machine')
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
      if (topic) process.stdout.write(`${textOfTopic(topic)}\n`);
      else findCommand(program, names).help();
    });
  return program;
}

/** Adds `completion` to the help; to run it takes a package, which `completion.ts` loads. */
export function describeCompletion(program: Command): void {
  program
    .command('completion')
    .description('print the completion script of a shell: bash, zsh, fish, powershell')
    .argument('<shell>');
}

/** Returns the command with a name such as `audiences create`. Ends with commander's error if there is none. */
function findCommand(program: Command, names: readonly string[]): Command {
  return names.reduce((command, name) => {
    const next = command.commands.find((command) => command.name() === name);
    return next ?? command.error(`error: unknown command '${name}'`);
  }, program);
}

function addJobCommands(program: Command, action: Action): void {
  program
    .command('wait')
    .description('wait for jobs: audience:12 cohort:7, or ids on standard input')
    .argument('[jobs...]', 'jobs, as kind:id or id')
    .addOption(new Option('--kind <kind>', 'kind of ids without one').choices(JOB_KINDS).default('audience'))
    .option('--timeout <duration>', 'time for each job, such as 30m (default: 1h); 0 reads each once', duration)
    .option('--fail-fast', 'stop at the first job that does not complete')
    .option('--any', 'stop at the first job that completes')
    .action(action(async () => (await import('./commands/wait-command.ts')).wait));
  program
    .command('explain')
    .description('say whether an audience can be activated, and why not')
    .argument('<audience>', 'id of the audience')
    .addOption(
      new Option('--identifier <identifier>', 'identifier to deliver').choices(['MAID', 'IP', 'EID', 'SCID', 'HEM']),
    )
    .action(action(async () => (await import('./commands/service-commands.ts')).explain));
}

function addResource(program: Command, action: Action, name: ResourceName): void {
  const row = rowOf(name);
  const group = program.command(name).description(`${verbsOf(name).join(', ')} ${name}`);
  const load = () => import('./commands/resource-commands.ts');
  const create = group.command('create').description(`create ${article(row.singular)}`);
  for (const flag of row.body) create.addOption(bodyOption(flag));
  create
    .option('-d, --data <json>', 'body as JSON; @file reads a file, - standard input')
    .option(
      '--idempotency-key <key>',
      'key under which the create happens once, however often it is sent',
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
    const list = group.command('list').description(`list ${name}, newest first`);
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
      .argument('<file>', 'CSV file, up to 1 GiB')
      .option('--name <text>', 'name (default: that of the file)')
      .option('--project-id <id>', 'project it belongs to', integerFrom(1));
    addDryRun(addWaitFlags(upload)).action(
      action(async () => (await import('./commands/file-commands.ts')).importCohort),
    );
  }
  if (name === 'activations') {
    group
      .command('download')
      .description('save the results of a completed activation')
      .addArgument(ID)
      .argument('[folder]', 'folder', '.')
      .action(action(async () => (await import('./commands/file-commands.ts')).download));
  }
}

const article = (noun: string): string => `${/^[aeiou]/.test(noun) ? 'an' : 'a'} ${noun}`;

const addWaitFlags = (command: Command): Command =>
  command
    .option('--wait', 'wait until the job has ended')
    .option('--timeout <duration>', 'time to wait, such as 30m (default: 1h)', duration);

const addDryRun = (command: Command): Command => command.option('--dry-run', 'print the request instead of sending it');

const addListFlags = (command: Command): Command =>
  command
    .option('-n, --limit <n>', 'number of rows', integerFrom(1), 100)
    .option('--all', 'all rows')
    .option('--query <name=value>', 'further query parameter; repeatable', keyValue);

function bodyOption({ flag, description, type }: BodyFlag): Option {
  const option = new Option(flag, description);
  if (type === 'integer') return option.argParser(integerFrom(0));
  return type === 'dataset' ? option.argParser(collect) : option;
}

function addServiceCommands(program: Command, action: Action): void {
  const load = () => import('./commands/service-commands.ts');
  program
    .command('check')
    .description('find out which assumptions about the service hold, and write what differs to a file; reads only')
    .option('--write', 'also create and delete one project, and reserve one upload')
    .option('--build', 'also build one audience, and delete it; includes --write')
    .option('--plan', 'print the requests instead of sending them')
    .option('--out <file>', 'write the settings for client, command, OpenAPI document and sandbox')
    .option('--against <file>', 'say whether the service has changed since the check that wrote this file')
    .option('--yes', 'do not ask before --write and --build')
    .option('--max-misses <n>', 'refused paths after which no more are guessed (default: 12)', integerFrom(0))
    .action(action(async () => (await import('./commands/check-command.ts')).check));
  const reference = program
    .command('reference')
    .description('print a reference table')
    .addArgument(new Argument('<dataset>', 'group of tables').choices(DATASETS))
    .argument('<table>', 'name of the table');
  addListFlags(reference).action(action(async () => (await load()).reference));
  program
    .command('usage')
    .description('print the usage report of a month')
    .option('--month <YYYY-MM>', 'month (default: the current one)')
    .action(action(async () => (await load()).usage));
  program
    .command('budget')
    .description('print the build budget: used, limit and left, by hour and day')
    .action(action(async () => (await load()).budget));
  addDryRun(program.command('request'))
    .description('call any path of the service')
    .argument('<method>', 'GET, POST, PUT, PATCH or DELETE')
    .argument('<path>', 'path, such as /api/v2/webhooks/index')
    .option('-d, --data <json>', 'body as JSON; @file reads a file, - standard input')
    .option('--query <name=value>', 'query parameter; repeatable', keyValue)
    .option(
      '--idempotency-key <key>',
      'key of a create; without one, it is not retried after a lost response',
      idempotencyKey,
    )
    .action(action(async () => (await load()).request));
}

function addWebhookCommands(program: Command, action: Action): void {
  const companyId = new Option('--company-id <n>', '`company_id` of the events').argParser(integerFrom(0)).default(1);
  const secret = new Option('--secret <secret>', 'signing secret (AUDIENCE_WEBHOOK_SECRET; default: one kept for you)');
  program
    .command('listen')
    .description('watch jobs, and send the webhook events of their ends to a local receiver; needs no tunnel')
    .option('--forward-to <url>', 'receiver, such as http://localhost:3000/webhooks')
    .option('--jobs <jobs>', 'jobs to watch: audience:12,cohort:7', commaSeparated)
    .option('--all', 'watch every job of the account, also those created from now on')
    .addOption(secret)
    .option('--print-secret', 'print the signing secret, and end')
    .option('--retry-speed <n>', 'retry this many times faster than the service', nonNegative, 60)
    .option('--rate <n>', 'send at most this many requests per second', integerFrom(1), 50)
    .addOption(companyId)
    .action(action(async () => (await import('./commands/listen-command.ts')).listen));
  addDryRun(program.command('trigger'))
    .description('send one signed example event to a receiver')
    .addArgument(new Argument('<event>', 'type of the event').choices(EVENT_TYPES))
    .requiredOption('--forward-to <url>', 'receiver, such as http://localhost:3000/webhooks')
    .option('-d, --data <json>', 'fields of the resource to replace; @file reads a file, - standard input')
    .addOption(secret)
    .addOption(companyId)
    .action(action(async () => (await import('./commands/webhook-commands.ts')).trigger));
  const webhooks = program.command('webhooks').description('list endpoints, verify a signature');
  webhooks
    .command('list')
    .description('list the webhook endpoints of the company')
    .action(action(async () => (await import('./commands/service-commands.ts')).listWebhooks));
  webhooks
    .command('verify')
    .description('check the signature of a delivery: its body is read from standard input')
    .requiredOption('--header <value>', 'value of the signature header')
    .option('--secret <secret>', 'signing secret (AUDIENCE_WEBHOOK_SECRET); repeatable', collect)
    .option('--tolerance <duration>', 'maximum age of the signature (default: 5m)', duration)
    .action(action(async () => (await import('./commands/webhook-commands.ts')).verify));
}

function addAccountCommands(program: Command, action: Action): void {
  const load = () => import('./commands/login-commands.ts');
  const loadProfiles = () => import('./commands/profile-commands.ts');
  program
    .command('login')
    .description('issue an API token for email and password, and keep it for later commands')
    .option('--email <email>', 'email of the account; the password is asked for, or read from standard input')
    .option('--oauth', 'sign in with the browser instead; for the MCP endpoint only')
    .option('--no-browser', 'with --oauth: only print the address to open')
    .option('--force', 'issue a new token even if the kept one is valid')
    .action(action(async () => (await load()).login));
  program
    .command('logout')
    .description('remove the kept tokens from this machine')
    .action(action(async () => (await load()).logout));
  program
    .command('whoami')
    .description('print the account in use, and check its token')
    .action(action(async () => (await loadProfiles()).whoami));
  const profiles = program.command('profiles').description('list the accounts that `login` has kept, choose one');
  profiles
    .command('list')
    .description('list profiles, and mark the one in use')
    .action(action(async () => (await loadProfiles()).listProfiles));
  profiles
    .command('use')
    .description('use a profile by default; --profile and AUDIENCE_PROFILE take precedence')
    .argument('<name>', 'profile')
    .action(action(async () => (await loadProfiles()).useProfile));
  addDryRun(program.command('tokens').description('revoke tokens').command('revoke'))
    .description('revoke every API token of an account')
    .option('--email <email>', 'email of the account; the password is asked for, or read from standard input')
    .option('--mcp', 'revoke every MCP token instead')
    .action(action(async () => (await load()).revokeTokens));
}

function addSandboxCommands(program: Command, action: Action): void {
  const load = () => import('./commands/sandbox-commands.ts');
  const sandbox = program
    .command('sandbox')
    .description('run the service on this machine, for development and tests')
    .argument('[command]', 'of a running sandbox, as below')
    .option('--port <n>', 'port of the API (default: a free port)', PORT)
    .option('--storage-port <n>', 'port of the storage for uploads and results (default: a free port)', PORT)
    .option('--console-port <n>', 'port of the console (default: a free port)', PORT)
    .option('--no-console', 'serve no console; other commands then cannot find this sandbox')
    .option('--host <address>', 'address to listen on (default: 127.0.0.1); other machines can reach any other')
    .option('--name <name>', 'host name of this machine, used in URLs and accepted in the Host header')
    .option('--speed <n>', "speed of the sandbox's clock, relative to real time (default: 1)", nonNegative)
    .option('--seed <n>', 'seed of tokens, ids and other random values (default: 1)', nonNegative)
    .option('--duration <duration>', "duration of a job on the sandbox's clock (default: 10m)", duration)
    .option('--outcome <status>', 'final status of jobs: 104, 107 or 4xx (default: 104)', nonNegative)
    .option('--webhook <url>', 'register a webhook endpoint for all events, and print its secret')
    .option('--email <email>', 'email of the account', 'dev@example.com')
    .option('--password <text>', 'password of the account', 'sandbox')
    .option('--state <file>', 'continue with the state in this file, if it exists, and keep it there')
    .option('--import <file>', 'begin with the state in this file')
    .option('--export <file>', 'write the state to this file at the end')
    .action(action(async () => (await load()).runSandbox));
  sandbox
    .command('status')
    .description('print the clock and the running jobs of the running sandbox')
    .action(action(async () => (await load()).status));
  sandbox
    .command('advance')
    .description('move its clock forward; everything due happens')
    .addArgument(new Argument('<duration>', 'such as 10m').argParser(duration))
    .action(action(async () => (await load()).advance));
  sandbox
    .command('finish')
    .description('end a running job')
    .argument('<job>', 'job, such as audience:5')
    .addArgument(
      new Argument('<status>', 'final status: 104, 107 or 4xx; of a cohort also 4 or 5').argParser(integerFrom(0)),
    )
    .option('--reason <text>', 'reason, which only the console shows')
    .action(action(async () => (await load()).finish));
  addFaultCommands(sandbox, action);
}

function addFaultCommands(sandbox: Command, action: Action): void {
  const load = () => import('./commands/sandbox-commands.ts');
  const fault = sandbox.command('fault').description('make requests fail: add, list, clear');
  fault
    .command('add')
    .description('add a fault')
    .option(
      '--on <requests>',
      'operation, path, or method and path: audiences.create, "GET /api/v2/usage" (default: all)',
    )
    .option('--status <status>', 'respond with this status', integerFrom(400, 599))
    .option('--retry-after <seconds>', 'Retry-After of that response', nonNegative)
    .addOption(new Option('--cut <when>', 'cut the connection').choices(['before', 'after', 'body']))
    .option('--malformed', 'send half of the response')
    .option('--delay <duration>', 'delay the request', duration)
    .option('--in-flight <duration>', 'keep a create in flight', duration)
    .option('--rate <n>', 'probability, 0 to 1', nonNegative)
    .option('--times <n>', 'number of requests', integerFrom(1))
    .action(action(async () => (await load()).addFault));
  fault
    .command('list')
    .description('print the faults')
    .action(action(async () => (await load()).listFaults));
  fault
    .command('clear')
    .description('remove all faults')
    .action(action(async () => (await load()).clearFaults));
}
