import { type ExitCode, exitCodeOf } from './exit-codes.ts';
import type { Output } from './output.ts';
import { jsonText, paint, printable, shellWord } from './terminal.ts';

/** Fields of errors that `--json` prints besides `code` and `message`. None of them holds a token or a body. */
const FIELDS: readonly string[] = [
  'outcome',
  'idempotencyKey',
  'resume',
  'retryAt',
  'retryAfter',
  'status',
  'errors',
  'reason',
  'kind',
  'id',
  'operation',
  'requestId',
  'attempts',
  'path',
];

/** Returns an error as `--json` prints it. */
export function errorRecord(error: unknown): Record<string, unknown> {
  const { code = 'unexpected' }: { readonly code?: unknown } = Object(error);
  const fields = FIELDS.flatMap((name) => {
    const value: unknown = Object(error)[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return { code, message: messageOf(error), exitCode: exitCodeOf(error), ...Object.fromEntries(fields) };
}

/** Prints an error to standard error, and returns its exit code. */
export function reportError(error: unknown, output: Output): ExitCode {
  const { stderr, isJson } = output;
  if (isJson) stderr.write(`${jsonText(errorRecord(error))}\n`);
  else for (const line of linesOf(error)) stderr.write(`${line.replace(/^error:/, paint('red', 'error:', stderr))}\n`);
  return exitCodeOf(error);
}

/** Returns the lines that people read: what happened, each invalid field, and how to continue. */
function linesOf(error: unknown): string[] {
  const { errors, outcome, idempotencyKey, resume, retryAt, requestId }: Readonly<Record<string, unknown>> =
    Object(error);
  const message = messageOf(error).split('\n').map(printable).join('\n');
  const details = Object.entries(Object(errors)).map(([field, messages]) => `${field}: ${[messages].flat().join(' ')}`);
  if (retryAt instanceof Date) details.push(`Try again at ${retryAt.toISOString()}.`);
  if (typeof resume === 'string') details.push(`To continue: ${resume}`);
  else if (typeof idempotencyKey === 'string' && outcome === 'unknown')
    details.push(`To repeat it: the same command with --idempotency-key ${shellWord(idempotencyKey)}`);
  if (typeof requestId === 'string') details.push(`Request id: ${requestId}`);
  return [`error: ${message}`, ...details.map((line) => `  ${printable(line)}`)];
}

/** Words of the client in its messages, as those of the command. */
const WORDS: readonly (readonly [string | RegExp, string])[] = [
  ['set `allowInsecure: true`', 'pass --allow-insecure'],
  ['raise `timeout`', 'raise --timeout'],
  [/ (\d+)000 ms\b/, ' $1 s'],
  [/with `(\w+?)s\.wait\((\d+)\)`/, 'with `audience-activation wait $1:$2`'],
  [
    'retry with the same `idempotencyKey` (valid for 24 hours) and body, and it happens once',
    'repeated under its key within 24 hours, it happens once',
  ],
];

/** Returns the message of an error, in the words of the command. */
export const messageOf = (error: unknown): string =>
  WORDS.reduce((text, [from, to]) => text.replace(from, to), error instanceof Error ? error.message : String(error));
