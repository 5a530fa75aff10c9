#!/usr/bin/env node
import process from 'node:process';
import { parseArgs } from 'node:util';
import { VERSION } from '../version.ts';
import { createSandbox, type Delivery, type LogEntry, type Sandbox, type SandboxOptions } from './index.ts';

const HELP = `audience-activation sandbox [options]

The Audience Build and Activation API on this machine, to develop and test against.

  --port <n>          port of the API; any free one unless given
  --storage-port <n>  port of the storage for uploads and results; any free one unless given
  --host <address>    address to listen on (127.0.0.1); any other lets other machines in
  --name <name>       name of this machine, for its URLs and accepted in the header Host
  --speed <n>         how much faster than the machine's its clock runs (1)
  --seed <n>          decides tokens, ids and all that is random (1)
  --duration <s>      seconds of its clock that a job takes (600)
  --outcome <status>  status that jobs end at: 104, 107 or a 4xx (104)
  --webhook <url>     registers a webhook endpoint for all events and prints its secret; signatures hold the machine's
                      time, whatever the speed
  --email <email>     of the account (dev@example.com)
  --password <text>   of the account (sandbox)
  -h, --help          this text
  -v, --version       version of the package

Times in its log are those of its clock. Faults, budgets and all else of the console are for programs: see
docs/sandbox.md of the package. Ctrl-C stops it; nothing is kept.
`;

const options = {
  port: { type: 'string' },
  'storage-port': { type: 'string' },
  host: { type: 'string' },
  name: { type: 'string' },
  speed: { type: 'string' },
  seed: { type: 'string' },
  duration: { type: 'string' },
  outcome: { type: 'string' },
  webhook: { type: 'string' },
  email: { type: 'string', default: 'dev@example.com' },
  password: { type: 'string', default: 'sandbox' },
  help: { type: 'boolean', short: 'h', default: false },
  version: { type: 'boolean', short: 'v', default: false },
} as const;

const LARGEST_PORT = 65_535;

type Flags = ReturnType<typeof readFlags>;

function readFlags(args: string[]) {
  const { values, positionals } = parseArgs({ args, options, allowPositionals: true });
  const [command, ...more] = positionals;
  if (!values.help && !values.version && (command !== 'sandbox' || more.length > 0))
    throw new Error(
      command === undefined ? 'A command is missing.' : `There is no command "${positionals.join(' ')}".`,
    );
  return values;
}

/** A number of the command line; nothing where it was not given. */
function numberOf(flags: Flags, name: 'speed' | 'seed' | 'duration' | 'outcome'): number | undefined {
  const text = flags[name];
  if (text === undefined) return undefined;
  const value = Number(text);
  if (text.trim() !== '' && value >= 0) return value;
  throw new Error(`\`--${name}\` must be a number from 0, not "${text}".`);
}

/** A port of the command line; nothing where it was not given. */
function portOf(flags: Flags, name: 'port' | 'storage-port'): number | undefined {
  const text = flags[name];
  if (text === undefined) return undefined;
  if (/^\d+$/.test(text) && Number(text) <= LARGEST_PORT) return Number(text);
  throw new Error(`\`--${name}\` must be an integer from 0 to ${LARGEST_PORT}, not "${text}".`);
}

/** Prints without what a terminal would take as a command of its own. */
function print(line: string): void {
  process.stdout.write(`${line.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '?')}\n`);
}

/** A time of the sandbox, to the second. */
const timeOf = (iso: string): string => `${iso.slice(0, 19)}Z`;

/** One line a request. */
function requestLine({ at, method, path, status, account, replayed, fault }: LogEntry): string {
  const notes = [account, replayed && 'replayed', fault && `fault: ${fault}`].filter(Boolean);
  return `${timeOf(at)} ${method.padEnd(4)} ${path} ${status || '---'} ${notes.join(', ')}`.trimEnd();
}

function deliveryLine({ at, type, endpointId, attempt, status }: Delivery): string {
  return `${timeOf(new Date(at).toISOString())} SEND ${type} to endpoint ${endpointId}, attempt ${attempt}: ${status ?? 'no answer'}`;
}

function sandboxOptions(flags: Flags): SandboxOptions {
  const speed = numberOf(flags, 'speed');
  const seed = numberOf(flags, 'seed');
  const seconds = numberOf(flags, 'duration');
  const outcome = numberOf(flags, 'outcome');
  return {
    ...(speed !== undefined && { clock: { speed } }),
    ...(seed !== undefined && { seed }),
    jobs: { ...(seconds !== undefined && { duration: seconds * 1_000 }), ...(outcome !== undefined && { outcome }) },
    signatureClock: 'machine',
    onRequest: (entry) => print(requestLine(entry)),
    onDelivery: (delivery) => print(deliveryLine(delivery)),
  };
}

async function start(flags: Flags): Promise<Sandbox> {
  const sandbox = createSandbox(sandboxOptions(flags));
  const port = portOf(flags, 'port');
  const storagePort = portOf(flags, 'storage-port');
  const { host, name, email, password, webhook } = flags;
  const account = sandbox.accounts.create({ email, password });
  const endpoint =
    webhook === undefined ? undefined : sandbox.webhooks.create({ account, name: 'Command line', url: webhook });
  const listening = await sandbox.listen({
    ...(port !== undefined && { port }),
    ...(storagePort !== undefined && { storagePort }),
    ...(host !== undefined && { host }),
    ...(name !== undefined && { name }),
  });
  print(`API      ${listening.url}`);
  print(`Storage  ${listening.storageUrl}`);
  print(`Account  ${email}  password: ${password}`);
  print(`Token    ${account.token('api')}`);
  if (endpoint) print(`Webhook  ${webhook}  secret: ${endpoint.secret}`);
  print('Ready. Ctrl-C stops it.');
  return sandbox;
}

async function main(args: string[]): Promise<void> {
  const flags = readFlags(args);
  if (flags.help || flags.version) {
    process.stdout.write(flags.help ? HELP : `${VERSION}\n`);
    return;
  }
  const sandbox = await start(flags);
  const stop = (): void => void sandbox.close();
  // Nobody reads on, as after `| head`.
  process.stdout.on('error', stop);
  process.once('SIGINT', stop);
  process.once('SIGTERM', stop);
}

main(process.argv.slice(2)).catch((error: unknown) => {
  const message = error instanceof Error ? error.message : String(error);
  const taken = error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';
  process.stderr.write(
    `${message}${taken ? '. Choose another --port or --storage-port.' : ''}\nSee: npx audience-activation --help\n`,
  );
  process.exitCode = 1;
});
