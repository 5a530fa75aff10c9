import { verifyWebhook, WebhookVerificationError } from '../../webhooks/index.ts';
import { readData, readStdinBytes } from '../input/body-input.ts';
import type { Context } from '../terminal/context.ts';
import { dryRunFetch, HIDDEN } from '../terminal/dry-run.ts';
import { CommandError, EXIT, type ExitCode, usageError } from '../terminal/exit-codes.ts';
import { webhookSecret } from './local-secret.ts';
import { EVENT_TYPES, sampleData } from './sample-events.ts';
import { createEvent, createSender, receiverUrl } from './webhook-sender.ts';

interface TriggerFlags {
  readonly forwardTo: string;
  readonly data?: string;
  readonly secret?: string;
  readonly companyId: number;
}

/** `trigger`: sends one signed event with example data. `--data` replaces fields of the data. */
export async function trigger(
  context: Context,
  flags: TriggerFlags,
  [type = '']: readonly string[],
): Promise<ExitCode> {
  const {
    output,
    signal,
    flags: { dryRun },
  } = context;
  const eventType = EVENT_TYPES.find((eventType) => eventType === type);
  if (!eventType) throw usageError(`The event must be one of ${EVENT_TYPES.join(', ')}, not "${type}".`);
  const url = receiverUrl(flags.forwardTo);
  const custom = flags.data === undefined ? {} : await readData(flags.data, context);
  const secret = dryRun ? HIDDEN : await webhookSecret(context.env, flags.secret);
  const event = createEvent(eventType, { ...sampleData(eventType), ...Object(custom) }, flags.companyId);
  let result: number | string = '';
  const deliver = createSender({
    url,
    secret,
    speed: 0,
    rate: 1,
    signal,
    fetch: dryRun ? dryRunFetch(output) : undefined,
    onAttempt: (attempt) => {
      result = attempt.result;
    },
  });
  const delivered = await deliver(event);
  await output.object({ id: event.id, type, result }, { isDone: true });
  if (delivered) return EXIT.done;
  throw new CommandError(`The receiver did not accept the event: ${result}.`, { code: 'event-refused' });
}

interface VerifyFlags {
  readonly secret?: readonly string[];
  readonly header: string;
  readonly tolerance?: number;
}

/** `webhooks verify`: checks the signature of a delivery on standard input, and prints why the check fails. */
export async function verify(context: Context, flags: VerifyFlags): Promise<ExitCode> {
  const { AUDIENCE_WEBHOOK_SECRET } = context.env;
  const secrets = flags.secret ?? (AUDIENCE_WEBHOOK_SECRET ? [AUDIENCE_WEBHOOK_SECRET] : []);
  if (secrets.length === 0) throw usageError('Pass --secret, or set AUDIENCE_WEBHOOK_SECRET.');
  if (context.stdin().isTTY) throw usageError('Pass the body on standard input: … < body.json');
  const body = await readStdinBytes(context);
  const header = flags.header.replace(/^[\w-]+:\s*/, '').trim();
  const tolerance = flags.tolerance === undefined ? undefined : flags.tolerance / 1_000;
  try {
    const { id, type, created_at } = await verifyWebhook(body, header, secrets, { tolerance });
    await context.output.object({ valid: true, id, type, created_at });
    return EXIT.done;
  } catch (error) {
    if (!WebhookVerificationError.isInstance(error) || error.reason !== 'no-match') throw error;
    const cause = await findCause(body, header, secrets);
    throw cause === undefined
      ? error
      : new WebhookVerificationError(error.message, { reason: 'no-match', advice: cause });
  }
}

/** Functions that undo common changes to a body or a secret. Such a change breaks the signature. */
const CHANGES: readonly {
  readonly cause: string;
  readonly undo: (body: string, secrets: readonly string[]) => readonly [string, readonly string[]];
}[] = [
  {
    cause: 'The signature matches without the newline at the end of the body, which an editor or `echo` adds.',
    undo: (body, secrets) => [body.replace(/\r?\n$/, ''), secrets],
  },
  {
    cause: 'The signature matches without the white space around the secret.',
    undo: (body, secrets) => [body, secrets.map((secret) => secret.trim())],
  },
  {
    cause:
      'The signature matches the JSON without white space: a framework or a proxy has parsed and reformatted the body.',
    undo: (body, secrets) => [compact(body), secrets],
  },
];

/** Returns the change that has probably broken a signature. */
async function findCause(body: Buffer, header: string, secrets: readonly string[]): Promise<string | undefined> {
  for (const { cause, undo } of CHANGES) {
    const [text, keys] = undo(body.toString('utf8'), secrets);
    const options = { tolerance: Number.MAX_SAFE_INTEGER };
    const matches = await verifyWebhook(text, header, keys, options).then(
      () => true,
      () => false,
    );
    if (matches) return cause;
  }
  return undefined;
}

function compact(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body));
  } catch {
    return body;
  }
}
