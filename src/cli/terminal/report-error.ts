import { messageOf } from './error-texts.ts';
import { COMMAND_ERRORS, type ExitCode, exitCodeOf, isQuietEnd } from './exit-codes.ts';
import type { Output } from './output.ts';
import { jsonText, printable, shellWord } from './terminal.ts';

/** Fields of errors that `--json` prints besides `code` and `message`. None of them contains a token or a body. */
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
  'help',
];

/**
 * Returns an error in the form that `--json` prints.
 *
 * @param isRow True if the error is about a row of `run`.
 */
export function errorRecord(thrown: unknown, output?: Output, isRow = false): Record<string, unknown> {
  const error = ownError(thrown);
  const { code = 'unexpected' }: { readonly code?: unknown } = Object(error);
  const fields = FIELDS.flatMap((name) => {
    const value: unknown = Object(error)[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  const tokenFrom = isTokenRefused(error) && output?.token ? { tokenFrom: output.token.source } : {};
  return {
    code,
    message: messageOf(error, isRow),
    exitCode: exitCodeOf(thrown),
    ...Object.fromEntries(fields),
    ...tokenFrom,
  };
}

/**
 * Prints an error to standard error, and returns its exit code. Prints nothing after a dry run, or if the reader has
 * closed the output.
 *
 * @param subject Subject of the error. If set, the error takes one line.
 * @param isRow True if the error is about a row of `run`.
 */
export function reportError(error: unknown, output: Output, subject?: string, isRow = false): ExitCode {
  const { stderr, isJson } = output;
  if (isQuietEnd(error)) return exitCodeOf(error);
  if (isJson) {
    const record = errorRecord(error, output, isRow);
    stderr.write(`${jsonText(subject === undefined ? record : { subject, ...record })}\n`);
  } else {
    const [message = '', ...details] = errorTexts(error, output, isRow);
    const label = output.paint('red', 'error:', stderr);
    if (subject !== undefined) stderr.write(`${label} ${printable([`${subject}:`, message, ...details].join(' '))}\n`);
    else stderr.write(`${[`${label} ${message}`, ...details.map((line) => `  ${printable(line)}`)].join('\n')}\n`);
  }
  return exitCodeOf(error);
}

/**
 * Returns the command's own error if the client has wrapped it, such as the error of a token command. Otherwise returns
 * the error itself.
 */
function ownError(error: unknown): unknown {
  const { code, cause }: { readonly code?: unknown; readonly cause?: unknown } = Object(error);
  return code === 'token-unavailable' && Object.hasOwn(COMMAND_ERRORS, Object(cause).code) ? cause : error;
}

const isTokenRefused = (error: unknown): boolean =>
  Object(error).code === 'authentication-failed' && Object(error).reason === 'token';

/** Returns the lines of an error: what happened, each invalid field, and how to continue. */
export function errorTexts(thrown: unknown, { token }: Output, isRow = false): string[] {
  const error = ownError(thrown);
  const { errors, outcome, idempotencyKey, resume, retryAt, requestId, help }: Readonly<Record<string, unknown>> =
    Object(error);
  const fields = Object.entries(Object(errors)).map(([field, messages]) => `${field}: ${[messages].flat().join(' ')}`);
  const message = messageOf(error, isRow).split('\n').map(printable).join('\n');
  const details = [...fields];
  if (isTokenRefused(error) && token) details.push(`Source of the token: ${token.source}. ${token.advice}`);
  if (retryAt instanceof Date && !message.includes(retryAt.toISOString()))
    details.push(`Try again at ${retryAt.toISOString()}.`);
  if (typeof resume === 'string') details.push(`To continue: ${resume}`);
  else if (typeof idempotencyKey === 'string' && outcome === 'unknown' && !isRow)
    details.push(`To repeat the request, run the same command with --idempotency-key ${shellWord(idempotencyKey)}`);
  if (typeof requestId === 'string') details.push(`Request id: ${requestId}`);
  if (typeof help === 'string') details.push(`Help: ${help}`);
  return [message, ...details];
}
