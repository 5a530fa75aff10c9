import { type AudienceClient, AuthenticationError, JobError, type JobKind, type WaitTarget } from '../../index.ts';
import { sleep } from '../../util/abort.ts';
import { labelOf, parseTarget } from '../input/ids.ts';
import type { Context } from '../terminal/context.ts';
import { messageOf } from '../terminal/error-texts.ts';
import { EXIT, type ExitCode, interruption, usageError } from '../terminal/exit-codes.ts';
import { reportError } from '../terminal/report-error.ts';
import { webhookSecret } from './local-secret.ts';
import { createEvent, createSender, type DeliveryAttempt, receiverUrl } from './webhook-sender.ts';

interface ListenFlags {
  readonly forwardTo?: string;
  readonly jobs?: readonly string[];
  readonly all?: boolean;
  readonly secret?: string;
  readonly printSecret?: boolean;
  readonly companyId: number;
  readonly retrySpeed: number;
  readonly rate: number;
}

/** Namespaces whose jobs have webhook events (specification, "Events"). */
const NAMESPACES = { audience: 'audiences', activation: 'activations', cohort: 'cohorts' } as const;

/** Namespaces with which to read a resource, for each kind of job with events. */
const SOURCES = { ...NAMESPACES, lookalike: 'lookalikes' } as const;

type EventKind = keyof typeof SOURCES;

/**
 * Milliseconds between two searches of `--all` for new jobs. Each search sends three requests: 18 of the 120 read
 * requests per minute.
 */
const DISCOVERY_MS = 10_000;

/**
 * Number of rows that `--all` reads from each list, more than the number of jobs that can start between two searches.
 */
const DISCOVERED_ROWS = 100;

/** `listen`: watches jobs, and sends an event to a local receiver when a job ends, like the service. */
export async function listen(context: Context, flags: ListenFlags): Promise<ExitCode> {
  const { output, signal } = context;
  const { forwardTo, jobs = [], all } = flags;
  const secret = await webhookSecret(context.env, flags.secret);
  if (flags.printSecret) {
    await output.line(secret);
    return EXIT.done;
  }
  const url = receiverUrl(forwardTo);
  if (jobs.length > 0 === (all === true)) throw usageError('Pass either --jobs audience:12,cohort:7 or --all.');
  const targets = jobs.map((text) => withEvents(parseTarget(text, 'audience')));
  const client = await context.connect();
  const onAttempt = (attempt: DeliveryAttempt): void => void output.list([rowOf(attempt)], COLUMNS, { isDone: true });
  const { retrySpeed: speed, rate } = flags;
  const deliver = createSender({ url, secret, speed, rate, signal, onAttempt });
  /** Waits for a job and sends the event of its end. Returns the exit code of this job. */
  const forward = async (target: EventTarget): Promise<ExitCode> => {
    try {
      const type = typeOf(target.kind, await hasCompleted(client, target, signal));
      const event = createEvent(type, await readRaw(context, client, target), flags.companyId);
      const delivered = await deliver(event);
      return delivered ? EXIT.done : EXIT.refused;
    } catch (error) {
      if (signal.aborted) throw error;
      return reportError(error, output);
    }
  };
  if (!all) {
    output.note(`Watching ${targets.map(labelOf).join(' ')}, and sending events to ${url}.`);
    const codes = await Promise.all(targets.map(forward)).catch((error: unknown) => {
      throw signal.aborted ? interruption(signal, { late: EXIT.waitTimedOut }) : error;
    });
    return codes.find((code) => code !== EXIT.done) ?? EXIT.done;
  }
  const ready = (): void =>
    output.note(`Ready: watching running and new jobs, and sending events to ${url}. Press Ctrl-C to stop.`);
  const report = (error: unknown): void => output.log('warning', messageOf(error));
  // After Ctrl-C, waiting for the jobs rejects. Do not report this.
  const start = (target: EventTarget): void => void forward(target).catch(() => {});
  await discover(client, { signal, ready, start, report }).catch((error) => {
    if (!signal.aborted) throw error;
  });
  return EXIT.done;
}

/** A job whose end causes a webhook event. */
type EventTarget = WaitTarget<EventKind>;

function withEvents({ kind, id }: WaitTarget): EventTarget {
  if (kind === 'estimate') throw usageError('Estimates have no webhook events.');
  return { kind, id };
}

interface Discovery {
  readonly signal: AbortSignal;
  /** Called after the first search. */
  ready(): void;
  /** Called for each running job of the first search, and for each new job of a later search. */
  start(target: EventTarget): void;
  report(error: unknown): void;
}

/** Searches for running and new jobs until the signal aborts, or until the service refuses the token. */
async function discover(client: AudienceClient, { signal, ready, start, report }: Discovery): Promise<never> {
  const seen = new Set<string>();
  const scan = async (kind: keyof typeof NAMESPACES, isFirst: boolean): Promise<void> => {
    const { items } = await client[NAMESPACES[kind]].list({ per_page: DISCOVERED_ROWS }, { signal });
    for (const resource of items) {
      const target = { kind, id: resource.id };
      if (seen.has(labelOf(target))) continue;
      seen.add(labelOf(target));
      if (!isFirst || client.jobState(kind, resource) === 'running') start(target);
    }
  };
  const kinds = ['audience', 'activation', 'cohort'] as const;
  await Promise.all(kinds.map((kind) => scan(kind, true)));
  ready();
  for (;;) {
    await sleep(DISCOVERY_MS, signal);
    try {
      await Promise.all(kinds.map((kind) => scan(kind, false)));
    } catch (error) {
      if (signal.aborted || AuthenticationError.isInstance(error)) throw error;
      report(error);
    }
  }
}

/** Waits until a job completes or fails. Returns whether the job has completed. */
async function hasCompleted(client: AudienceClient, target: EventTarget, signal: AbortSignal): Promise<boolean> {
  try {
    await client.waits.wait(target, { signal, timeout: Number.POSITIVE_INFINITY });
    return true;
  } catch (error) {
    if (JobError.isInstance(error)) return false;
    throw error;
  }
}

/** Reads a resource without converting it, because events contain the resource as the service sends it. */
async function readRaw(
  { account, signal }: Context,
  client: AudienceClient,
  { kind, id }: EventTarget,
): Promise<unknown> {
  const { contract } = await account();
  const { data: place = 'data' } = contract?.operations?.[`${SOURCES[kind]}.get`] ?? {};
  const { envelope } = await client[SOURCES[kind]].get(id, { signal }).withResponse();
  const data = place.split('.').reduce((at: unknown, key) => Object(at)[key], envelope);
  return Array.isArray(data) ? data[0] : data;
}

const typeOf = (kind: JobKind, isCompleted: boolean): string =>
  `${kind === 'lookalike' ? 'audience' : kind}.${isCompleted ? 'completed' : 'failed'}`;

const COLUMNS: readonly string[] = ['time', 'type', 'resource', 'attempt', 'result', 'next'];

function rowOf({ event, attempt, result, delivered, retryIn }: DeliveryAttempt): object {
  const { id }: { readonly id?: unknown } = Object(event.data);
  const next =
    retryIn === undefined ? (delivered ? 'delivered' : 'failed') : `again in ${Math.ceil(retryIn / 1_000)} s`;
  return { time: new Date().toISOString(), type: event.type, resource: id, attempt, result, next, event };
}
