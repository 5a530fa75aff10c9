import type { AnyApiError } from './api-errors.ts';
import type { ConnectionError, ResponseError } from './call-errors.ts';
import type { FileError } from './file-errors.ts';
import type { AnyJobError, AnyWaitTimeoutError, JobKind, ResultsNotReadyError } from './job-errors.ts';
import type { OAuthError } from './oauth-errors.ts';
import type { WebhookVerificationError } from './webhook-errors.ts';

/** Every literal `code` an error of this package carries, and what it means. */
export const ERROR_CODES = {
  'configuration-invalid': 'An option is missing or wrong; nothing was sent.',
  'client-closed': 'The client was closed before or during the call.',
  'token-unavailable': 'The token source failed, so the request could not be authorized.',
  'callback-failed': 'A limiter or an override given to the client threw.',
  'connection-failed': 'No complete answer arrived.',
  'attempt-timeout': 'An attempt took longer than `timeout`.',
  'idle-timeout': 'A transfer to or from storage moved no byte for `idleTimeout`.',
  'deadline-exceeded': 'The whole call took longer than `deadline`.',
  'sign-in-timeout': 'Nobody signed in by the browser within `timeout`.',
  'api-error': 'The service answered with an error status that has no class of its own.',
  'authentication-failed': '401: the token or the credentials were refused.',
  'permission-denied': '403: the token may not do this.',
  'not-found': '404: no such id for this account.',
  'not-acceptable': '406: `Accept: application/json` did not reach the service.',
  'validation-failed': '422, or found before sending (`local`): `errors` names the fields.',
  conflict: '409: the idempotency key is in use, by another body or by a create still in flight.',
  'rate-limited': '429: a rate bucket is empty until `retryAt`.',
  'build-budget-exhausted': '429: the build budget of the organization is spent until `retryAt`.',
  'server-error': '5xx: the service failed.',
  'not-an-envelope':
    'A success whose body is no envelope (of MCP: no JSON-RPC response): a proxy answered, or the body was cut.',
  'response-invalid': 'A success whose `data` is not the documented shape.',
  'response-too-large': 'A success whose body is larger than `maxResponseBytes`.',
  'redirect-refused': 'The service or a proxy redirected; redirects are never followed.',
  'job-failed': 'The job ended with a 4xx status (cohorts: 5).',
  'job-needs-info': 'The job ended at 107; the reason is visible in the console only.',
  'job-cancelled': 'The lookalike was cancelled (400).',
  'wait-timeout': 'The wait ended, the job goes on.',
  'results-not-ready': 'The activation has not completed: its results are readable at 104.',
  'file-unreadable': 'Data to upload, or a file of tokens, could not be read to the end.',
  'file-changed': 'A file changed, shrank, grew or was removed while it was uploaded.',
  'size-mismatch': 'A stream held more or fewer bytes than its `size`.',
  'disk-full': 'There is no room on the disk for what is to be written.',
  'file-unwritable': 'A download or a file of tokens could not be written, or its lock could not be had.',
  'webhook-invalid': 'The delivery is not a genuine one; `reason` says why.',
  'oauth-failed': 'The authorization server refused; `error` names the reason.',
  'reauthorization-required': 'The user has to sign in again.',
} as const;

/** A literal error code; see {@link ERROR_CODES}. */
export type ErrorCode = keyof typeof ERROR_CODES;

/**
 * What became of a create that failed:
 * - `not-sent`: nothing reached the service; safe to repeat, with any key;
 * - `refused`: the service refused it; nothing was created by this call;
 * - `unknown`: it may have been created; repeat with the error's `idempotencyKey` to find out;
 * - `done`: it was created; the answer could not be read as documented, or the wait of `createAndWait` failed.
 */
export type CreateOutcome = 'not-sent' | 'unknown' | 'refused' | 'done';

/** What a `createAndWait` has created, for `client.waits.wait`. */
export interface Created {
  readonly kind: JobKind;
  readonly id: number;
}

/** What every failed create tells besides the error itself. */
export interface CreateDetails {
  readonly idempotencyKey?: string;
  readonly outcome?: CreateOutcome;
  readonly created?: Created;
}

/**
 * What can be done with an upload's slot after a failure:
 * - `usable`: sending again, to the same reservation, is safe while its 15 minutes last;
 * - `unusable`: it has expired, or storage refuses it; reserve another;
 * - `unknown`: storage answered something unexpected; reserve another to be sure.
 */
export type SlotState = 'usable' | 'unusable' | 'unknown';

/** A file that storage has taken, to be claimed by a create. */
export interface Upload {
  /** What a create claims, as `upload_reference`. */
  readonly reference: string;
  /** The claim has to reach the service before this moment. */
  readonly claimBefore: Date;
}

/** What a failed upload or import tells besides the error itself. */
export interface UploadDetails {
  readonly slot?: SlotState;
  readonly upload?: Upload;
}

/** Details that every error may carry. */
export interface Details extends CreateDetails, UploadDetails {
  readonly cause?: unknown;
}

/** Errors with fields of their own, as `code` tells them apart. */
type SpecificError =
  | ConfigurationError
  | ConnectionError
  | AnyApiError
  | ResponseError
  | AnyJobError
  | AnyWaitTimeoutError
  | ResultsNotReadyError
  | FileError
  | OAuthError
  | WebhookVerificationError;

/** Any error of this package; its `code` determines the class, and so the fields. */
export type AnyAudienceError =
  | SpecificError
  | (AudienceError & { readonly code: Exclude<ErrorCode, SpecificError['code']> });

const BRAND = Symbol.for('audience-activation.error');

function lineage(errorClass: unknown): readonly string[] {
  const names: string[] = [];
  for (let at = errorClass; typeof at === 'function' && 'className' in at; at = Object.getPrototypeOf(at)) {
    names.push(String(at.className));
  }
  return names;
}

/** Base of every error this package throws. Its own properties are exactly the details of its class. */
export class AudienceError extends Error {
  /** The class's name, safe from minifiers. */
  static readonly className: string = 'AudienceError';
  /** Literal code, one of {@link ERROR_CODES}. */
  declare readonly code: ErrorCode;
  /** On a failed create: the key it was sent under. */
  declare readonly idempotencyKey?: string;
  /** On a failed create: what became of it. */
  declare readonly outcome?: CreateOutcome;
  /** On a `createAndWait` that failed in its wait for another reason than the job, its `timeout` for instance: what was created, and goes on. */
  declare readonly created?: Created;
  /** On a failed upload: what can be done with its slot. */
  declare readonly slot?: SlotState;
  /** On an import that failed after its upload: the file is there and can still be claimed. */
  declare readonly upload?: Upload;

  constructor(message: string, details: Details & { readonly code: ErrorCode }) {
    const { cause, ...own } = details;
    super(message, cause === undefined ? undefined : { cause });
    Object.assign(this, own);
    Object.defineProperty(this, 'name', { value: new.target.className, configurable: true, writable: true });
    Object.defineProperty(this, BRAND, { value: lineage(new.target) });
    // Only now does the stack's first line carry the right name.
    Error.captureStackTrace?.(this, new.target);
  }

  /**
   * Checks for an error of this class or a subclass, including one from another copy of the package. Works without
   * its class, as a callback of `filter` or `find`.
   *
   * @example
   * if (RateLimitError.isInstance(error)) console.log(error.retryAt);
   * const missing = errors.filter(NotFoundError.isInstance);
   */
  static get isInstance(): (value: unknown) => value is AnyAudienceError {
    return (value): value is AnyAudienceError =>
      value instanceof Error && BRAND in value && Array.isArray(value[BRAND]) && value[BRAND].includes(this.className);
  }

  /** Name, message and the class's own properties. */
  toJSON(): Record<string, unknown> {
    return Object.fromEntries([['name', this.name], ['message', this.message], ...Object.entries(this)]);
  }
}

/** Returns a text with a full stop at its end. */
function asSentence(text: string): string {
  const trimmed = text.trimEnd();
  return /[.!?]$/.test(trimmed.slice(-1)) ? trimmed : `${trimmed}.`;
}

/** The same error told with more details: one that several calls share is never changed in place. */
export function withDetails<E extends AudienceError>(
  error: E,
  details: CreateDetails & UploadDetails,
  advice: string,
): E {
  const message = advice === '' ? error.message : `${asSentence(error.message)} ${advice}`;
  // A subclass of the user's may have a constructor of another kind.
  const ErrorClass = Object.hasOwn(error.constructor, 'className') ? error.constructor : AudienceError;
  return Reflect.construct(ErrorClass, [message, { ...error, cause: error.cause, ...details }]);
}

/** A wrong or missing option, found before any request. The message names the option and the fix. */
export class ConfigurationError extends AudienceError {
  static override readonly className: string = 'ConfigurationError';
  declare static readonly isInstance: (value: unknown) => value is ConfigurationError;
  declare readonly code: 'configuration-invalid';
  constructor(message: string, details: Details = {}) {
    super(message, { code: 'configuration-invalid', ...details });
  }
}

/** Refuses what is not right. */
export function check(right: boolean, message: string): void {
  if (!right) throw new ConfigurationError(message);
}
