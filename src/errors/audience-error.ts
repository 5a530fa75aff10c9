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

/** Any error of this package. Its `code` determines its fields. */
export type AnyAudienceError = {
  [Code in ErrorCode]: AudienceError & {
    /** Error code, which determines the fields. */
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

/** Class of an error that another process has created. */
interface Origin {
  readonly name?: string;
  readonly classes?: readonly string[];
}

/** Fields of the JSON of an error that `from` reads. */
interface Revivable extends Origin {
  readonly code?: ErrorCode;
  readonly retryAt?: Date | string;
  readonly upload?: Upload;
  readonly headers?: Record<string, string>;
}

/** Base class of this package's errors. */
export class AudienceError extends Error {
  /** The name of the class, which minifiers do not change. */
  static readonly className: string = 'AudienceError';
  /** One of {@link ERROR_CODES}. */
  declare readonly code: ErrorCode;
  /** What to do. `message` says what happened; `String(error)` and, in V8, `stack` contain both. */
  declare readonly advice?: string;
  /** Idempotency key of a failed create request. */
  declare readonly idempotencyKey?: string;
  /** Outcome of a failed create request. */
  declare readonly outcome?: CreateOutcome;
  /**
   * The created resource, set when `createAndWait` fails while waiting, for example on timeout. Its job keeps running.
   */
  declare readonly created?: Created;
  /** State of the slot of a failed upload. */
  declare readonly slot?: SlotState;
  /** The uploaded file, set when an import fails after the upload and a create request can still claim the file. */
  declare readonly upload?: Upload;

  constructor(message: string, details: Details & { readonly code: ErrorCode }) {
    const { cause, advice, name, classes, ...own }: typeof details & Origin = details;
    super(message, cause === undefined ? undefined : { cause });
    Object.assign(this, own, advice && { advice });
    Object.defineProperty(this, 'name', { value: name ?? new.target.className, configurable: true, writable: true });
    Object.defineProperty(this, BRAND, { value: classes ?? lineage(new.target) });
    // Capture the stack again, because its first line must contain the name of the class and the advice.
    Error.captureStackTrace?.(this, new.target);
    const start = `${this.name}: ${message}`;
    const { stack }: { stack?: unknown } = this;
    // Skip this in engines whose stacks contain only frames, and if the user's `Error.prepareStackTrace` returns
    // another format.
    if (advice && typeof stack === 'string' && stack.startsWith(start))
      this.stack = `${this}${stack.slice(start.length)}`;
  }

  /**
   * Returns whether a value is an error of this class or a subclass, even if another copy of the package created it.
   * You can pass this function as a callback, for example to `filter`.
   *
   * @example
   * if (RateLimitError.isInstance(error)) console.log(error.retryAt);
   * const missing = errors.filter(NotFoundError.isInstance);
   */
  static get isInstance(): (value: unknown) => value is AnyAudienceError {
    return (value): value is AnyAudienceError =>
      value instanceof Error && BRAND in value && Array.isArray(value[BRAND]) && value[BRAND].includes(this.className);
  }

  /** Returns the name, the message and the advice. */
  override toString(): string {
    return `${this.name}: ${textOf(this)}`;
  }

  /**
   * Returns the error as a plain object that `structuredClone` and JSON preserve: the name, the message and all
   * enumerable properties, with `headers` as an object. `classes` contains the names of the error's class and its base
   * classes. The result does not contain the cause and the stack.
   */
  toJSON(): Record<string, unknown> {
    const fields = Object.entries(this).map(([name, value]) => [
      name,
      value instanceof Headers ? Object.fromEntries(value) : value,
    ]);
    return { name: this.name, message: this.message, ...Object.fromEntries(fields), classes: Reflect.get(this, BRAND) };
  }

  /**
   * Restores an error from the result of {@link AudienceError.toJSON}, for example from another process. The restored
   * error is an `AudienceError`: to test for its original class, use `isInstance` instead of `instanceof`.
   *
   * @throws {ConfigurationError} if `json` is not the result of `toJSON()`, or its parsed JSON.
   * @example
   * worker.postMessage(error.toJSON());
   * // In the other thread:
   * const error = AudienceError.from(message);
   * if (ConflictError.isInstance(error)) console.log(error.idempotencyKey);
   */
  static from(json: unknown): AnyAudienceError {
    try {
      return errorOf(Object(json));
    } catch (cause) {
      throw new ConfigurationError('`AudienceError.from` did not receive an error of this package.', {
        advice: 'Pass the result of `toJSON()`, as an object and not as text.',
        cause,
      });
    }
  }
}

function errorOf({ message, ...fields }: Readonly<Record<string, unknown>>): AnyAudienceError {
  const { name, code, classes, retryAt, upload, headers }: Revivable = fields;
  const isError = Array.isArray(classes) && [message, name, code, ...classes].every((text) => typeof text === 'string');
  if (!isError) throw new Error('the fields `message`, `name`, `code` and `classes` must contain strings');
  // A field must not replace a method.
  const safe = Object.fromEntries(Object.entries(fields).filter(([field]) => !(field in AudienceError.prototype)));
  const error = new AudienceError(String(message), {
    ...safe,
    ...({ name, code, classes } as Origin & { readonly code: ErrorCode }),
    ...(retryAt && { retryAt: new Date(retryAt) }),
    ...(upload && { upload: { ...upload, claimBefore: new Date(upload.claimBefore) } }),
    ...(headers && { headers: new Headers(headers) }),
  });
  // The error code determines the fields.
  return error as AnyAudienceError;
}

/** Returns the message followed by the advice. */
export function textOf({ message, advice }: Pick<AudienceError, 'message' | 'advice'>): string {
  if (!advice) return message;
  const happened = message.trimEnd();
  return `${/[.!?]$/.test(happened) ? happened : `${happened}.`} ${advice}`;
}

/**
 * Returns a copy of an error with additional details and advice. Does not change the error, because several calls may
 * share it.
 */
export function withDetails<E extends AudienceError>(
  error: E,
  details: CreateDetails & UploadDetails,
  advice: string,
): E {
  const all = error.advice && advice ? `${error.advice} ${advice}` : error.advice || advice;
  // A user's subclass may have a constructor with other parameters.
  const ErrorClass = Object.hasOwn(error.constructor, 'className') ? error.constructor : AudienceError;
  return Reflect.construct(ErrorClass, [error.message, { ...error, cause: error.cause, ...details, advice: all }]);
}

/** An option or argument is invalid or missing. The message names the option or argument. */
export class ConfigurationError extends AudienceError {
  static override readonly className: string = 'ConfigurationError';
  declare static readonly isInstance: (value: unknown) => value is ConfigurationError;
  declare readonly code: 'configuration-invalid';
  constructor(message: string, details: Details = {}) {
    super(message, { code: 'configuration-invalid', ...details });
  }
}

/** Throws a {@link ConfigurationError} unless a condition holds. */
export function check(condition: boolean, message: string, advice?: string): void {
  if (!condition) throw new ConfigurationError(message, { advice });
}
