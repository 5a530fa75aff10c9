import { type ExitCode, exitCodeOf } from './exit-codes.ts';
import type { Output } from './output.ts';
import { paint, printable } from './terminal.ts';

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
  'created',
  'upload',
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
  if (isJson) stderr.write(`${JSON.stringify(errorRecord(error))}\n`);
  else for (const line of linesOf(error)) stderr.write(`${line.replace(/^error:/, paint('red', 'error:', stderr))}\n`);
  return exitCodeOf(error);
}

/** Returns the lines that people read: what happened, each invalid field, and how to repeat a create. */
function linesOf(error: unknown): string[] {
  const { errors, outcome, idempotencyKey, resume, retryAt, created, requestId } = readFields(error);
  const lines = messageOf(error).split('\n').map(printable);
  const details = Object.entries(Object(errors)).map(
    ([field, messages]) => `  ${field}: ${[messages].flat().join(' ')}`,
  );
  if (retryAt instanceof Date) details.push(`  Try again at ${retryAt.toISOString()}.`);
  if (typeof idempotencyKey === 'string' && outcome === 'unknown') {
    details.push(`  To repeat it: the same command with --idempotency-key ${idempotencyKey}`);
  }
  if (typeof resume === 'string') details.push(`  To wait again: ${resume}`);
  const { kind, id } = readFields(created);
  if (kind !== undefined) details.push(`  It was created: audience-activation wait ${String(kind)}:${String(id)}`);
  if (typeof requestId === 'string') details.push(`  Request id: ${requestId}`);
  return [`error: ${lines.join('\n')}`, ...details.map(printable)];
}

const readFields = (value: unknown): Readonly<Record<string, unknown>> => Object(value);

/** Returns the message of an error, with that of its cause if the system has failed. */
function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
