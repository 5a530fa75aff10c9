import type { AudienceClient, JobKind } from '../../index.ts';
import { readBody } from '../body-input.ts';
import type { Context, Handler } from '../context.ts';
import { CommandError, EXIT, type ExitCode, usageError } from '../exit-codes.ts';
import { concludeWaits, waitForJobs } from '../job-waits.ts';
import { type ListFlags, printList } from '../listing.ts';
import { type ListedName, RESOURCES, type ResourceName } from '../resource-table.ts';

interface CreateFlags extends Readonly<Record<string, unknown>> {
  readonly data?: string;
  readonly idempotencyKey?: string;
  readonly wait?: boolean;
  readonly timeout?: number;
}

/** A resource that a create has returned. */
interface Created {
  readonly id: number;
}

/** `<resource> create`: creates a resource, and prints it; with `--wait`, when its job has ended. */
export const create =
  (name: ResourceName): Handler<CreateFlags> =>
  async (context, flags) => {
    const { output, signal } = context;
    const row = RESOURCES[name];
    if (flags.timeout !== undefined && !flags.wait) throw usageError('--timeout requires --wait.');
    const body = await readBody(row.body, flags, signal);
    const client = await context.connect();
    const creating = client[name].create(body, { idempotencyKey: flags.idempotencyKey, signal });
    const created = await creating.catch((error: unknown) => {
      throw signal.aborted ? interruptedCreate(signal, creating.idempotencyKey) : error;
    });
    if (!flags.wait || !('kind' in row)) {
      await output.object(created);
      return EXIT.done;
    }
    output.note(`Created ${row.singular} ${created.id}.`);
    return waitForCreated(context, client, row.kind, created, flags.timeout);
  };

/** Waits for the job of a created resource, and prints the resource as last seen, however the wait ends. */
export async function waitForCreated(
  { output, signal }: Context,
  client: AudienceClient,
  kind: JobKind,
  created: Created,
  timeout: number | undefined,
): Promise<ExitCode> {
  const options = { timeout, until: 'all', signal, printsChanges: false } as const;
  const views = await waitForJobs(client, [{ kind, id: created.id }], output, options);
  await output.object(views[0]?.resource ?? created);
  return concludeWaits(views, output, options);
}

/** Returns the error of a create that was interrupted before its response: it may have taken effect. */
function interruptedCreate(signal: AbortSignal, idempotencyKey: string | undefined): CommandError {
  const details = { exitCode: EXIT.interrupted, outcome: 'unknown', idempotencyKey, cause: signal.reason } as const;
  return new CommandError('Interrupted before the response arrived.', details);
}

/** `<resource> get`: prints a resource. */
export const get =
  (name: ResourceName): Handler =>
  async (context, _, [id = '']) => {
    const client = await context.connect();
    await context.output.object(await client[name].get(parseId(id), { signal: context.signal }));
    return EXIT.done;
  };

/** `<resource> list`: prints resources, newest first. */
export const list =
  (name: ListedName): Handler<ListFlags> =>
  async ({ connect, output, signal }, flags) => {
    const client = await connect();
    const rows = client[name].list(flags.query ?? {}, { signal });
    await printList(output, rows, flags, { noun: name, columns: RESOURCES[name].columns });
    return EXIT.done;
  };

/** `<resource> delete`: deletes resources, one after the other. */
export const remove =
  (name: ListedName): Handler =>
  (context, _, args) =>
    forEachId(context, args, 'Deleted', (client, id) => client[name].delete(id, { signal: context.signal }));

/** `lookalikes cancel`: cancels running lookalikes. */
export const cancel: Handler = (context, _, args) =>
  forEachId(context, args, 'Asked to cancel', (client, id) => client.lookalikes.cancel(id, { signal: context.signal }));

async function forEachId(
  context: Context,
  args: readonly string[],
  done: string,
  act: (client: AudienceClient, id: number) => PromiseLike<void>,
): Promise<ExitCode> {
  const ids = args.map(parseId);
  const client = await context.connect();
  for (const id of ids) {
    await act(client, id);
    context.output.note(`${done} ${id}.`);
  }
  return EXIT.done;
}

function parseId(text: string): number {
  if (/^\d+$/.test(text) && Number.isSafeInteger(Number(text))) return Number(text);
  throw usageError(`An id must be a number, not "${text}".`);
}
