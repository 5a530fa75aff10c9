import type { ErrorCode } from '../../index.ts';

export const EXIT = {
  done: 0,
  unexpected: 1,
  usage: 2,
  jobFailed: 3,
  jobNeedsInfo: 4,
  jobCancelled: 5,
  waitTimedOut: 6,
  authentication: 7,
  refused: 8,
  limited: 9,
  outcomeUnknown: 10,
  differs: 11,
  cutShort: 12,
  journalTaken: 13,
  interrupted: 130,
  terminated: 143,
} as const;

/** One of the codes of {@link EXIT}. */
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** Exit codes by error code of the client. Codes that are not listed are unexpected errors. */
const BY_ERROR: Readonly<Partial<Record<ErrorCode, ExitCode>>> = {
  'configuration-invalid': EXIT.usage,
  'token-unavailable': EXIT.authentication,
  'sign-in-timeout': EXIT.authentication,
  'api-error': EXIT.refused,
  'authentication-failed': EXIT.authentication,
  'permission-denied': EXIT.refused,
  'not-found': EXIT.refused,
  'not-acceptable': EXIT.refused,
  'validation-failed': EXIT.refused,
  conflict: EXIT.refused,
  'rate-limited': EXIT.limited,
  'build-budget-exhausted': EXIT.limited,
  'job-failed': EXIT.jobFailed,
  'job-needs-info': EXIT.jobNeedsInfo,
  'job-cancelled': EXIT.jobCancelled,
  'wait-timeout': EXIT.waitTimedOut,
  'results-not-ready': EXIT.refused,
  'account-changed': EXIT.authentication,
  'body-changed': EXIT.refused,
  'outcome-expired': EXIT.refused,
  'journal-invalid': EXIT.refused,
  'journal-locked': EXIT.journalTaken,
  'webhook-invalid': EXIT.refused,
  'oauth-failed': EXIT.authentication,
  'reauthorization-required': EXIT.authentication,
};

/** Exit codes of the command's own errors, by error code. */
export const COMMAND_ERRORS = {
  usage: EXIT.usage,
  'not-logged-in': EXIT.authentication,
  'token-of-other-address': EXIT.authentication,
  'token-command-failed': EXIT.authentication,
  'profile-not-found': EXIT.refused,
  'profile-invalid': EXIT.unexpected,
  'profile-unsafe': EXIT.authentication,
  'profile-unwritable': EXIT.unexpected,
  'config-folder-missing': EXIT.unexpected,
  'input-unreadable': EXIT.unexpected,
  'output-unwritable': EXIT.unexpected,
  // Closing the output with `| head` is not a failure.
  'output-closed': EXIT.done,
  'event-refused': EXIT.refused,
  'imported-before': EXIT.refused,
  'sandbox-not-found': EXIT.refused,
  'sandbox-refused': EXIT.refused,
  'sandbox-not-started': EXIT.unexpected,
  'deadline-exceeded': EXIT.unexpected,
  'waits-timed-out': EXIT.waitTimedOut,
  interrupted: EXIT.interrupted,
} as const satisfies Readonly<Record<string, ExitCode>>;

export type CommandErrorCode = keyof typeof COMMAND_ERRORS;

/** Fields of a {@link CommandError}. */
interface CommandErrorDetails {
  readonly code: CommandErrorCode;
  /** @default the exit code of `code` in {@link COMMAND_ERRORS} */
  readonly exitCode?: ExitCode;
  readonly outcome?: 'unknown';
  readonly idempotencyKey?: string | undefined;
  /** Command that continues the interrupted work. */
  readonly resume?: string | undefined;
  readonly cause?: unknown;
}

/** An error of the command itself, such as a wrong flag. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  readonly code: CommandErrorCode;
  readonly exitCode: ExitCode;
  readonly outcome: 'unknown' | undefined;
  readonly idempotencyKey: string | undefined;
  readonly resume: string | undefined;

  constructor(message: string, { code, exitCode, outcome, idempotencyKey, resume, cause }: CommandErrorDetails) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.exitCode = exitCode ?? COMMAND_ERRORS[code];
    this.outcome = outcome;
    this.idempotencyKey = idempotencyKey;
    this.resume = resume;
  }
}

/** Returns an error with the command that continues the interrupted work. */
export const withResume = (error: unknown, resume: string): unknown =>
  error instanceof Error ? Object.assign(error, { resume }) : error;

/**
 * Returns the error of a command that a signal, the deadline or a closed output has ended.
 *
 * @param reason Reason of the command's signal.
 */
export function interruption(
  { reason }: Pick<AbortSignal, 'reason'>,
  /** Exit codes after the deadline (`late`) and after the output was closed (`closed`). */
  {
    late,
    closed,
    advice = '',
    ...details
  }: Omit<CommandErrorDetails, 'code' | 'exitCode'> & { late: ExitCode; closed?: ExitCode; advice?: string },
): CommandError {
  const { code, message, exitCode }: CommandError = reason;
  const ends: Readonly<Partial<Record<CommandErrorCode, ExitCode>>> = {
    'deadline-exceeded': late,
    ...(closed !== undefined && { 'output-closed': closed }),
  };
  const end = ends[code] ?? exitCode;
  return new CommandError(`${message} ${advice}`.trimEnd(), { ...details, code, exitCode: end });
}

/** Adds the command that prints the help to a usage error. Returns other errors unchanged. */
export const withHelp = (error: unknown, help: string): unknown =>
  error instanceof CommandError && error.code === 'usage' ? Object.assign(error, { help }) : error;

/** Returns the error of a flag or an argument. */
export const usageError = (message: string): CommandError => new CommandError(message, { code: 'usage' });

/** Name of the error that ends a call after a dry run printed its request. The client's error has it as its cause. */
export const DRY_RUN = 'DryRun';

/** Returns whether a call ended because a dry run printed its request. */
export const isDryRun = (error: unknown): boolean =>
  error instanceof Error && (error.name === DRY_RUN || isDryRun(error.cause));

/** Returns whether to print no error: after a dry run, or if the reader has closed the output. */
export const isQuietEnd = (error: unknown): boolean =>
  isDryRun(error) || (error instanceof CommandError && error.code === 'output-closed' && error.exitCode === EXIT.done);

/** Exit codes of commands with several jobs or resources, the most important first. */
const PRECEDENCE: readonly ExitCode[] = [
  // A lost journal precedes an unknown outcome: a script that repeats the command without the journal would create
  // everything again.
  EXIT.journalTaken,
  EXIT.outcomeUnknown,
  EXIT.authentication,
  EXIT.refused,
  EXIT.limited,
  EXIT.usage,
  EXIT.unexpected,
  EXIT.jobFailed,
  EXIT.jobNeedsInfo,
  EXIT.jobCancelled,
  EXIT.waitTimedOut,
];

/** Returns the most important of several exit codes. */
export const worstOf = (codes: readonly ExitCode[]): ExitCode =>
  PRECEDENCE.find((code) => codes.includes(code)) ?? EXIT.done;

/** Returns the exit code of an error. The outcome of a create request takes precedence if it is unknown. */
export function exitCodeOf(error: unknown): ExitCode {
  if (error instanceof CommandError) return error.exitCode;
  if (isDryRun(error)) return EXIT.done;
  const { code, outcome, local }: Readonly<Record<string, unknown>> = Object(error);
  // After these errors, repeating the command does not help: the journal refuses to send the request.
  const needsPerson = code === 'outcome-expired' || code === 'body-changed' || code === 'account-changed';
  if (outcome === 'unknown' && !needsPerson) return EXIT.outcomeUnknown;
  // The client refused a body or a parameter, and sent nothing.
  if (local === true) return EXIT.usage;
  const entry = Object.entries(BY_ERROR).find(([name]) => name === code);
  return entry ? entry[1] : EXIT.unexpected;
}
