#!/usr/bin/env node
import process from 'node:process';
import { parseArgs } from 'node:util';
import { VERSION } from '../version.ts';
import { createSandbox, type Delivery, type LogEntry, type Sandbox, type SandboxOptions } from './index.ts';

const HELP = `audience-activation sandbox [options]

Runs the Audience Build and Activation API on this machine, for development and tests.

  --port <n>          port of the API (default: a free port)
  --storage-port <n>  port of the storage for uploads and results (default: a free port)
  --host <address>    address to listen on (default: 127.0.0.1); any other is reachable by other machines
  --name <name>       host name of this machine, used in URLs and accepted in the Host header
  --speed <n>         speed of the sandbox's clock, relative to real time (default: 1)
  --seed <n>          seed of tokens, ids and other random values (default: 1)
  --duration <s>      duration of a job in seconds of the sandbox's clock (default: 600)
  --outcome <status>  final status of jobs: 104, 107 or 4xx (default: 104)
  --webhook <url>     registers a webhook endpoint for all events and prints its secret; signatures carry
                      the real time, whatever the speed
  --email <email>     email of the account (default: dev@example.com)
  --password <text>   password of the account (default: sandbox)
  -h, --help          prints this help
  -v, --version       prints the version of the package

The log shows the time of the sandbox's clock. To inject faults or change budgets, use the sandbox in a
program: see docs/sandbox.md of the package. Ctrl-C stops the sandbox; its data are not kept.
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

const MAX_PORT = 65_535;

type Flags = ReturnType<typeof parseFlags>;

function parseFlags(args: string[]) {
  const { values, positionals } = parseArgs({ args, options, allowPositionals: true });
  if (!values.help && !values.version && positionals.join(' ') !== 'sandbox')
    throw new Error(
      positionals.length === 0 ? 'A command is missing.' : `There is no command "${positionals.join(' ')}".`,
    );
  return values;
}

function numberFlag(flags: Flags, name: 'speed' | 'seed' | 'duration' | 'outcome'): number | undefined {
  const value = flags[name];
  if (value === undefined) return undefined;
  if (value.trim() !== '' && Number(value) >= 0) return Number(value);
  throw new Error(`\`--${name}\` must be a number from 0, not "${value}".`);
}

function portFlag(flags: Flags, name: 'port' | 'storage-port'): number | undefined {
  const value = flags[name];
  if (value === undefined) return undefined;
  if (/^\d+$/.test(value) && Number(value) <= MAX_PORT) return Number(value);
  throw new Error(`\`--${name}\` must be an integer from 0 to ${MAX_PORT}, not "${value}".`);
}

/** Prints a line without control characters, which a terminal would interpret. */
function print(line: string): void {
  process.stdout.write(`${line.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '?')}\n`);
}

const toSeconds = (iso: string): string => `${iso.slice(0, 19)}Z`;

function requestLine({ at, method, path, status, account, replayed, fault }: LogEntry): string {
  const notes = [account, replayed && 'replayed', fault && `fault: ${fault}`].filter(Boolean);
  return `${toSeconds(at)} ${method.padEnd(4)} ${path} ${status || '---'} ${notes.join(', ')}`.trimEnd();
}

function deliveryLine({ at, type, endpointId, attempt, status }: Delivery): string {
  const time = toSeconds(new Date(at).toISOString());
  return `${time} SEND ${type} to endpoint ${endpointId}, attempt ${attempt}: ${status ?? 'no response'}`;
}

function sandboxOptions(flags: Flags): SandboxOptions {
  const speed = numberFlag(flags, 'speed');
  const duration = numberFlag(flags, 'duration');
  return {
    clock: speed === undefined ? 'real' : { speed },
    seed: numberFlag(flags, 'seed'),
    jobs: { duration: duration === undefined ? undefined : duration * 1_000, outcome: numberFlag(flags, 'outcome') },
    signatureClock: 'machine',
    onRequest: (entry) => print(requestLine(entry)),
    onDelivery: (delivery) => print(deliveryLine(delivery)),
  };
}

async function start(flags: Flags): Promise<Sandbox> {
  const sandbox = createSandbox(sandboxOptions(flags));
  const { host, name, email, password, webhook } = flags;
  const ports = { port: portFlag(flags, 'port'), storagePort: portFlag(flags, 'storage-port') };
  const account = sandbox.accounts.create({ email, password });
  const endpoint =
    webhook === undefined ? undefined : sandbox.webhooks.create({ account, name: 'Command line', url: webhook });
  const { url, storageUrl } = await sandbox.listen({ ...ports, host, name });
  print(`API      ${url}`);
  print(`Storage  ${storageUrl}`);
  print(`Account  ${email}  password: ${password}`);
  print(`Token    ${account.token('api')}`);
  if (endpoint) print(`Webhook  ${webhook}  secret: ${endpoint.secret}`);
  print('Ready. Press Ctrl-C to stop.');
  return sandbox;
}

async function main(args: string[]): Promise<void> {
  const flags = parseFlags(args);
  if (flags.help || flags.version) {
    process.stdout.write(flags.help ? HELP : `${VERSION}\n`);
    return;
  }
  const sandbox = await start(flags);
  const stop = (): void => void sandbox.close();
  // Stop when the output's pipe closes, as after `| head`.
  process.stdout.on('error', stop);
  process.once('SIGINT', stop);
  process.once('SIGTERM', stop);
}

main(process.argv.slice(2)).catch((error: unknown) => {
  const message = error instanceof Error ? error.message : String(error);
  const isPortInUse = error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';
  process.stderr.write(
    `${message}${isPortInUse ? '. Choose another --port or --storage-port.' : ''}\nSee: npx audience-activation --help\n`,
  );
  process.exitCode = 1;
});
