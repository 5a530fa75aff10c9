import { Argument, type Command, Option } from 'commander';
import { duration, integerFrom, nonNegative } from '../input/flag-values.ts';
import type { Action } from '../input/shared-flags.ts';

const PORT = integerFrom(0, 65_535);

export function addSandboxCommands(program: Command, action: Action): void {
  const load = () => import('./sandbox-commands.ts');
  const sandbox = program
    .command('sandbox')
    .description('run a local sandbox of the service, for development and tests')
    .argument('[command]', 'subcommand that controls the running sandbox (see Commands)')
    .option('--port <n>', 'port of the API (default: a free port)', PORT)
    .option('--storage-port <n>', 'port of the storage for uploads and results (default: a free port)', PORT)
    .option('--console-port <n>', 'port of the console (default: a free port)', PORT)
    .option('--no-console', 'serve no console; other commands then cannot find this sandbox')
    .option(
      '--host <address>',
      'address to listen on (default: 127.0.0.1). Other machines can reach the sandbox at an address that is not loopback',
    )
    .option('--name <name>', 'host name of this machine, used in URLs and accepted in the Host header')
    .option('--speed <n>', "speed of the sandbox's clock, relative to real time (default: 1)", nonNegative)
    .option('--seed <n>', 'seed of tokens, ids and other random values (default: 1)', nonNegative)
    .option('--duration <duration>', "duration of a job on the sandbox's clock (default: 10m)", duration)
    .option('--outcome <status>', 'final status of jobs: 104, 107 or 4xx (default: 104)', nonNegative)
    .option('--builds-per-hour <n>', 'build budget of each organization (default: 60)', nonNegative)
    .option('--webhook <url>', 'register a webhook endpoint for all events, and print its secret')
    .option('--email <email>', 'email of the account', 'dev@example.com')
    .option('--password <text>', 'password of the account', 'sandbox')
    .option('--state <file>', 'load the state from this file if the file exists, and save the state there')
    .action(action(async () => (await load()).runSandbox));
  sandbox
    .command('status')
    .description('print the clock and the running jobs of the running sandbox')
    .action(action(async () => (await load()).status));
  sandbox
    .command('advance')
    .description('advance the clock of the running sandbox, and run everything that becomes due')
    .addArgument(new Argument('<duration>', 'such as 10m').argParser(duration))
    .action(action(async () => (await load()).advance));
  sandbox
    .command('finish')
    .description('end a running job')
    .argument('<job>', 'job, such as audience:5')
    .addArgument(
      new Argument('<status>', 'final status: 104, 107 or 4xx; for a cohort also 4 or 5').argParser(integerFrom(0)),
    )
    .option('--reason <text>', 'reason, which only the console shows')
    .action(action(async () => (await load()).finish));
  addFaultCommands(sandbox, action);
}

function addFaultCommands(sandbox: Command, action: Action): void {
  const load = () => import('./sandbox-commands.ts');
  const fault = sandbox.command('fault').description('make requests fail: add, list, clear');
  fault
    .command('add')
    .description('add a fault')
    .option(
      '--on <requests>',
      'operation, path, or method and path: audiences.create, "GET /api/v2/usage" (default: all)',
    )
    .option('--status <status>', 'respond with this status', integerFrom(400, 599))
    .option('--retry-after <seconds>', 'Retry-After of the response in seconds', nonNegative)
    .addOption(
      new Option(
        '--cut <when>',
        'cut the connection before or after the service acts, or within the response body',
      ).choices(['before', 'after', 'body']),
    )
    .option('--malformed', 'truncate the response body to half, but send it as a complete response')
    .option('--delay <duration>', 'delay the request', duration)
    .option(
      '--in-flight <duration>',
      'keep a create request in flight for this real time; 3m makes the outcome unknown',
      duration,
    )
    .option('--rate <n>', 'probability of the fault, 0 to 1', nonNegative)
    .option('--times <n>', 'maximum number of requests that the fault affects', integerFrom(1))
    .action(action(async () => (await load()).addFault));
  fault
    .command('list')
    .description('print the faults that can still apply')
    .action(action(async () => (await load()).listFaults));
  fault
    .command('clear')
    .description('remove all faults')
    .action(action(async () => (await load()).clearFaults));
}
