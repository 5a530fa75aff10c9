import { once } from 'node:events';
import {
  createSandbox,
  type Delivery,
  type FaultRule,
  type LogEntry,
  type Sandbox,
  type SandboxAccount,
  type SandboxOptions,
} from '../../sandbox/index.ts';
import { announce, operate, requireSandbox, type SandboxChoice } from '../account/running-sandboxes.ts';
import { readContract } from '../input/contract-file.ts';
import { parseTarget } from '../input/ids.ts';
import type { Context } from '../terminal/context.ts';
import { messageOf } from '../terminal/error-texts.ts';
import { CommandError, EXIT, type ExitCode, usageError } from '../terminal/exit-codes.ts';
import type { Output } from '../terminal/output.ts';
import { printable } from '../terminal/terminal.ts';
import { readStateFile, type StateFile, StateWriter, writeStateFile } from './state-file.ts';

interface ServerFlags {
  readonly port?: number;
  readonly storagePort?: number;
  readonly consolePort?: number;
  /** `false` if the command must not serve the console. */
  readonly console: boolean;
  readonly host?: string;
  readonly name?: string;
  readonly speed?: number;
  readonly seed?: number;
  /** Duration of jobs in milliseconds. */
  readonly duration?: number;
  readonly outcome?: number;
  readonly buildsPerHour?: number;
  readonly webhook?: string;
  readonly email: string;
  readonly password: string;
  /** Path of the state file. */
  readonly state?: string;
}

/** `sandbox`: runs the service on this machine until Ctrl-C, and prints a line for each request and delivery. */
export async function runSandbox(
  context: Context,
  flags: ServerFlags,
  [subcommand]: readonly string[],
): Promise<ExitCode> {
  const { output, signal, env } = context;
  if (subcommand !== undefined)
    throw usageError(`unknown command '${subcommand}': use status, advance, finish or fault`);
  const { host, name, email, password, webhook, port, storagePort, consolePort, console } = flags;
  const saved = flags.state === undefined ? undefined : await readStateFile(flags.state);
  const contract = await readContract(context);
  let onChange = (): void => {};
  const sandbox = checked(() =>
    createSandbox({ ...optionsOf(flags, output), contract, state: saved, onChange: () => onChange() }),
  );
  const existing = sandbox.accounts.list().find((account) => account.email === email);
  const account = existing ?? checked(() => sandbox.accounts.create({ email, password }));
  const endpoint =
    webhook === undefined || webhook === saved?.webhook?.url
      ? saved?.webhook
      : { url: webhook, ...checked(() => sandbox.webhooks.create({ account, name: 'Command line', url: webhook })) };
  // Issue the token before opening the console, because the console records from the current state.
  const token = checked(() => tokenOf(account, saved?.token));
  const server = sandbox.listen({ port, storagePort, host, name, console, consolePort });
  const { url, storageUrl, consoleUrl } = await server.catch(refuse);
  const webhookOf = endpoint && { url: endpoint.url, secret: endpoint.secret };
  const save = (): StateFile => ({ ...sandbox.save(), token, ...(webhookOf && { webhook: webhookOf }) });
  const warn = (message: string): void => output.log('warning', message);
  const writer = flags.state === undefined ? undefined : new StateWriter(flags.state, save, warn);
  const unfindable = (error: unknown): undefined => {
    warn(`Other commands cannot find this sandbox: ${messageOf(error)}`);
    return undefined;
  };
  // Report an unwritable file now, before anything changes the sandbox.
  if (flags.state !== undefined)
    await writeStateFile(flags.state, save()).catch((error) => refuseState(error, sandbox, flags.state));
  onChange = () => writer?.changed();
  const remove =
    consoleUrl === undefined ? undefined : await announce(env, { url, consoleUrl, token, contract }).catch(unfindable);
  const webhookSecret = endpoint?.secret;
  const survives = flags.state === undefined ? 'in memory, until Ctrl-C' : `kept in ${flags.state}`;
  if (output.isJson) {
    await output.json({
      url,
      storageUrl,
      consoleUrl,
      email,
      password: account.password,
      token,
      webhook: endpoint?.url,
      webhookSecret,
      state: flags.state,
    });
  } else {
    await output.line(`API      ${url}`);
    await output.line(`Storage  ${storageUrl}`);
    if (consoleUrl !== undefined) await output.line(`Console  ${consoleUrl}`);
    await output.line(printable(`Account  ${email}  password: ${account.password}`));
    await output.line(`Token    ${token}`);
    if (endpoint) await output.line(printable(`Webhook  ${endpoint.url}  secret: ${webhookSecret}`));
    await output.line(printable(`State    ${survives}`));
    await output.line(`export AUDIENCE_BASE_URL=${url} AUDIENCE_TOKEN='${token}'`);
    await output.line('Ready. Press Ctrl-C to stop.');
  }
  if (!signal.aborted) await once(signal, 'abort');
  await remove?.();
  const written = (await writer?.write()) ?? true;
  await sandbox.close();
  return written ? EXIT.done : EXIT.unexpected;
}

/** Closes the sandbox if its state cannot be written. */
async function refuseState(cause: unknown, sandbox: Sandbox, path = ''): Promise<never> {
  await sandbox.close();
  throw new CommandError(`The state cannot be written to ${path}: ${messageOf(cause)}`, { code: 'usage', cause });
}

/**
 * Returns the API token that the command printed in an earlier run, if the token is still valid; otherwise a new token.
 */
function tokenOf(account: SandboxAccount, saved: string | undefined): string {
  const isValid = account.tokens().some(({ id }) => saved?.startsWith(`${id}|`));
  return saved !== undefined && isValid ? saved : account.token('api');
}

/** Runs a function, and converts its error to the error of a flag. */
function checked<T>(create: () => T): T {
  try {
    return create();
  } catch (error) {
    return refuse(error);
  }
}

/** Flags whose names differ from the options of the sandbox. */
const FLAG_OF_OPTION: Readonly<Record<string, string>> = { 'clock.speed': 'speed', url: 'webhook' };

/** Converts an error of the sandbox to the error of a flag or of a port, and throws it. */
function refuse(cause: unknown): never {
  const { code }: { readonly code?: unknown } = Object(cause);
  const advice = code === 'EADDRINUSE' ? '. Choose another --port, --storage-port or --console-port.' : '';
  if (code !== undefined)
    throw new CommandError(`${messageOf(cause)}${advice}`, { code: 'sandbox-not-started', cause });
  // The message begins with the option of the sandbox.
  throw usageError(messageOf(cause).replace(/^`([\w.]+)`/, (_, option) => `--${FLAG_OF_OPTION[option] ?? option}`));
}

function optionsOf({ speed, seed, duration, outcome, buildsPerHour }: ServerFlags, output: Output): SandboxOptions {
  const print = (entry: object, line: string): void => {
    void (output.isJson ? output.json(entry) : output.line(printable(line)));
  };
  return {
    clock: speed === undefined ? 'real' : { speed },
    seed,
    jobs: { duration, outcome },
    ...(buildsPerHour !== undefined && { limits: { buildsPerHour } }),
    signatureClock: 'machine',
    onRequest: (entry) => print(entry, requestLine(entry)),
    onDelivery: (delivery) => print(delivery, deliveryLine(delivery)),
  };
}

const toSeconds = (iso: string): string => `${iso.slice(0, 19)}Z`;

function requestLine({ at, method, path, status, account, replayed, fault, why }: LogEntry): string {
  const reason = fault === undefined ? why : `fault: ${fault}`;
  const notes = [account, replayed && 'replayed', reason].filter(Boolean);
  return `${toSeconds(at)} ${method.padEnd(4)} ${path} ${status || '---'} ${notes.join(', ')}`.trimEnd();
}

function deliveryLine({ at, type, endpointId, attempt, status }: Delivery): string {
  const time = toSeconds(new Date(at).toISOString());
  return `${time} SEND ${type} to endpoint ${endpointId}, attempt ${attempt}: ${status ?? 'no response'}`;
}

/** Calls an endpoint of the running sandbox, and prints the response. */
async function operateRunning(
  { output, signal, env }: Context,
  choice: SandboxChoice,
  ...[method, path, body]: [method: 'GET' | 'POST' | 'DELETE', path: string, body?: object]
): Promise<ExitCode> {
  const { typescript, notice, ...result } = Object(
    await operate(await requireSandbox(env, choice), method, path, body, signal),
  );
  if (typeof notice === 'string') output.note(printable(notice));
  await output.object(result, { isDone: method !== 'GET' });
  return EXIT.done;
}

/** `sandbox status`: prints the clock, the number of requests and the running jobs. */
export const status = (context: Context, flags: SandboxChoice): Promise<ExitCode> =>
  operateRunning(context, flags, 'GET', '/api/state');

/** `sandbox advance`: moves the clock forward and runs everything that becomes due. */
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

/** Fields of a fault that `sandbox fault list` prints. */
const FAULT_COLUMNS = ['on', 'status', 'cut', 'malformed', 'delay', 'inFlight', 'rate'] as const;

/** Fields of a fault, which are flags of `sandbox fault add`. */
const FAULT_FIELDS = [...FAULT_COLUMNS, 'retryAfter', 'times'] as const;

/** `sandbox fault add`: adds a fault rule. */
export const addFault = (context: Context, flags: FaultRule & SandboxChoice): Promise<ExitCode> => {
  const fault = Object.fromEntries(FAULT_FIELDS.map((name) => [name, flags[name]]));
  return operateRunning(context, flags, 'POST', '/api/faults', fault);
};

/** `sandbox fault list`: prints the faults that can still apply. */
export async function listFaults({ output, signal, env }: Context, flags: SandboxChoice): Promise<ExitCode> {
  const faults = await operate(await requireSandbox(env, flags), 'GET', '/api/faults', undefined, signal);
  const rows: readonly object[] = Array.isArray(faults) ? faults : [];
  const count = await output.list(rows, ['id', ...FAULT_COLUMNS, 'remaining'], { isDone: true });
  if (count === 0) output.note('No faults.');
  return EXIT.done;
}

/** `sandbox fault clear`: removes all faults. */
export const clearFaults = (context: Context, flags: SandboxChoice): Promise<ExitCode> =>
  operateRunning(context, flags, 'DELETE', '/api/faults');
