import { type ApiPromise, type AudienceClient, AuthenticationError, type WaitTarget } from '../../index.ts';
import { readBody } from '../input/body-input.ts';
import { parseId } from '../input/ids.ts';
import { type ListedName, type ResourceName, rowOf } from '../input/resource-table.ts';
import { concludeWaits, waitForJobs } from '../jobs/job-waits.ts';
import type { Context, Handler } from '../terminal/context.ts';
import { EXIT, type ExitCode, interruption, isDryRun, usageError, worstOf } from '../terminal/exit-codes.ts';
import { errorRecord, reportError } from '../terminal/report-error.ts';
import { type ListFlags, printList } from './listing.ts';

interface CreateFlags extends Readonly<Record<string, unknown>> {
  readonly data?: string;
  readonly idempotencyKey?: string;
  readonly wait?: boolean;
  readonly timeout?: number;
}

/** `<resource> create`: creates a resource, and prints it. With `--wait`, prints it after its job has ended. */
export const create =
  (name: ResourceName): Handler<CreateFlags> =>
  async (context, flags) => {
    const { output, signal } = context;
    const row = rowOf(name);
    if (flags.timeout !== undefined && !flags.wait) throw usageError('--timeout requires --wait.');
    const body = await readBody(row.body, flags, context);
    await output.checkFields(undefined, { operation: `${name}.create` });
    const client = await context.connect();
    // The service checks the body, whose type is unknown here.
    const creating: ApiPromise<{ readonly id: number }> = client[name].create(body as never, {
      idempotencyKey: flags.idempotencyKey,
      signal,
    });
    const created = await creating.catch((error: unknown) => {
      throw afterCreate(error, creating, signal);
    });
    if (flags.wait && row.kind)
      return waitForCreated(context, client, { kind: row.kind, id: created.id }, flags.timeout);
    await output.object(created, { operation: `${name}.create`, isDone: true });
    return EXIT.done;
  };

/**
 * Returns the error of a failed create request. If the command was interrupted while the outcome of the request
 * was unknown, adds that the request may have taken effect.
 */
export function afterCreate(
  error: unknown,
  { outcome, idempotencyKey }: Pick<ApiPromise<unknown>, 'outcome' | 'idempotencyKey'>,
  signal: AbortSignal,
): unknown {
  if (outcome !== 'unknown' || !signal.aborted || error !== signal.reason) return error;
  const advice = 'The outcome of the request is unknown: the resource may have been created.';
  return interruption(signal, { late: EXIT.outcomeUnknown, advice, outcome, idempotencyKey, cause: error });
}

/** Waits for the job of a created resource, and prints the latest state of the resource, even if the wait fails. */
export async function waitForCreated(
  context: Context,
  client: AudienceClient,
  target: WaitTarget,
  timeout: number | undefined,
): Promise<ExitCode> {
  const { output } = context;
  output.note(`Created ${target.kind} ${target.id}.`);
  const options = { timeout, until: 'all', printsChanges: false } as const;
  const views = await waitForJobs(client, [target], context, options);
  await output.object(views[0]?.resource ?? target, { operation: `${target.kind}s.create`, isDone: true });
  return concludeWaits(views, context, options);
}

export const get =
  (name: ResourceName): Handler =>
  async (context, _, [id = '']) => {
    const client = await context.connect();
    const resource = await client[name].get(parseId(id, rowOf(name).singular), { signal: context.signal });
    await context.output.object(resource, { operation: `${name}.get` });
    return EXIT.done;
  };

/** `<resource> list`: prints resources, in the order of the service. */
export const list =
  (name: ListedName): Handler<ListFlags> =>
  async ({ connect, output, signal }, flags) => {
    const client = await connect();
    const rows = client[name].list(flags.query ?? {}, { signal });
    await printList(output, rows, flags, { noun: name, columns: rowOf(name).columns, operation: `${name}.list` });
    return EXIT.done;
  };

export const remove =
  (name: ListedName): Handler =>
  async (context, _, args) =>
    forEachId(
      context,
      args.map((id) => parseId(id, rowOf(name).singular)),
      'deleted',
      (client, id) => client[name].delete(id, { signal: context.signal }),
    );

export const cancel: Handler = async (context, _, args) =>
  forEachId(
    context,
    args.map((id) => parseId(id, 'lookalike')),
    'cancel requested',
    (client, id) => client.lookalikes.cancel(id, { signal: context.signal }),
  );

/**
 * Runs an operation for each resource, one after another, and prints each id with the result or the error. Returns the
 * most important exit code.
 */
async function forEachId(
  { output, signal, connect }: Context,
  ids: readonly number[],
  done: string,
  act: (client: AudienceClient, id: number) => PromiseLike<void>,
): Promise<ExitCode> {
  if (output.isJson) await output.checkFields({ id: 0, done, error: {} }, {});
  const client = await connect();
  const codes: ExitCode[] = [];
  for (const id of ids) {
    try {
      await act(client, id);
      if (output.isJson) await output.json({ id, done });
      else output.note(`${id}: ${done}.`);
    } catch (error) {
      // The remaining requests would also fail.
      if (signal.aborted || AuthenticationError.isInstance(error)) throw error;
      if (output.isJson && !isDryRun(error)) await output.json({ id, error: errorRecord(error, output) });
      codes.push(reportError(error, output, String(id)));
    }
  }
  return worstOf(codes);
}
