import type { ErrorCode } from './error-codes.ts';
import type {
  CreateDetails,
  Created,
  CreateOutcome,
  Details,
  ErrorFields,
  SlotState,
  Upload,
  UploadDetails,
} from './error-details.ts';

/** Any error of this package; its `code` determines its fields. */
export type AnyAudienceError = {
  [Code in ErrorCode]: AudienceError & {
    /** Determines the fields. */
    readonly code: Code;
  } & (Code extends keyof ErrorFields ? ErrorFields[Code] : unknown);
}[ErrorCode];

const BRAND = Symbol.for('audience-activation.error');

function lineage(errorClass: unknown): readonly string[] {
  const names: string[] = [];
  for (let at = errorClass; typeof at === 'function' && 'className' in at; at = Object.getPrototypeOf(at)) {
    names.push(String(at.className));
  }
  return names;
}

/** Base of this package's errors. The enumerable properties of an error are the details that its class documents. */
export class AudienceError extends Error {
  /** The name of the class, which minifiers do not change. */
  static readonly className: string = 'AudienceError';
  /** Literal code, one of {@link ERROR_CODES}. */
  declare readonly code: ErrorCode;
  /** Idempotency key of a failed create request. */
  declare readonly idempotencyKey?: string;
  /** Outcome of a failed create request. */
  declare readonly outcome?: CreateOutcome;
  /** The created resource, set when `createAndWait` fails while waiting, e.g. on timeout. Its job keeps running. */
  declare readonly created?: Created;
  /** State of the slot of a failed upload. */
  declare readonly slot?: SlotState;
  /** The uploaded file, set when an import fails after its upload: a create request can still claim the file. */
  declare readonly upload?: Upload;

  constructor(message: string, details: Details & { readonly code: ErrorCode }) {
    const { cause, ...own } = details;
    super(message, cause === undefined ? undefined : { cause });
    Object.assign(this, own);
    Object.defineProperty(this, 'name', { value: new.target.className, configurable: true, writable: true });
    Object.defineProperty(this, BRAND, { value: lineage(new.target) });
    // Capture the stack again, because its first line must contain the name that was set above.
    Error.captureStackTrace?.(this, new.target);
  }

  /**
   * Returns whether a value is an error of this class or a subclass, also if another copy of the package created it.
   * Can be passed as a callback, for example to `filter`.
   *
   * @example
   * if (RateLimitError.isInstance(error)) console.log(error.retryAt);
   * const missing = errors.filter(NotFoundError.isInstance);
   */
  static get isInstance(): (value: unknown) => value is AnyAudienceError {
    return (value): value is AnyAudienceError =>
      value instanceof Error && BRAND in value && Array.isArray(value[BRAND]) && value[BRAND].includes(this.className);
  }

  /** Returns the name, the message and all enumerable properties. */
  toJSON(): Record<string, unknown> {
    return Object.fromEntries([['name', this.name], ['message', this.message], ...Object.entries(this)]);
  }
}

/** Adds a full stop to a message that does not end with one, a question mark or an exclamation mark. */
function asSentence(text: string): string {
  const trimmed = text.trimEnd();
  return /[.!?]$/.test(trimmed.slice(-1)) ? trimmed : `${trimmed}.`;
}

/**
 * Returns a copy of an error with more details and with `advice` added to its message. The error itself is not changed,
 * because several calls may share it.
 */
export function withDetails<E extends AudienceError>(
  error: E,
  details: CreateDetails & UploadDetails,
  advice: string,
): E {
  const message = advice === '' ? error.message : `${asSentence(error.message)} ${advice}`;
  // A user's subclass may have a constructor with other parameters.
  const ErrorClass = Object.hasOwn(error.constructor, 'className') ? error.constructor : AudienceError;
  return Reflect.construct(ErrorClass, [message, { ...error, cause: error.cause, ...details }]);
}

/** An option or argument is invalid or missing. The message names it and the fix. */
export class ConfigurationError extends AudienceError {
  static override readonly className: string = 'ConfigurationError';
  declare static readonly isInstance: (value: unknown) => value is ConfigurationError;
  declare readonly code: 'configuration-invalid';
  constructor(message: string, details: Details = {}) {
    super(message, { code: 'configuration-invalid', ...details });
  }
}

/** Throws a {@link ConfigurationError} unless a condition holds. */
export function check(condition: boolean, message: string): void {
  if (!condition) throw new ConfigurationError(message);
}
