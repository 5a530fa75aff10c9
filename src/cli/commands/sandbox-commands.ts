import { once } from 'node:events';
import {
  createSandbox,
  type Delivery,
  type FaultRule,
  type LogEntry,
  type SandboxOptions,
} from '../../sandbox/index.ts';
import type { Context } from '../context.ts';
import { CommandError, EXIT, type ExitCode, usageError } from '../exit-codes.ts';
import { parseTarget } from '../ids.ts';
import type { Output } from '../output.ts';
import { messageOf } from '../report-error.ts';
import { announce, findSandbox, operate, type RunningSandbox, type SandboxChoice } from '../running-sandboxes.ts';
import { printable } from '../terminal.ts';

interface ServerFlags {
  readonly port?: number;
  readonly storagePort?: number;
  readonly host?: string;
  readonly name?: string;
  readonly speed?: number;
  readonly seed?: number;
  /** Milliseconds. */
  readonly duration?: number;
  readonly outcome?: number;
  readonly webhook?: string;
  readonly email: string;
  readonly password: string;
}

/** `sandbox`: runs the service on this machine until Ctrl-C, and prints a line for each request and delivery. */
export async function runSandbox(
  { output, signal }: Context,
  flags: ServerFlags,
  [subcommand]: readonly string[],
): Promise<ExitCode> {
  if (subcommand !== undefined)
    throw usageError(`unknown command '${subcommand}': it must be status, advance, finish, or fault`);
  const { host, name, email, password, webhook, port, storagePort } = flags;
  const sandbox = checked(() => createSandbox(optionsOf(flags, output)));
  const account = checked(() => sandbox.accounts.create({ email, password }));
  const endpoint =
    webhook === undefined
      ? undefined
      : checked(() => sandbox.webhooks.create({ account, name: 'Command line', url: webhook }));
  const server = sandbox.listen({ port, storagePort, host, name, console: true });
  const { url, storageUrl, consoleUrl = '' } = await server.catch(refuse);
  const token = account.token('api');
  const remove = await announce({ url, consoleUrl, token }).catch((error: unknown) => {
    output.log('warning', `Other commands cannot find this sandbox: ${messageOf(error)}`);
  });
  const webhookSecret = endpoint?.secret;
  if (output.isJson) {
    await output.json({ url, storageUrl, consoleUrl, email, password, token, webhook, webhookSecret });
  } else {
    await output.line(`API      ${url}`);
    await output.line(`Storage  ${storageUrl}`);
    await output.line(printable(`Account  ${email}  password: ${password}`));
    await output.line(`Token    ${token}`);
    if (endpoint) await output.line(printable(`Webhook  ${webhook}  secret: ${webhookSecret}`));
    await output.line('Ready. Press Ctrl-C to stop.');
  }
  if (!signal.aborted) await once(signal, 'abort');
  await remove?.();
  await sandbox.close();
  return EXIT.done;
}

/** Returns the result of a function; its error is one of a flag. */
function checked<T>(create: () => T): T {
  try {
    return create();
  } catch (error) {
    return refuse(error);
  }
}

/** Throws the error of a flag, or of a port that cannot be listened on. */
function refuse(cause: unknown): never {
  const { code, message }: { readonly code?: unknown; readonly message?: unknown } = Object(cause);
  const advice = code === 'EADDRINUSE' ? '. Choose another --port or --storage-port.' : '';
  const exitCode = code === undefined ? EXIT.usage : EXIT.unexpected;
  throw new CommandError(`${message}${advice}`, { exitCode, cause });
}

function optionsOf({ speed, seed, duration, outcome }: ServerFlags, output: Output): SandboxOptions {
  const print = (entry: object, line: string): void =>
    void (output.isJson ? output.json(entry) : output.line(printable(line)));
  return {
    clock: speed === undefined ? 'real' : { speed },
    seed,
    jobs: { duration, outcome },
    signatureClock: 'machine',
    onRequest: (entry) => print(entry, requestLine(entry)),
    onDelivery: (delivery) => print(delivery, deliveryLine(delivery)),
  };
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

/** Returns the sandbox that `sandbox advance` and its siblings operate. */
async function requireSandbox(choice: SandboxChoice): Promise<RunningSandbox> {
  const sandbox = await findSandbox(choice);
  if (sandbox) return sandbox;
  const which = choice.baseUrl ?? (choice.port === undefined ? undefined : `port ${choice.port}`);
  const message = which === undefined ? 'No sandbox is running' : `No sandbox is running at ${which}`;
  throw new CommandError(`${message}: start one with \`audience-activation sandbox\`.`, { exitCode: EXIT.refused });
}

/** Calls an endpoint of the running sandbox, and prints what it responds. */
async function operateRunning(
  { output, signal }: Context,
  choice: SandboxChoice,
  ...[method, path, body]: [method: 'GET' | 'POST' | 'DELETE', path: string, body?: object]
): Promise<ExitCode> {
  await output.object(Object(await operate(await requireSandbox(choice), method, path, body, signal)));
  return EXIT.done;
}

/** `sandbox status`: prints the clock, the number of requests and the running jobs. */
export const status = (context: Context, flags: SandboxChoice): Promise<ExitCode> =>
  operateRunning(context, flags, 'GET', '/api/state');

/** `sandbox advance`: moves the clock forward; everything due happens. */
export const advance = (context: Context, flags: SandboxChoice, [ms]: readonly string[]): Promise<ExitCode> =>
  operateRunning(context, flags, 'POST', '/api/clock/advance', { ms: Number(ms) });

/** `sandbox finish`: ends a running job with a status. */
export async function finish(
  context: Context,
  { reason, ...choice }: SandboxChoice & { readonly reason?: string },
  [job = '', statusId]: readonly string[],
): Promise<ExitCode> {
  const { kind, id } = parseTarget(job, 'audience');
  return operateRunning(context, choice, 'POST', '/api/jobs/finish', { kind, id, status: Number(statusId), reason });
}

/** `sandbox fault add`: makes requests fail. */
export const addFault = (
  context: Context,
  {
    on,
    rate,
    times,
    delay,
    inFlight,
    status: httpStatus,
    retryAfter,
    cut,
    malformed,
    ...choice
  }: FaultRule & SandboxChoice,
): Promise<ExitCode> =>
  operateRunning(context, choice, 'POST', '/api/faults', {
    on,
    rate,
    times,
    delay,
    inFlight,
    status: httpStatus,
    retryAfter,
    cut,
    malformed,
  });

/** `sandbox fault list`: prints the faults that can still strike. */
export async function listFaults({ output, signal }: Context, flags: SandboxChoice): Promise<ExitCode> {
  const faults = await operate(await requireSandbox(flags), 'GET', '/api/faults', undefined, signal);
  const rows: readonly object[] = Array.isArray(faults) ? faults : [];
  const count = await output.list(rows, ['on', 'status', 'cut', 'malformed', 'delay', 'inFlight', 'rate', 'times']);
  if (count === 0) output.note('No faults.');
  return EXIT.done;
}

/** `sandbox fault clear`: removes all faults. */
export const clearFaults = (context: Context, flags: SandboxChoice): Promise<ExitCode> =>
  operateRunning(context, flags, 'DELETE', '/api/faults');
