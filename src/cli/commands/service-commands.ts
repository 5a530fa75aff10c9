import { explainActivation, type Method, operations } from '../../index.ts';
import { readData } from '../body-input.ts';
import type { Context } from '../context.ts';
import { EXIT, type ExitCode, usageError } from '../exit-codes.ts';
import type { QueryFlag } from '../flag-values.ts';
import { type ListFlags, printList } from '../listing.ts';
import { DATASETS } from '../resource-table.ts';

/** `explain`: says whether an audience can be activated, and what blocks or limits it. */
export async function explain(
  { output, signal, connect }: Context,
  { identifier }: { readonly identifier?: string },
  [id = '']: readonly string[],
): Promise<ExitCode> {
  if (!/^\d+$/.test(id)) throw usageError(`An id must be a number, not "${id}".`);
  const client = await connect();
  const { allowed, blockers, notices } = explainActivation(await client.audiences.get(Number(id), { signal }), {
    identifier,
  });
  if (output.isJson) {
    await output.json({ allowed, blockers, notices });
    return EXIT.done;
  }
  output.note(`Activation of audience ${id} is ${allowed ? 'allowed' : 'blocked'}.`);
  const rows = [
    ...blockers.map((remark) => ({ effect: 'blocks', ...remark })),
    ...notices.map((remark) => ({ effect: 'limits', ...remark })),
  ];
  await output.list(rows, ['effect', 'code', 'message']);
  return EXIT.done;
}

interface RequestFlags {
  readonly data?: string;
  readonly query?: QueryFlag;
  readonly idempotencyKey?: string;
}

/** `request`: calls any path of the service, and prints the payload of the response as JSON. */
export async function request(
  { output, signal, connect }: Context,
  { data, query, idempotencyKey }: RequestFlags,
  [method = '', path = '']: readonly string[],
): Promise<ExitCode> {
  const verb = METHODS.find((name) => name === method.toUpperCase());
  if (!verb) throw usageError(`The method must be one of ${METHODS.join(', ')}, not "${method}".`);
  const body = data === undefined ? undefined : await readData(data, signal);
  const isMcp = path === operations['mcp.send'].path;
  const client = await connect(isMcp ? 'mcp' : 'general');
  const result = await client.request(verb, path, { body, query, idempotencyKey, signal });
  if (typeof result === 'object' && result !== null && output.isJson) await output.json(result);
  else await output.line(JSON.stringify(result, null, output.stdout.isTTY ? 2 : 0) ?? 'null');
  return EXIT.done;
}

const METHODS: readonly Method[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

/** `reference`: prints a reference table. */
export async function reference(
  { output, signal, connect }: Context,
  flags: ListFlags,
  [dataset = '', name = '']: readonly string[],
): Promise<ExitCode> {
  const client = await connect();
  const group = DATASETS.find((one) => one === dataset);
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
  await output.object(await client.usage.get({ yearmonth: month }, { signal }));
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

/** `webhooks list`: prints the webhook endpoints of the company. */
export async function listWebhooks({ output, signal, connect }: Context): Promise<ExitCode> {
  const client = await connect();
  const count = await output.list(await client.webhooks.list({ signal }), ['id', 'name', 'url', 'is_active', 'events']);
  if (count === 0) output.note('No webhook endpoints. They are registered in the console.');
  return EXIT.done;
}
