import { explainActivation, type Method, operations } from '../../index.ts';
import { readData } from '../input/body-input.ts';
import type { QueryFlag } from '../input/flag-values.ts';
import { parseId } from '../input/ids.ts';
import { DATASETS } from '../input/resource-table.ts';
import type { Context } from '../terminal/context.ts';
import { EXIT, type ExitCode, usageError } from '../terminal/exit-codes.ts';
import { jsonText } from '../terminal/terminal.ts';
import { type ListFlags, printList } from './listing.ts';
import { afterCreate } from './resource-commands.ts';

/**
 * `explain`: prints whether an audience can be activated, and what blocks or limits the activation. For a blocked
 * activation, returns an error exit code, so that `explain 5 && activations create …` does not activate it.
 */
export async function explain(
  { output, flags, signal, connect }: Context,
  { identifier }: { readonly identifier?: string },
  [id = '']: readonly string[],
): Promise<ExitCode> {
  const audience = parseId(id, 'audience');
  const client = await connect();
  const verdict = explainActivation(await client.audiences.get(audience, { signal }), { identifier });
  const { allowed, blockers, notices } = verdict;
  output.note(`Activation of audience ${id} is ${allowed ? 'allowed' : 'blocked'}.`);
  const rows = [
    ...blockers.map((remark) => ({ effect: 'blocks', ...remark })),
    ...notices.map((remark) => ({ effect: 'limits', ...remark })),
  ];
  if (output.isJson || flags.fields) await output.object(verdict);
  else await output.list(rows, ['effect', 'code', 'message'], { isWrapped: true });
  return allowed ? EXIT.done : EXIT.refused;
}

interface RequestFlags {
  readonly data?: string;
  readonly query?: QueryFlag;
  readonly idempotencyKey?: string;
}

/**
 * `request`: calls any path of the service, and prints the payload as JSON. With `--json`, prints each row of a list on
 * one line.
 */
export async function request(
  context: Context,
  { data, query, idempotencyKey }: RequestFlags,
  [method = '', path = '']: readonly string[],
): Promise<ExitCode> {
  const { output, flags, signal, connect, connectMcp } = context;
  const verb = METHODS.find((name) => name === method.toUpperCase());
  if (!verb) throw usageError(`The method must be one of ${METHODS.join(', ')}, not "${method}".`);
  if (verb === 'GET' && idempotencyKey !== undefined)
    throw usageError('--idempotency-key is for create requests: omit it for a GET.');
  const [pathname = '', search] = path.split(/\?(.*)/s);
  const body = data === undefined ? undefined : await readData(data, context);
  const isMcp = verb === operations['mcp.send'].method && pathname === operations['mcp.send'].path;
  const client = await (isMcp ? connectMcp() : connect());
  const parameters = { ...queryOf(search), ...query };
  const requesting = client.request(verb, pathname, { body, query: parameters, idempotencyKey, signal });
  const result = await requesting.catch((error: unknown) => {
    throw afterCreate(error, requesting, signal);
  });
  const source = { isDone: verb !== 'GET' };
  const isFormatted = output.isJson || flags.fields !== undefined;
  if (isFormatted && Array.isArray(result)) await output.list(result, undefined, source);
  else if (isFormatted && typeof result === 'object' && result !== null) await output.object(result, source);
  else await output.line(jsonText(result, output.stdout.isTTY ? 2 : 0));
  return EXIT.done;
}

/** Returns the parameters of a query string. A repeated name maps to an array of all its values. */
function queryOf(search: string | undefined): Record<string, string | string[]> {
  const params = new URLSearchParams(search);
  return Object.fromEntries(
    [...new Set(params.keys())].map((name) => {
      const values = params.getAll(name);
      return [name, values.length > 1 ? values : (values[0] ?? '')];
    }),
  );
}

const METHODS: readonly Method[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

export async function reference(
  { output, signal, connect }: Context,
  flags: ListFlags,
  [dataset = '', name = '']: readonly string[],
): Promise<ExitCode> {
  const client = await connect();
  const group = DATASETS.find((name) => name === dataset);
  if (!group) throw usageError(`The dataset must be one of ${DATASETS.join(', ')}, not "${dataset}".`);
  const rows = client.reference.list(group, name, flags.query ?? {}, { signal });
  await printList(output, rows, flags, { noun: 'rows' });
  return EXIT.done;
}

/** `usage`: prints the usage report of a month. */
export async function usage(
  { output, signal, connect }: Context,
  { month }: { readonly month?: string },
): Promise<ExitCode> {
  const client = await connect();
  await output.object(await client.usage.get({ yearmonth: month }, { signal }), { operation: 'usage.get' });
  return EXIT.done;
}

/** `budget`: prints the build budget of the organization. */
export async function budget({ output, signal, connect }: Context): Promise<ExitCode> {
  const client = await connect();
  const { hour, day, retry_after_seconds } = await client.usage.buildBudget({ signal });
  const left = ({ limit, used }: { limit: number; used: number }) => ({ used, limit, left: Math.max(0, limit - used) });
  await output.object({ hour: left(hour), day: left(day), retry_after_seconds: retry_after_seconds ?? null });
  return EXIT.done;
}

const WEBHOOK_COLUMNS: readonly string[] = ['id', 'name', 'url', 'is_active', 'events'];

/** `webhooks list`: prints the webhook endpoints of the organization. */
export async function listWebhooks({ output, signal, connect }: Context): Promise<ExitCode> {
  const client = await connect();
  const count = await output.list(await client.webhooks.list({ signal }), WEBHOOK_COLUMNS, {
    operation: 'webhooks.list',
  });
  if (count === 0) output.note("There are no webhook endpoints. Register one in the service's console.");
  return EXIT.done;
}
